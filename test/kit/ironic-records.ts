import { makeNodeRecord } from '../../ironic-mock/conductor/records/new-records.js'
import type { NodeInterfaces } from '../../ironic-mock/drivers/hardware-types.js'
import type { DriverDescription } from '../../ironic-mock/index.js'
import { DRIVER_INTERFACES, type NodeRecord } from '../../base/wire/index.js'

const interfaces = Object.fromEntries(
  DRIVER_INTERFACES.map((kind) => [`${kind}_interface`, 'fake']),
) as unknown as NodeInterfaces

/** A freshly enrolled all-fake node, with what a test says of it. */
export const aNode = (fields: Partial<NodeRecord> = {}): NodeRecord => ({
  ...makeNodeRecord(
    { driver: 'fake-hardware', name: 'node-b', conductor_affinity: 1 },
    interfaces,
    '2026-11-21T09:32:58.301371',
    'b0000000-0000-4000-8000-000000000001',
  ),
  id: 1,
  ...fields,
})

const enabled = (names: string[]): DriverDescription['interfaces'] =>
  Object.fromEntries(DRIVER_INTERFACES.map((kind) => [kind, names])) as DriverDescription['interfaces']

export const someDrivers: DriverDescription[] = [
  { name: 'fake-hardware', hosts: ['here'], type: 'dynamic', interfaces: enabled(['fake', 'other']), properties: {} },
  { name: 'redfish', hosts: ['here'], type: 'dynamic', interfaces: enabled(['redfish', 'fake']), properties: {} },
]
