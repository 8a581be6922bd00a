import type {
  DriverInterface,
  JsonObject,
  NodeRecord,
  PortRecord,
  ResourceKind,
  ResourceRecords,
} from '../../../base/wire/index.js'
import type { NodePatch, ResourcePatch } from '../../store/store.js'
import type { PlacedNode } from '../../members/shards.js'
import type { ConductorMember } from '../../members/work-share.js'
import type { HardwareCalls } from '../hardware/hardware-calls.js'
import type { DriverQuestion } from '../records/answered-questions.js'
import type { NetworkCalls } from '../records/network-calls.js'

/** Body of `PUT /v1/nodes/X/states/provision`, already validated by the API. */
export interface ProvisionRequest {
  target: string
  configdrive?: unknown
  deploy_steps?: JsonObject[]
  clean_steps?: JsonObject[]
  service_steps?: JsonObject[]
  rescue_password?: string
  /** Hash of `rescue_password`; the conductor adds it. */
  hashed_rescue_password?: string
  disable_ramdisk?: boolean
}

export interface Heartbeat {
  callback_url: string
  agent_version?: string
  agent_token?: string
  agent_verify_ca?: string
  agent_status?: string
  agent_status_message?: string
}

/** `result: null` means that the driver does not support the interface. */
export type InterfaceValidation = Record<DriverInterface, { result: boolean | null; reason?: string }>

export interface DriverDescription {
  name: string
  hosts: string[]
  type: 'dynamic'
  /** Enabled implementations by interface, the default first. */
  interfaces: Record<DriverInterface, string[]>
  /** Documentation by property, for `GET /v1/drivers/X/properties`. */
  properties: Record<string, string>
}

/** Fields of a new node; the conductor adds defaults. */
export type NewNode = { driver: string } & NodePatch & { uuid?: string }
export type NewPort = { node_uuid: string; address: string } & Partial<Omit<PortRecord, 'id' | 'node_id'>>

/** Fields of a new record; the conductor adds uuid and times. */
export type NewFields<Kind extends ResourceKind> = Omit<
  ResourceRecords[Kind],
  'id' | 'uuid' | 'created_at' | 'updated_at'
> & { uuid?: string }
/** Fields of a new allocation that a client may set. */
export type NewAllocation = Partial<
  Pick<
    ResourceRecords['allocation'],
    'uuid' | 'name' | 'resource_class' | 'traits' | 'candidate_nodes' | 'extra' | 'owner'
  >
>

/** Changes of records other than nodes and ports. Rejections as {@link Conductor}'s. */
export interface Resources {
  create<Kind extends Exclude<ResourceKind, 'allocation'>>(
    kind: Kind,
    fields: NewFields<Kind>,
  ): Promise<ResourceRecords[Kind]>
  /** `change` gets the record as it is when the change is written. */
  update<Kind extends ResourceKind>(
    kind: Kind,
    uuid: string,
    change: (record: ResourceRecords[Kind]) => ResourcePatch<Kind>,
  ): Promise<ResourceRecords[Kind]>
  /** Removes a record; the node of a removed allocation loses its instance. */
  remove(kind: ResourceKind, uuid: string): Promise<void>
  removeAll(kind: ResourceKind): Promise<void>
  /**
   * Creates an allocation. With the uuid of a node (`backfill`) it is settled when this resolves; otherwise the search for
   * a node follows.
   */
  allocate(fields: NewAllocation, backfill?: string): Promise<ResourceRecords['allocation']>
}

/**
 * The conductor's calls for the API. Every rejection that a client caused is an IronicError. A change is committed when
 * its promise resolves. Methods take a node's uuid; the API has resolved names.
 */
export interface Conductor {
  /** All conductors that have registered with the database, in the order of their registration. */
  conductors(): readonly ConductorMember[]
  /** The conductor that has a node; null when none is alive for its group and driver. */
  holderOf(node: PlacedNode): string | null
  /** Grows whenever {@link Conductor.holderOf} may have changed. */
  readonly placement: number
  readonly hardware: HardwareCalls
  readonly network: NetworkCalls
  /** The enabled ones, also those that no conductor has that is alive. */
  drivers(): DriverDescription[]
  /**
   * Asks for the conductor of a node, where upstream's API does so before it looks at the request.
   *
   * @throws IronicError 404 where none is alive that has it; 503 where none is alive
   */
  askNode(uuid: string): void
  /**
   * Asks for a conductor with this driver, of any group.
   *
   * @param question one whose answer the API keeps; null for a call that needs a conductor each time
   * @throws IronicError 404 where none is alive
   */
  askDriver(name: string, question: DriverQuestion | null): void
  createNode(fields: NewNode): Promise<NodeRecord>
  /** `change` gets the current record and returns what to set; it may throw an IronicError. It can run more than once. */
  updateNode(uuid: string, change: (node: NodeRecord) => NodePatch): Promise<NodeRecord>
  destroyNode(uuid: string): Promise<void>
  readonly resources: Resources
  createPort(fields: NewPort): Promise<PortRecord>
  updatePort(uuid: string, change: (port: PortRecord) => Partial<PortRecord>): Promise<PortRecord>
  destroyPort(uuid: string): Promise<void>
  /** Resolves once the change of state is committed; the flow continues afterwards. */
  provision(uuid: string, request: ProvisionRequest): Promise<void>
  changePower(uuid: string, target: string, timeout?: number): Promise<void>
  setMaintenance(uuid: string, on: boolean, reason?: string | null): Promise<void>
  validate(uuid: string): Promise<InterfaceValidation>
  setBootDevice(uuid: string, device: string, persistent: boolean): Promise<void>
  bootDevice(uuid: string): Promise<{ boot_device: string | null; persistent: boolean | null }>
  supportedBootDevices(uuid: string): Promise<string[]>
  /**
   * The agent's lookup: creates the token on the first call. `config` is the body's `config` object with the token in
   * clear the first time and `******` afterwards; without `issueToken` (microversions below 1.62) it has none.
   */
  lookup(uuid: string, options: { issueToken: boolean }): Promise<{ node: NodeRecord; config: JsonObject }>
  heartbeat(uuid: string, heartbeat: Heartbeat): Promise<void>
  /** The agent's inventory; finds the node by MACs and BMC addresses. Rejects with 404 when none waits for it. */
  continueInspection(data: JsonObject, nodeUuid?: string): Promise<NodeRecord>
  /** Like {@link continueInspection}, for microversions since 1.84, whose answer is that of a lookup. */
  continueInspectionAsLookup(data: JsonObject, nodeUuid?: string): Promise<{ node: NodeRecord; config: JsonObject }>
}
