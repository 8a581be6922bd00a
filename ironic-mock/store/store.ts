import type {
  JsonObject,
  NodeRecord,
  NodeLists,
  PortRecord,
  ProvisionState,
  ResourceKind,
  ResourceRecords,
  NodeListKind,
} from '../../base/wire/index.js'

/** Counts the commits of one node; a commit that expects another revision is refused. */
export type Revision = number

export type NodePatch = Partial<Omit<NodeRecord, 'id' | 'uuid' | 'created_at'>>

/** Work for the conductor, stored in the same transaction as the state that asked for it. */
interface ConductorEffect {
  kind: string
  payload: JsonObject
}

export interface StoredEffect extends ConductorEffect {
  id: number
  node: string
}

/** A time limit; one per kind and node. `at` is in milliseconds of the clock, null removes the deadline. */
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
  /** The node's states at that time, and how many whole seconds it had been in the first. */
  state?: string
  target_provision_state?: string | null
  duration_seconds?: number | null
}

/**
 * Changes of a node and its records that are written together: after a SIGKILL all of them are there, or none. The
 * store takes the values over, so the caller must not change them afterwards.
 */
export interface Commit {
  node: string
  expect: Revision
  patch?: NodePatch
  /** Appended to the node's queue; effects of one node run in the order of their ids. */
  effects?: readonly ConductorEffect[]
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
  /** Lists that belong to the node, each replaced as a whole. */
  lists?: Partial<NodeLists>
  /** Made in this order. A value that is taken refuses the whole commit. */
  resources?: readonly ResourceChange[]
}

/** A new record, without its id, which the store assigns. */
export type NewResource<Kind extends ResourceKind> = Omit<ResourceRecords[Kind], 'id'>
export type ResourcePatch<Kind extends ResourceKind> = Partial<Omit<ResourceRecords[Kind], 'id' | 'uuid'>>

/**
 * A change of a record other than a node or port. `patch` holds single fields, so that concurrent changes of other
 * fields are not lost.
 */
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
  /** Filter without a column of its own. */
  where?: (node: NodeRecord) => boolean
  sortKey?: keyof NodeRecord
  sortDir?: 'asc' | 'desc'
  /** UUID of the last node of the page before. */
  marker?: string
  limit?: number
}

/** Filters of the records of one kind, combined by AND. */
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
  /** MACs in lower case. */
  addresses?: readonly string[]
  where?: (port: PortRecord) => boolean
  sortKey?: keyof PortRecord
  sortDir?: 'asc' | 'desc'
  marker?: string
  limit?: number
}

/** Thrown when the node of a commit has changed in the meantime, or is gone. */
export class StaleRevision extends Error {
  override name = 'StaleRevision'
}

/**
 * Trouble of a database of several processes: it cannot be reached; it has not said whether a change was made; its disk is
 * full; it takes no changes; others change the same records all the time.
 */
export type DatabaseTrouble = 'away' | 'unconfirmed' | 'full' | 'read-only' | 'busy'

/** Thrown when the database of several processes cannot be reached, or takes no change. */
export class DatabaseUnavailable extends Error {
  override name = 'DatabaseUnavailable'
  /** Seconds after which another try makes sense. */
  readonly retryAfter = 5

  constructor(
    message: string,
    readonly trouble: DatabaseTrouble = 'away',
    cause?: unknown,
  ) {
    super(message, cause === undefined ? {} : { cause })
  }
}

/** The trouble of a database that is an error's cause, or the cause of that. */
export function databaseUnavailable(error: unknown): DatabaseUnavailable | undefined {
  for (let e = error; e instanceof Error; e = e.cause) if (e instanceof DatabaseUnavailable) return e
  return undefined
}

/** Thrown when a record is to be removed that others name: a portgroup with ports, a chassis with nodes. */
export class StillReferenced extends Error {
  override name = 'StillReferenced'

  constructor(
    readonly kind: 'portgroup' | 'chassis',
    readonly record: { readonly id: number; readonly uuid: string },
  ) {
    super(`${kind} ${record.uuid} is in use`)
  }
}

/** Thrown when a record names a node, portgroup or chassis that is gone. */
export class DanglingReference extends Error {
  override name = 'DanglingReference'
  readonly kind: 'node' | 'portgroup' | 'chassis'
  readonly ident: string
  constructor(kind: 'node' | 'portgroup' | 'chassis', ident: string | number) {
    super(`${kind} ${ident} is gone`)
    this.kind = kind
    this.ident = String(ident)
  }
}

/**
 * Fields whose values are unique; `connector_id` stands for a connector's type and id, `boot_index` for node and index.
 */
export type UniqueField = 'uuid' | 'name' | 'instance_uuid' | 'address' | 'connector_id' | 'boot_index'

/** Thrown when a uuid, name, instance_uuid, MAC or the like is taken. */
export class Duplicate extends Error {
  override name = 'Duplicate'
  readonly field: UniqueField
  readonly value: string
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
 * Ironic's database. A resolved commit survives SIGKILL; commits that arrive together share one transaction. A node
 * that loses its instance loses its allocation too, and an allocation that its node releases is removed. No record
 * refers to a portgroup, chassis or node that is gone. Returned records are fresh copies.
 */
export interface Store extends AsyncDisposable {
  node(ident: string): Promise<NodeWithRevision | undefined>
  nodes(query: NodeQuery): Promise<NodeRecord[]>
  /** The store assigns the `id`. */
  createNode(node: Omit<NodeRecord, 'id'>): Promise<NodeWithRevision>
  /**
   * Removes the node and every record that refers to it: ports, effects, deadlines, inventory, history and other
   * resources.
   */
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
   * Applies `change` to the record as it is when the change is written, so that concurrent changes are not lost. An
   * error thrown by `change` refuses the update. Undefined when the record is gone.
   */
  updateResource<Kind extends ResourceKind>(
    kind: Kind,
    uuid: string,
    change: (record: ResourceRecords[Kind]) => ResourcePatch<Kind>,
  ): Promise<ResourceRecords[Kind] | undefined>
  /**
   * Runs `check` when the removal is written; an error that it throws refuses the removal. False when there was no such
   * record.
   *
   * @throws StillReferenced for a portgroup that has ports, and a chassis that has nodes
   */
  removeResource(kind: ResourceKind, uuid: string, check?: () => void): Promise<boolean>
  inventory(node: string): Promise<{ inventory: JsonObject; plugin_data: JsonObject } | undefined>
  history(node: string): Promise<HistoryEntry[]>
  /** Empty when no list is stored. */
  nodeList<Kind extends NodeListKind>(node: string, kind: Kind): Promise<NodeLists[Kind]>
  /** Queued effects of one node, or of all, in the order of their ids. */
  effects(node?: string): Promise<StoredEffect[]>
  deadlines(): Promise<{ node: string; kind: string; at: number }[]>
}
