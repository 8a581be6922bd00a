import { expect, test } from 'vitest'
import { UserError } from '../../../base/runtime/index.js'
import type { GuardedTarget } from '../../../targets/index.js'
import { agentStateOnTarget, listenOnSavedPort } from './agent-state.js'

/** A target with files only. */
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
  const logged: string[] = []
  return { target, files, logged, logger: (_: unknown, message: string) => void logged.push(message) }
}

const ignition = { ignition: { version: '3.4.0' }, passwd: { users: [{ name: 'core', passwordHash: 'canary' }] } }

test('the state of an agent is found by its next start, in a file for root', async () => {
  const { target, files, logger } = withFiles()
  const first = await agentStateOnTarget(target, 'one', logger)
  expect([first.read(), first.port]).toEqual([undefined, 0])
  await first.savePort(4711)
  await first.write({ token: 't', commands: [] })
  expect([...files].map(([path, { mode }]) => [path.replace(/[0-9a-f]{16}/, 'ID'), mode])).toEqual([
    ['/run/ironstage/agent-ID.json', 0o600],
  ])
  const next = await agentStateOnTarget(target, 'one', logger)
  expect([next.read(), next.port]).toEqual([{ token: 't', commands: [] }, 4711])
  expect((await agentStateOnTarget(target, 'another', logger)).read()).toBeUndefined()
})

test('a config is saved while its command runs, and masked in the result of the command', async () => {
  const { target, files, logger } = withFiles()
  const state = await agentStateOnTarget(target, 'one', logger)
  const step = { interface: 'deploy', step: 'install_coreos', args: { ignition } }
  await state.write({ commands: [{ id: 'a', params: { step }, result: null }] })
  expect((await agentStateOnTarget(target, 'one', logger)).read()).toEqual({
    commands: [{ id: 'a', params: { step }, result: null }],
  })
  await state.write({ commands: [{ id: 'a', result: { deploy_result: null, deploy_step: step } }] })
  expect([...files.values()].map(({ text }) => text).join()).not.toContain('canary')
  expect((await agentStateOnTarget(target, 'one', logger)).read()).toMatchObject({
    commands: [{ result: { deploy_step: { interface: 'deploy', step: 'install_coreos' } } }],
  })
})

test('damaged state is ignored with a warning', async () => {
  const { target, files, logged, logger } = withFiles()
  await (await agentStateOnTarget(target, 'one', logger)).write({})
  for (const file of files.values()) file.text = '{"port":'
  expect((await agentStateOnTarget(target, 'one', logger)).port).toBe(0)
  expect(logged).toEqual([expect.stringMatching(/is not the saved state of an agent: the agent starts without it/)])
})

test('the port is the same as before, unless it is taken', async () => {
  const { target, logged, logger } = withFiles()
  const taken = new Set<number>()
  const open = (port: number) =>
    taken.has(port)
      ? Promise.reject(new UserError('port-in-use', 'taken'))
      : Promise.resolve({ port: port === 0 ? 5000 + taken.size : port })
  const listening = async () =>
    (await listenOnSavedPort(await agentStateOnTarget(target, 'one', logger), logger, open)).port
  expect([await listening(), await listening()]).toEqual([5000, 5000])
  taken.add(5000)
  expect([await listening(), await listening()]).toEqual([5001, 5001])
  expect(logged).toEqual([expect.stringMatching(/port 5000, used before, is taken/)])
})
