import { expect, test } from 'vitest'
import { collectGarbage, Probe, seededRandom, silent, VirtualClock } from '../base/runtime/index.js'
import { defaultMachineSpec, NO_PACE, openMachines } from './index.js'

const MACHINES = 300

/** Bytes in use after garbage collection. */
async function heap(): Promise<number> {
  // A weak reference lives until the next turn of the event loop.
  for (let count = 0; count < 3; count++) {
    collectGarbage()
    await new Promise((resolve) => setImmediate(resolve))
  }
  return process.memoryUsage().heapUsed
}

test('a machine is small, also in a ramdisk whose hardware was read', async () => {
  const clock = new VirtualClock()
  await using machines = await openMachines({
    stateDir: null,
    clock,
    random: seededRandom(1),
    probe: new Probe(),
    logger: silent,
    pace: NO_PACE,
    events: { ramdiskUp: () => {}, down: () => {} },
  })
  const made = async (number: number) => {
    const spec = defaultMachineSpec(number)
    return machines.create({
      ...spec,
      disks: spec.disks.map((disk) => ({ ...disk, backing: { kind: 'described' as const } })),
    })
  }
  const read = async (number: number): Promise<void> => {
    const machine = machines.get(defaultMachineSpec(number).id)!
    await machine.setBoot({ kind: 'ramdisk', parameters: { 'ipa-api-url': 'http://ironic' } })
    await machine.setPower('on')
    await clock.idle()
    const { exit } = await machine.executor.start({ argv: ['lsblk', '--json'], effect: 'reads' })
    expect(await exit).toEqual({ kind: 'exited', code: 0 })
  }
  for (let number = MACHINES + 1; number <= MACHINES + 20; number++) {
    await made(number)
    await read(number)
  }
  const empty = await heap()
  for (let number = 1; number <= MACHINES; number++) await made(number)
  const off = await heap()
  for (let number = 1; number <= MACHINES; number++) await read(number)
  const up = await heap()
  expect((off - empty) / MACHINES).toBeLessThan(5 * 1024)
  expect((up - empty) / MACHINES).toBeLessThan(9 * 1024)
})
