import { expect, test, vi } from 'vitest'
import type { CommandPoint } from '../../machine/index.js'
import { Probe } from '../../base/runtime/index.js'
import { createStagedLab } from '../create-lab.js'
import type { FaultContext } from './fault-context.js'
import { FaultInjector } from './faults.js'

const NODES = 100
const FAULTS = 10_000

function injector() {
  const probe = new Probe()
  const attach = vi.spyOn(probe, 'attach')
  const node = vi.fn((ident: string) => ({ uuid: ident, name: ident, provision_state: 'active' }))
  const context = {
    clock: { now: () => 0, elapsed: () => 0 },
    seed: 1,
    node,
    nodeOf: (machine: string) => node(machine.replace('machine', 'node')),
    machineOf: (uuid: string) => uuid.replace('node', 'machine'),
    disksOf: () => ['sda'],
    phaseOf: () => undefined,
    stepOf: () => undefined,
  } as unknown as FaultContext
  return { probe, attach, node, faults: new FaultInjector(probe, context, () => {}) }
}

test('of ten thousand faults a point is compared with those of its node, in their order', async () => {
  const { probe, attach, node, faults } = injector()
  const effect = { kind: 'exit-code', code: 1 } as const
  for (let n = 0; n < FAULTS; n++) faults.add({ match: { node: `node-${n % NODES}` }, effect: { ...effect, code: n } })
  const first = faults.add({ match: { machine: 'machine-7' }, effect: { ...effect, code: -1 }, times: 1 })
  expect(attach).toHaveBeenCalledTimes(1)

  node.mockClear()
  const point: CommandPoint = { kind: 'command', machine: 'machine-7', argv: ['lsblk'] }
  const run = () => probe.around(point, () => Promise.resolve({ exitCode: 0 }))
  expect(await run()).toMatchObject({ exitCode: 7 })
  expect(node.mock.calls.length).toBeLessThan(5 * (FAULTS / NODES))

  faults.lift('fault-8')
  expect(await run()).toMatchObject({ exitCode: 107 })
  expect(faults.get(first.id)).toMatchObject({ struck: 1 })
  expect(faults.list()).toHaveLength(FAULTS)
  expect(attach).toHaveBeenCalledTimes(1)

  faults.clear()
  expect(faults.list()).toEqual([])
  expect(probe.watches('command')).toBe(false)
})

test('faults that are spent are watched for no more, and a snapshot has those that are not', async () => {
  await using lab = await createStagedLab()
  const { uuid } = await lab.enroll({ fields: { name: 'node-0' } })
  const unavailable = { match: { node: 'node-0' }, effect: { kind: 'status', status: 503 } } as const
  for (let n = 0; n < 3; n++) lab.faults.add({ ...unavailable, times: 1 })
  const { id } = await lab.snapshots.take()
  const strike = () =>
    lab.client.node(uuid).then(
      () => 200,
      ({ status }: { status: number }) => status,
    )
  expect([await strike(), await strike()]).toEqual([503, 200])
  await lab.snapshots.restore(id)
  expect(lab.faults.list().map(({ struck }) => struck)).toEqual([0, 0, 0])
  expect(await strike()).toBe(503)
})
