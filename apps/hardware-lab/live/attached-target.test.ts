import { expect, test } from 'vitest'
import type { RealTarget } from '../../runs/index.js'
import type { TargetCommand } from '../../../targets/index.js'
import { attachedTarget } from './attached-target.js'

/** Ids that a process uses which runs a command, after another that has used `known`. */
async function idsOf(argv: TargetCommand['argv'], known: readonly string[] = []): Promise<string[]> {
  const ids: string[] = []
  const start = (command: TargetCommand) => Promise.resolve(void ids.push(command.id!))
  const on = { target: { name: 'a host', executor: { start } } } as unknown as RealTarget
  const attached = attachedTarget(on, { prefix: 'run-host-0-1', known, starting: () => Promise.resolve() })
  await attached.target.executor.start({ argv, effect: 'writes' })
  return ids
}

const installer = (url: string): TargetCommand['argv'] => [
  'coreos-installer',
  'install',
  '--image-url',
  url,
  '/dev/sda',
]
const token = 'abcdef0123456789abcdef01'

test('a resumed run attaches to a running installer although port and token of the image URL differ', async () => {
  const first = await idsOf(installer(`http://127.0.0.1:40001/${token}/image.raw`))
  const next = await idsOf(installer(`http://127.0.0.1:52002/${token.replace('a', 'b')}/image.raw`), first)
  expect(next).toEqual(first)
})

test('a program with another command line is not started beside one whose outcome is open', async () => {
  const first = await idsOf(installer('http://192.0.2.1:8000/one.raw'))
  await expect(idsOf(installer('http://192.0.2.1:8000/other.raw'), first)).rejects.toMatchObject({
    code: 'outcome-unknown',
  })
})
