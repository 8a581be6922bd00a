import { afterEach, expect, test, vi } from 'vitest'
import { minutes, Mutex, Probe, seededRandom, VirtualClock } from '../../base/runtime/index.js'
import type { SimulatedDisk } from '../../machine/disk/block-device.js'
import { describedDisk } from '../../machine/disk/described-disk.js'
import { withExclusiveMount } from '../../machine/disk/exclusive-mount.js'
import { journalOf } from './chaos.js'
import { randomPlan } from './chaos-plan.js'

afterEach(() => void vi.restoreAllMocks())

const DISK = Object.getPrototypeOf(describedDisk({ name: 'sda', size: 4096, sectorSize: 512 })) as SimulatedDisk

/** Has every call of a method take some promises more, before it and after it, by chance. */
function slowDown<Name extends string>(
  prototype: Record<Name, (...args: never[]) => Promise<unknown>>,
  name: Name,
  extra: () => number,
): void {
  const original = prototype[name] as (...args: unknown[]) => Promise<unknown>
  const pause = async (): Promise<void> => {
    for (let left = extra(); left > 0; left--) await Promise.resolve()
  }
  vi.spyOn(prototype as Record<string, typeof original>, name).mockImplementation(async function (
    this: unknown,
    ...args
  ) {
    await pause()
    const result = await original.apply(this, args)
    await pause()
    return result
  })
}

test('the order of what happens at one instant does not depend on how many promises anything takes', async () => {
  const plan = randomPlan({ seed: 3, nodes: ['node-0', 'node-1', 'node-2'], duration: minutes(3) })
  const wallTimeless = async () => (await journalOf(plan)).map((entry) => ({ ...entry, wallTime: undefined }))
  const journal = await wallTimeless()
  expect(journal.length).toBeGreaterThan(500)
  const random = seededRandom(1)
  const extra = () => Math.floor(random.next() * 4)
  for (const name of ['read', 'write', 'flush'] as const) slowDown(DISK, name, extra)
  slowDown(Probe.prototype, 'around', extra)
  slowDown(Mutex.prototype, 'run', extra)
  expect(await wallTimeless()).toEqual(journal)
})

test('nor on how long a machine waits for a file system, which another lab of the process has mounted', async () => {
  const plan = randomPlan({ seed: 3, nodes: ['node-0', 'node-1', 'node-2'], duration: minutes(3) })
  const wallTimeless = async () => (await journalOf(plan)).map((entry) => ({ ...entry, wallTime: undefined }))
  const journal = await wallTimeless()
  const over = new AbortController()
  const eventLoop = () => new Promise((resolve) => setImmediate(resolve))
  const otherLab = async () => {
    const clock = new VirtualClock()
    while (!over.signal.aborted) {
      await withExclusiveMount(clock, 'mounting in another lab', eventLoop)
      await eventLoop()
    }
  }
  const mounting = otherLab()
  const beside = await wallTimeless()
  over.abort()
  await mounting
  expect(beside).toEqual(journal)
})
