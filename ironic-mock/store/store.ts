import type {
  JsonObject,
  NodeRecord,
  NodeLists,
  PortRecord,
  ProvisionState,
  ResourceKind,
  ResourceRecords,
  NodeListKind,
} from '../../wire/index.js'

/** Counts the commits of one node; a commit that expects another revision is refused. */
export type Revision = number

export type NodePatch = Partial<Omit<NodeRecord, 'id' | 'uuid' | 'created_at'>>

/** Work for the conductor's shell, kept in the same transaction as the state that asked for it. */
export interface Effect {
  kind: string
  payload: JsonObject
}

export interface StoredEffect extends Effect {
  id: number
  node: string
}

/** `at` in milliseconds of the clock; null lifts the deadline. One deadline a kind and node. */
export interface Deadline {
  kind: string
  at: number | null
}

export interface HistoryEntry {
  uuid: string
  created_at: string
  severity: 'INFO' | 'ERROR'
  event: string
  event_type: string
  conductor: string
  /** The node's states when it was written, and how long it had been in the first, in whole seconds. */
  state?: string
  target_provision_state?: string | null
  duration_seconds?: number | null
}

/**
 * What changes together. Everything in it is there after a SIGKILL, or nothing is. The values become the store's: whoever
 * committed them does not change them any more.
 */
export interface Commit {
  node: string
  expect: Revision
  patch?: NodePatch
  /** Appended to the node's queue; effects of one node run in the order of their ids. */
  effects?: readonly Effect[]
  deadlines?: readonly Deadline[]
  /** The effect whose outcome this commit records; it leaves the queue. */
  done?: number
  /** Drops every queued effect of the node. */
  dropEffects?: boolean
  createPorts?: readonly PortRecord[]
  updatePorts?: readonly PortRecord[]
  removePorts?: readonly string[]
  inventory?: { inventory: JsonObject; plugin_data: JsonObject }
  history?: readonly HistoryEntry[]
  /** Lists beside the node, each replaced as a whole. */
  sheets?: Partial<NodeLists>
  /** In this order. One that makes or gives a value that is taken is refused with the whole commit. */
  resources?: readonly ResourceChange[]
}

/** A new record of a kind, without the id, which is the store's to give. */
export type NewResource<Kind extends ResourceKind> = Omit<ResourceRecords[Kind], 'id'>
export type ResourcePatch<Kind extends ResourceKind> = Partial<Omit<ResourceRecords[Kind], 'id' | 'uuid'>>

/** A change of a record that is no node and no port. `patch` gives single fields, so that nobody's other change is lost. */
export type ResourceChange = {
  [Kind in ResourceKind]:
    | { readonly do: 'create'; readonly kind: Kind; readonly record: NewResource<Kind> }
    | { readonly do: 'patch'; readonly kind: Kind; readonly uuid: string; readonly patch: ResourcePatch<Kind> }
    | { readonly do: 'remove'; readonly kind: Kind; readonly uuid: string }
}[ResourceKind]

export interface NodeWithRevision {
  node: NodeRecord
  revision: Revision
}

/** Filters of `GET /v1/nodes`, all optional and combined by AND; `where` runs on the decoded record. */
export interface NodeQuery {
  uuids?: readonly string[]
  provision_state?: ProvisionState
  driver?: string
  instance_uuid?: string
  /** Further conditions, for filters that have no column. */
  where?: (node: NodeRecord) => boolean
  sortKey?: keyof NodeRecord
  sortDir?: 'asc' | 'desc'
  /** UUID of the last node of the page before. */
  marker?: string
  limit?: number
}

/** Of the records of one kind. */
export interface ResourceQuery<Kind extends ResourceKind> {
  node_uuid?: string
  where?: (record: ResourceRecords[Kind]) => boolean
  sortKey?: keyof ResourceRecords[Kind]
  sortDir?: 'asc' | 'desc'
  marker?: string
  limit?: number
}

export interface PortQuery {
  node_uuid?: string
  /** Lower case. */
  addresses?: readonly string[]
  where?: (port: PortRecord) => boolean
  sortKey?: keyof PortRecord
  sortDir?: 'asc' | 'desc'
  marker?: string
  limit?: number
}

/** Thrown when somebody else changed the node of a commit first, or it is gone. */
export class StaleRevision extends Error {
  override name = 'StaleRevision'
}

/** Thrown when a record names a node, portgroup or chassis that is gone. */
export class Dangling extends Error {
  override name = 'Dangling'
  readonly kind: 'node' | 'portgroup' | 'chassis'
  readonly ident: string
  constructor(kind: 'node' | 'portgroup' | 'chassis', ident: string | number) {
    super(`${kind} ${ident} is gone`)
    this.kind = kind
    this.ident = String(ident)
  }
}

/** What nobody may have twice; `connector_id` stands for a connector's type and id, `boot_index` for node and index. */
export type UniqueField = 'uuid' | 'name' | 'instance_uuid' | 'address' | 'connector_id' | 'boot_index'

/** Thrown when a uuid, name, instance_uuid, MAC or the like is taken. */
export class Duplicate extends Error {
  override name = 'Duplicate'
  readonly field: UniqueField
  readonly value: string
  /** Of which resource. */
  readonly kind: 'node' | 'port' | ResourceKind
  constructor(
    field: UniqueField,
    value: string,
    kind: 'node' | 'port' | ResourceKind = field === 'address' ? 'port' : 'node',
  ) {
    super(`${field} ${value} of a ${kind} is taken`)
    this.kind = kind
    this.field = field
    this.value = value
  }
}

/**
 * Ironic's database. A node that loses its instance loses its allocation too, and the allocation goes when its node lets
 * go of it; nothing names a portgroup, chassis or node that is gone. A resolved commit survives SIGKILL. Commits that arrive together share one transaction.
 * Records that come out are fresh copies.
 */
export interface Store extends AsyncDisposable {
  node(ident: string): Promise<NodeWithRevision | undefined>
  nodes(query: NodeQuery): Promise<NodeRecord[]>
  /** `id` is given by the store. */
  createNode(node: Omit<NodeRecord, 'id'>): Promise<NodeWithRevision>
  /** Removes the node with its ports, effects, deadlines, inventory, history and whatever other records name it. */
  removeNode(uuid: string, expect: Revision): Promise<void>
  commit(change: Commit): Promise<Revision>
  port(ident: string): Promise<PortRecord | undefined>
  ports(query: PortQuery): Promise<PortRecord[]>
  createPort(port: Omit<PortRecord, 'id'>): Promise<PortRecord>
  /** As {@link Store.updateResource}. */
  updatePort(uuid: string, change: (port: PortRecord) => Partial<PortRecord>): Promise<PortRecord | undefined>
  /** False when there was none. */
  removePort(uuid: string): Promise<boolean>
  /** By uuid, or by name where the kind has names. */
  resource<Kind extends ResourceKind>(kind: Kind, ident: string): Promise<ResourceRecords[Kind] | undefined>
  resources<Kind extends ResourceKind>(kind: Kind, query: ResourceQuery<Kind>): Promise<ResourceRecords[Kind][]>
  createResource<Kind extends ResourceKind>(kind: Kind, record: NewResource<Kind>): Promise<ResourceRecords[Kind]>
  /**
   * `change` gets the record as it is when the change is written, so that two changes at once do not lose one another; what
   * it throws is the refusal. Undefined when the record is gone.
   */
  updateResource<Kind extends ResourceKind>(
    kind: Kind,
    uuid: string,
    change: (record: ResourceRecords[Kind]) => ResourcePatch<Kind>,
  ): Promise<ResourceRecords[Kind] | undefined>
  /** False when there was none. What `check` throws, when the removal is written, is the refusal. */
  removeResource(kind: ResourceKind, uuid: string, check?: () => void): Promise<boolean>
  inventory(node: string): Promise<{ inventory: JsonObject; plugin_data: JsonObject } | undefined>
  history(node: string): Promise<HistoryEntry[]>
  /** Empty when nothing was kept. */
  sheet<Kind extends NodeListKind>(node: string, kind: Kind): Promise<NodeLists[Kind]>
  /** Queued effects in order of their ids; of one node or of all. */
  effects(node?: string): Promise<StoredEffect[]>
  deadlines(): Promise<{ node: string; kind: string; at: number }[]>
}
