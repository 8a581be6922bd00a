import { expect, test } from 'vitest'
import { UserError } from '../../runtime/index.js'
import type { GuardedTarget } from '../../targets/index.js'
import { keptOnTarget, onPortOf } from './kept-on-target.js'

/** A target that has files only. */
function withFiles() {
  const files = new Map<string, { text: string; mode: number | undefined }>()
  const target = {
    name: 'ssh://lab-7',
    scratch: '/run/ironstage',
    executor: {
      files: {
        read: (path: string) => {
          const file = files.get(path)
          return file
            ? Promise.resolve(Buffer.from(file.text))
            : Promise.reject(Object.assign(new Error('none'), { code: 'ENOENT' }))
        },
        write: (path: string, bytes: Uint8Array, { mode }: { mode?: number } = {}) => {
          files.set(path, { text: Buffer.from(bytes).toString(), mode })
          return Promise.resolve()
        },
      },
    },
  } as unknown as GuardedTarget
  const said: string[] = []
  return { target, files, said, logger: (_: unknown, message: string) => void said.push(message) }
}

const ignition = { ignition: { version: '3.4.0' }, passwd: { users: [{ name: 'core', passwordHash: 'canary' }] } }

test('what an agent keeps is found by the next of the same, in a file for root', async () => {
  const { target, files, logger } = withFiles()
  const first = await keptOnTarget(target, 'one', logger)
  expect([first.read(), first.port]).toEqual([undefined, 0])
  await first.keepPort(4711)
  await first.write({ token: 't', commands: [] })
  expect([...files].map(([path, { mode }]) => [path.replace(/[0-9a-f]{16}/, 'ID'), mode])).toEqual([
    ['/run/ironstage/agent-ID.json', 0o600],
  ])
  const next = await keptOnTarget(target, 'one', logger)
  expect([next.read(), next.port]).toEqual([{ token: 't', commands: [] }, 4711])
  expect((await keptOnTarget(target, 'another', logger)).read()).toBeUndefined()
})

test('a config is kept as long as its command runs, and not in what the command has answered', async () => {
  const { target, files, logger } = withFiles()
  const kept = await keptOnTarget(target, 'one', logger)
  const step = { interface: 'deploy', step: 'install_coreos', args: { ignition } }
  await kept.write({ commands: [{ id: 'a', params: { step }, result: null }] })
  expect((await keptOnTarget(target, 'one', logger)).read()).toEqual({
    commands: [{ id: 'a', params: { step }, result: null }],
  })
  await kept.write({ commands: [{ id: 'a', result: { deploy_result: null, deploy_step: step } }] })
  expect([...files.values()].map(({ text }) => text).join()).not.toContain('canary')
  expect((await keptOnTarget(target, 'one', logger)).read()).toMatchObject({
    commands: [{ result: { deploy_step: { interface: 'deploy', step: 'install_coreos' } } }],
  })
})

test('what cannot be read is as if it were not there, and said', async () => {
  const { target, files, said, logger } = withFiles()
  await (await keptOnTarget(target, 'one', logger)).write({})
  for (const file of files.values()) file.text = '{"port":'
  expect((await keptOnTarget(target, 'one', logger)).port).toBe(0)
  expect(said).toEqual([expect.stringMatching(/cannot be read as what an agent keeps: it begins anew/)])
})

test('the port is the same as before, as long as nobody else has it', async () => {
  const { target, said, logger } = withFiles()
  const taken = new Set<number>()
  const open = (port: number) =>
    taken.has(port)
      ? Promise.reject(new UserError('port-in-use', 'taken'))
      : Promise.resolve({ port: port === 0 ? 5000 + taken.size : port })
  const listening = async () => (await onPortOf(await keptOnTarget(target, 'one', logger), logger, open)).port
  expect([await listening(), await listening()]).toEqual([5000, 5000])
  taken.add(5000)
  expect([await listening(), await listening()]).toEqual([5001, 5001])
  expect(said).toEqual([expect.stringMatching(/port 5000, used before, is taken/)])
})
