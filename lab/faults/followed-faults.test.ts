import { expect, test } from 'vitest'
import { Probe } from '../../base/runtime/index.js'
import type { Fault } from '../../control/index.js'
import type { CommandPoint } from '../../machine/index.js'
import type { FaultContext } from './fault-context.js'
import { FaultInjector } from './faults.js'

const OF_MACHINE: Fault = { match: { machine: 'machine-1' }, effect: { kind: 'exit-code', code: 1 } }

/** An injector of a process among others, and the ids of the faults that it has asked others to count. */
function sharedInjector() {
  const probe = new Probe()
  const context = {
    clock: { now: () => 0, elapsed: () => 0 },
    seed: 1,
    isShared: true,
    node: () => undefined,
    nodeOf: () => undefined,
    machineOf: () => undefined,
    disksOf: (machine: string) => (machine === 'machine-1' ? ['sda'] : undefined),
    phaseOf: () => undefined,
    stepOf: () => undefined,
  } as unknown as FaultContext
  const faults = new FaultInjector(probe, context, () => {})
  const claimed: string[] = []
  faults.shareCounts({
    claim: (id) => {
      claimed.push(id)
      return Promise.resolve({ strikes: true, struck: claimed.length })
    },
  })
  const point: CommandPoint = { kind: 'command', machine: 'machine-1', argv: ['lsblk'] }
  const run = async () => (await probe.around(point, () => Promise.resolve({ exitCode: 0 }))).exitCode
  return { faults, claimed, run }
}

test('faults of the process stay beside those that it follows, have ids of their own, and are counted here', async () => {
  const { faults, claimed, run } = sharedInjector()
  const own = faults.add({ ...OF_MACHINE, times: 1, after: 1 })
  expect(own.id).toBe('own-fault-1')
  faults.follow([{ id: 'fault-1', fault: { ...OF_MACHINE, effect: { kind: 'exit-code', code: 5 } }, struck: 0 }])
  expect(faults.list().map(({ id }) => id)).toEqual([own.id, 'fault-1'])
  expect(await run()).toBe(5)
  expect(await run()).toBe(1)
  expect(claimed).toEqual(['fault-1', 'fault-1'])
  faults.follow([])
  expect(faults.list()).toMatchObject([{ id: own.id, struck: 1 }])
  expect(await run()).toBe(0)
  expect(claimed).toHaveLength(2)
})

test('a fault may name a machine of another process, and waits for one that no process has', () => {
  const { faults } = sharedInjector()
  const other: Fault = { ...OF_MACHINE, match: { machine: 'machine-2' } }
  const elsewhere = new Map([['machine-2', ['vda']]])
  expect(() => faults.checkAll([other])).toThrow('there is no machine machine-2, so the fault could never strike')
  faults.checkAll([other], elsewhere)
  expect(() =>
    faults.checkAll([{ match: { machine: 'machine-2', disk: 'sda' }, effect: { kind: 'disk-full' } }], elsewhere),
  ).toThrow('machine-2 has no disk sda')
  const present = [{ id: 'fault-1', fault: other, struck: 0 }]
  faults.follow(present)
  expect(faults.get('fault-1')).toMatchObject({ waitsFor: 'machine machine-2' })
  faults.follow(present, elsewhere)
  expect(faults.get('fault-1')).not.toHaveProperty('waitsFor')
})
