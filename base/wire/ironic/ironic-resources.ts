import type { JsonObject } from './node.js'

/** Members of all further records. Times as in {@link NodeRecord}. */
interface ResourceRecord {
  id: number
  uuid: string
  created_at: string
  updated_at: string | null
}

export interface PortgroupRecord extends ResourceRecord {
  node_id: number
  node_uuid: string
  name: string | null
  /** Lower case. */
  address: string | null
  extra: JsonObject
  internal_info: JsonObject
  /** True if a member can boot on its own (`pxe_enabled`). */
  standalone_ports_supported: boolean
  mode: string | null
  properties: JsonObject
  physical_network: string | null
  category: string | null
  dynamic_portgroup: boolean
}

type AllocationState = 'allocating' | 'active' | 'error'

/** A claim on one node with a resource class and traits. */
export interface AllocationRecord extends ResourceRecord {
  node_id: number | null
  node_uuid: string | null
  name: string | null
  state: AllocationState
  last_error: string | null
  resource_class: string | null
  traits: string[]
  /** UUIDs; empty when any node may be taken. */
  candidate_nodes: string[]
  extra: JsonObject
  owner: string | null
}

interface ChassisRecord extends ResourceRecord {
  description: string | null
  extra: JsonObject
}

interface VolumeConnectorRecord extends ResourceRecord {
  node_id: number
  node_uuid: string
  type: string
  connector_id: string
  extra: JsonObject
}

interface VolumeTargetRecord extends ResourceRecord {
  node_id: number
  node_uuid: string
  volume_type: string
  boot_index: number
  volume_id: string
  properties: JsonObject
  extra: JsonObject
}

/** A step of a deploy template; 0 disables the driver's step of the same name. */
export interface DeployTemplateStep {
  interface: string
  step: string
  args: JsonObject
  priority: number
}

/** Steps for the deployment of every node whose `instance_info.traits` names the template. */
export interface DeployTemplateRecord extends ResourceRecord {
  /** A trait. */
  name: string
  steps: DeployTemplateStep[]
  extra: JsonObject
}

/** A step of a runbook, run in the order of `order`. */
export interface RunbookStep {
  interface: string
  step: string
  args: JsonObject
  order: number
}

/** Steps for manual cleaning and servicing of nodes that have one of its traits (before 1.112: its name). */
export interface RunbookRecord extends ResourceRecord {
  /** A trait up to 1.111, a logical name since. */
  name: string
  description: string | null
  steps: RunbookStep[]
  disable_ramdisk: boolean
  extra: JsonObject
  public: boolean
  owner: string | null
  /** At creation the name, when that is a trait and the request has no traits. */
  traits: string[]
}

export interface InspectionRuleAction {
  op: string
  args: JsonObject | unknown[]
  loop?: JsonObject | unknown[]
}

export interface InspectionRuleCondition {
  op: string
  args: JsonObject | unknown[]
  loop?: JsonObject | unknown[]
  multiple?: string
}

/** Actions for inspected data that meets all conditions; rules run by descending priority. */
export interface InspectionRuleRecord extends ResourceRecord {
  description: string | null
  priority: number
  /** Null once it has been removed. */
  phase: string | null
  sensitive: boolean
  scope: string | null
  actions: InspectionRuleAction[]
  conditions: InspectionRuleCondition[]
}

/** The resources that the database keeps besides nodes and ports. */
export interface ResourceRecords {
  portgroup: PortgroupRecord
  allocation: AllocationRecord
  chassis: ChassisRecord
  volume_connector: VolumeConnectorRecord
  volume_target: VolumeTargetRecord
  deploy_template: DeployTemplateRecord
  runbook: RunbookRecord
  inspection_rule: InspectionRuleRecord
}
export type ResourceKind = keyof ResourceRecords
