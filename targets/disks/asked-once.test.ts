import { chmod, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { systemClock, systemRandom } from '../../base/runtime/index.js'
import { runToEnd } from '../../steps/index.js'
import type { TargetCommand } from '../executor.js'
import { localShell } from '../supervised/local-shell.js'
import { SupervisedExecutor } from '../supervised/supervised-executor.js'
import { askingOnce } from './asked-once.js'

let place: string
beforeEach(async () => {
  place = await mkdtemp(join(tmpdir(), 'ironstage-asked-once-'))
  for (const name of ['lsblk', 'udevadm']) {
    await writeFile(
      join(place, name),
      `#!/bin/sh\necho "asked $@" >>${place}/asked\ncat ${place}/answer; exit "$(cat ${place}/code)"\n`,
    )
    await chmod(join(place, name), 0o755)
  }
  await writeFile(join(place, 'answer'), 'first')
  await writeFile(join(place, 'code'), '0')
})
afterEach(() => rm(place, { recursive: true, force: true }))

async function opened() {
  const shell = localShell(systemClock(), { ...process.env, PATH: `${place}:${process.env['PATH']}` })
  const clock = systemClock()
  const host = new SupervisedExecutor({ shell, clock, random: systemRandom, folder: join(place, 'runs') })
  const state = { generation: '1' as string | null, now: 0 }
  const executor = askingOnce(host, {
    generation: () => Promise.resolve(state.generation),
    clock: { ...clock, now: () => state.now },
  })
  const ask = async (...argv: TargetCommand['argv']) => (await runToEnd(executor, argv, { effect: 'reads' })).stdout
  const asked = async () => (await readFile(join(place, 'asked'), 'utf8')).trim().split(/ *\n/)
  return { host, executor, state, ask, asked }
}

test('a listing is asked once, while nothing changes', async () => {
  const { host, state, ask, asked } = await opened()
  await using _ = host
  expect(await ask('lsblk', '--json')).toBe('first')
  await writeFile(join(place, 'answer'), 'second')
  expect(await ask('lsblk', '--json')).toBe('first')
  expect(await ask('lsblk')).toBe('second')
  expect(await ask('udevadm', 'settle')).toBe('second')
  expect(await ask('udevadm', 'settle')).toBe('second')
  expect(await asked()).toEqual(['asked --json', 'asked', 'asked settle'])
  state.generation = '2'
  state.now = 300
  expect(await ask('lsblk', '--json')).toBe('second')
  state.now = 6000
  await ask('lsblk', '--json')
  expect(await asked()).toEqual(['asked --json', 'asked', 'asked settle', 'asked --json', 'asked --json'])
})

test('a command that writes, an answer that failed, and a target that tells of no events make it ask again', async () => {
  const { host, executor, state, ask, asked } = await opened()
  await using _ = host
  await ask('lsblk')
  const writing = await executor.start({ argv: ['sleep', '0.3'], effect: 'writes' })
  await ask('lsblk')
  await ask('lsblk')
  await writing.exit
  await ask('lsblk')
  expect(await asked()).toHaveLength(4)
  await runToEnd(executor, ['umount', '/run/ironstage/mnt/none'], { effect: 'reads' })
  await writeFile(join(place, 'code'), '3')
  await ask('lsblk')
  await ask('lsblk')
  expect(await asked()).toHaveLength(6)
  await writeFile(join(place, 'code'), '0')
  state.generation = null
  state.now = 300
  await ask('lsblk')
  await ask('lsblk')
  expect(await asked()).toHaveLength(8)
})
