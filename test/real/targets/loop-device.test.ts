import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, mkdtemp, readdir, rm, truncate, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { silent, systemClock, systemRandom } from '../../../base/runtime/index.js'
import { localShell } from '../../../targets/index.js'
import { attachLoop } from '../../../targets/local/loop-device.js'
import { SupervisedExecutor } from '../../../targets/supervised/supervised-executor.js'
import { attachedTo } from '../local-host.js'
import { succeeds } from '../peers.js'

/** Files as loop devices, by processes that end at a bad moment. Needs root. */

const clock = systemClock()
let place: string
let file: string
beforeEach(async () => {
  place = await mkdtemp(join(tmpdir(), 'ironstage-loop-'))
  file = join(place, 'disk.img')
  await writeFile(file, '')
  await truncate(file, 2 ** 20)
})
afterEach(async () => {
  for (const device of (await attachedTo(file)).split('\n').filter((line) => line !== ''))
    spawnSync('losetup', ['--detach', device])
  await rm(place, { recursive: true, force: true })
})

const records = () => readdir(join(place, 'runs/loops'))

async function attach(owner: number) {
  const host = new SupervisedExecutor({
    shell: localShell(clock, process.env),
    clock,
    random: systemRandom,
    folder: join(place, 'runs'),
  })
  const device = await attachLoop({ file, readOnly: false, host, owner, clock, logger: silent }).catch(
    async (error: unknown) => {
      await host[Symbol.asyncDispose]()
      throw error
    },
  )
  return { host, device }
}

/** The id of a process that has ended. */
async function endedProcess(): Promise<number> {
  const child = spawn('true')
  await once(child, 'close')
  return child.pid!
}

test('nothing is attached for an ironstage that has been killed meanwhile', async () => {
  await expect(attach(await endedProcess())).rejects.toThrow('the ironstage that attaches it has ended')
  expect(await attachedTo(file)).toBe('')
  expect(await records()).toEqual([])
})

test('the next ironstage frees a device whose owner had ended when it was written down', async () => {
  await succeeds('losetup', '--find', file)
  await mkdir(join(place, 'runs/loops'), { recursive: true })
  await writeFile(join(place, 'runs/loops/1-1'), `${await endedProcess()} \n${file}\n`)
  const { host, device } = await attach(process.pid)
  expect((await attachedTo(file)).split('\n')).toEqual([`/dev/${device.name}`])
  await device[Symbol.asyncDispose]()
  await host[Symbol.asyncDispose]()
  expect(await attachedTo(file)).toBe('')
  expect(await records()).toEqual([])
})
