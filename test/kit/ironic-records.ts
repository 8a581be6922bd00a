import type { DriverDescription } from '../../ironic-mock/index.js'
import { DRIVER_INTERFACES, type NodeRecord } from '../../wire/index.js'

const interfaces = Object.fromEntries(DRIVER_INTERFACES.map((kind) => [`${kind}_interface`, 'fake']))

/** A freshly enrolled all-fake node, with what a test says of it. */
export const aNode = (fields: Partial<NodeRecord> = {}): NodeRecord =>
  ({
    id: 1,
    uuid: 'b0000000-0000-4000-8000-000000000001',
    name: 'node-b',
    created_at: '2026-11-21T09:32:58.301371',
    updated_at: null,
    allocation_id: null,
    automated_clean: null,
    ...interfaces,
    boot_mode: null,
    chassis_id: null,
    clean_step: {},
    conductor_affinity: 1,
    conductor_group: '',
    console_enabled: false,
    deploy_step: {},
    description: null,
    disable_power_off: false,
    driver: 'fake-hardware',
    driver_info: {},
    driver_internal_info: {},
    extra: {},
    fault: null,
    health: null,
    inspection_finished_at: null,
    inspection_started_at: null,
    instance_info: {},
    instance_name: null,
    instance_uuid: null,
    last_error: null,
    lessee: null,
    maintenance: false,
    maintenance_reason: null,
    network_data: {},
    owner: null,
    parent_node: null,
    power_state: null,
    properties: {},
    protected: false,
    protected_reason: null,
    provision_state: 'enroll',
    provision_updated_at: null,
    raid_config: {},
    reservation: null,
    resource_class: null,
    retired: false,
    retired_reason: null,
    secure_boot: null,
    service_step: {},
    shard: null,
    target_power_state: null,
    target_provision_state: null,
    target_raid_config: {},
    traits: [],
    ...fields,
  }) as NodeRecord

const enabled = (names: string[]): DriverDescription['interfaces'] =>
  Object.fromEntries(DRIVER_INTERFACES.map((kind) => [kind, names])) as DriverDescription['interfaces']

export const someDrivers: DriverDescription[] = [
  { name: 'fake-hardware', hosts: ['here'], type: 'dynamic', interfaces: enabled(['fake', 'other']), properties: {} },
  { name: 'redfish', hosts: ['here'], type: 'dynamic', interfaces: enabled(['redfish', 'fake']), properties: {} },
]
