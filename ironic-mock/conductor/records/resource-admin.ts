import { randomUuid as newUuid, type Clock, type Random } from '../../../base/runtime/index.js'
import {
  IronicError,
  ironicErrors,
  formatClientValue,
  type NodeRecord,
  type ResourceKind,
  type ResourceRecords,
} from '../../../base/wire/index.js'
import type { StoreView } from '../../store/open-store.js'
import type { NewResource, ResourcePatch, Store } from '../../store/store.js'
import type { NewFields, Resources } from '../core/conductor.js'
import type { CheckServed } from './check-served.js'
import { checkUnlocked } from './node-admin.js'
import { toApiError } from './store-errors.js'
import { formatTimestamp } from '../core/timestamps.js'

export interface ResourceAdminOptions {
  store: Store & StoreView
  clock: Clock
  random: Random
}

/** Node states in which a portgroup may move to another node; maintenance allows it too. */
const MOVABLE = ['enroll', 'inspecting', 'inspect wait', 'manageable']
/** Node states in which volumes of a powered-on node may be removed. */
const DELETE_ALLOWED = ['manageable', 'enroll', 'adopt failed']

/** Records that the conductor of their node changes and removes; the API creates them by itself. */
const CONDUCTORS_KINDS: ReadonlySet<ResourceKind> = new Set(['portgroup', 'volume_connector', 'volume_target'])

/** Creates, updates and deletes records other than nodes and ports; {@link Allocations} creates and deletes allocations. */
export class ResourceAdmin implements Omit<Resources, 'allocate'> {
  readonly #options: ResourceAdminOptions
  readonly #checkServed: CheckServed

  constructor(options: ResourceAdminOptions, checkServed: CheckServed) {
    this.#options = options
    this.#checkServed = checkServed
  }

  async create<Kind extends ResourceKind>(kind: Kind, fields: NewFields<Kind>): Promise<ResourceRecords[Kind]> {
    const { store, random } = this.#options
    const record = { ...fields, uuid: fields.uuid ?? newUuid(random), created_at: this.#now, updated_at: null }
    return store.createResource(kind, record as unknown as NewResource<Kind>).catch(toApiError())
  }

  async update<Kind extends ResourceKind>(
    kind: Kind,
    uuid: string,
    change: (record: ResourceRecords[Kind]) => ResourcePatch<Kind>,
  ): Promise<ResourceRecords[Kind]> {
    const updated = await this.#options.store
      .updateResource(kind, uuid, (record) => {
        const patch = change(record)
        this.#mayChange(kind, record, patch)
        // A patch without a difference leaves updated_at unchanged.
        return isChange(record, patch) ? { ...patch, updated_at: this.#now } : {}
      })
      .catch(toApiError())
    if (!updated) throw ironicErrors.resourceGone(kind, uuid)
    return updated
  }

  async remove(kind: ResourceKind, uuid: string): Promise<void> {
    const { store } = this.#options
    const removed = await store.removeResource(kind, uuid, () => this.#mayRemove(kind, uuid)).catch(toApiError())
    if (!removed) throw ironicErrors.resourceGone(kind, uuid)
  }

  async removeAll(kind: ResourceKind): Promise<void> {
    const { store } = this.#options
    await Promise.all([...store.records.resources(kind).byUuid.keys()].map((uuid) => store.removeResource(kind, uuid)))
  }

  #mayChange(kind: ResourceKind, record: object, patch: object): void {
    const node = 'node_uuid' in record ? this.#node(record.node_uuid) : undefined
    if (!node) return
    if (CONDUCTORS_KINDS.has(kind))
      this.#checkServed('node_uuid' in patch ? formatClientValue(patch.node_uuid) : node.uuid)
    if (kind === 'portgroup') {
      checkUnlocked(node)
      if ('node_uuid' in patch && patch.node_uuid !== node.uuid)
        this.#mayMove(record as ResourceRecords['portgroup'], patch.node_uuid)
    } else if (kind === 'volume_connector' || kind === 'volume_target') {
      checkUnlocked(node)
      if (node.power_state !== 'power off') throw volumeInUse(kind, 'update', node)
    }
  }

  #mayMove(portgroup: ResourceRecords['portgroup'], to: unknown): void {
    const node = this.#node(to)
    if (!node) throw ironicErrors.nodeLinkInvalid(formatClientValue(to))
    if (!MOVABLE.includes(node.provision_state) && !node.maintenance)
      throw new IronicError(
        409,
        `Portgroup ${portgroup.uuid} can not be associated to node ${node.uuid} unless the node is in a ${MOVABLE.join(', ')} state or in maintenance mode. Current state is '${node.provision_state}'.`,
      )
    if (this.#members(portgroup).length > 0)
      throw new IronicError(
        400,
        `Portgroup ${portgroup.uuid} can not be associated with node ${node.uuid} because there are ports associated with this portgroup.`,
      )
  }

  #mayRemove(kind: ResourceKind, uuid: string): void {
    const { records } = this.#options.store
    const record = records.resources(kind).byUuid.get(uuid)
    if (!record) return
    const node = 'node_uuid' in record ? this.#node(record.node_uuid) : undefined
    if (node && CONDUCTORS_KINDS.has(kind)) this.#checkServed(node.uuid)
    if (kind === 'portgroup') {
      if (node) checkUnlocked(node)
    } else if (node && (kind === 'volume_connector' || kind === 'volume_target')) {
      checkUnlocked(node)
      if (!DELETE_ALLOWED.includes(node.provision_state) && node.power_state !== 'power off')
        throw volumeInUse(kind, 'deletion', node)
    }
  }

  #members({ id, node_uuid }: ResourceRecords['portgroup']) {
    return this.#options.store.records.portsOf(node_uuid).filter((port) => port.portgroup_id === id)
  }

  #node(uuid: unknown): Readonly<NodeRecord> | undefined {
    return this.#options.store.records.nodes.get(formatClientValue(uuid))?.record
  }

  get #now(): string {
    return formatTimestamp(this.#options.clock.now())
  }
}

const isChange = (record: object, patch: object): boolean =>
  Object.entries(patch).some(
    ([name, value]) => JSON.stringify(value) !== JSON.stringify(record[name as keyof typeof record]),
  )

function volumeInUse(kind: 'volume_connector' | 'volume_target', doing: 'update' | 'deletion', node: NodeRecord) {
  const action = `${kind.replace('_', ' ')} ${doing}`
  return ironicErrors.invalidStateRequested(action, node.uuid, node.power_state ?? 'None')
}
