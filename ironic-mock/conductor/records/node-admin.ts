import { randomUuid as newUuid, waitInQueue, type Clock, type Random } from '../../../base/runtime/index.js'
import {
  DRIVER_INTERFACES,
  IronicError,
  ironicErrors,
  pythonRepr,
  type NodeRecord,
  type ProvisionState,
} from '../../../base/wire/index.js'
import { chooseInterfaces, hardwareType, interfaceField, type HardwareType } from '../../drivers/hardware-types.js'
import type { NodeEntry } from '../../store/record-store.js'
import type { StoreView } from '../../store/open-store.js'
import { StaleRevision, type NodePatch, type Store } from '../../store/store.js'
import type { NewNode } from '../core/conductor.js'
import type { NodeQueues } from '../core/node-queues.js'
import { makeNodeRecord } from './new-records.js'
import type { ConductorConf } from '../core/conductor-conf.js'
import { toApiError } from './store-errors.js'
import { formatTimestamp } from '../core/timestamps.js'
import { protectedNode } from '../core/verbs.js'

export interface AdminOptions {
  store: Store & StoreView
  conf: ConductorConf
  types?: readonly HardwareType[]
  clock: Clock
  random: Random
  queues: NodeQueues
}

/** Creates, updates and deletes nodes, without work on their machines. */
export class Admin {
  readonly #options: AdminOptions

  constructor(options: AdminOptions) {
    this.#options = options
  }

  async createNode(fields: NewNode): Promise<NodeRecord> {
    const { store, random, types, conf } = this.#options
    const { conductorGroup, defaultConductorGroup, defaultResourceClass } = conf
    const complete = {
      ...fields,
      conductor_group: fields.conductor_group || defaultConductorGroup,
      resource_class: fields.resource_class || defaultResourceClass,
    }
    const type = hardwareType(fields.driver, complete.conductor_group, types, conductorGroup)
    const record = makeNodeRecord(
      complete,
      chooseInterfaces(type, fields, types),
      this.#now,
      fields.uuid ?? newUuid(random),
    )
    return (await store.createNode(record).catch(toApiError(record.uuid))).node
  }

  async updateNode(uuid: string, change: (node: NodeRecord) => NodePatch): Promise<NodeRecord> {
    const { store } = this.#options
    return this.#retryStale(uuid, async (entry) => {
      const node = entry.copy()
      const patch = structuredClone(change(node))
      checkUnlocked(entry.record)
      const interfaces = this.#interfaces(entry.copy(), patch)
      await store
        .commit({ node: uuid, expect: entry.revision, patch: { ...patch, ...interfaces, updated_at: this.#now } })
        .catch(toApiError(uuid))
      return this.#entry(uuid).copy()
    })
  }

  /** Checks that driver and interfaces fit together after a change; returns the default interfaces. */
  #interfaces(before: NodeRecord, patch: NodePatch): NodePatch {
    const regrouped = patch.conductor_group !== undefined
    const { types, conf } = this.#options
    const isOurs = before.conductor_group === conf.conductorGroup
    const reinterfaced = patch.driver !== undefined || DRIVER_INTERFACES.some((name) => interfaceField(name) in patch)
    if (isOurs && !regrouped && !reinterfaced) return {}
    const after = { ...before, ...patch }
    const type = hardwareType(after.driver, after.conductor_group, types, conf.conductorGroup)
    return chooseInterfaces(type, after, types)
  }

  async destroyNode(uuid: string): Promise<void> {
    const { store, conf } = this.#options
    await this.#retryStale(uuid, async (entry) => {
      const node = entry.record
      checkUnlocked(node)
      if (!node.maintenance && node.instance_uuid !== null)
        throw new IronicError(409, `Node ${uuid} is associated with instance ${node.instance_uuid}.`)
      if (node.protected) throw protectedNode(uuid)
      const allowed: ProvisionState[] = ['manageable', 'enroll', 'adopt failed']
      if (conf.allowDeletingAvailableNodes) allowed.push('available')
      if (!node.maintenance && !allowed.includes(node.provision_state))
        throw new IronicError(
          409,
          `Can not delete node "${uuid}" while it is in provision state "${node.provision_state}". Valid provision states to perform deletion are: "(${allowed.map(pythonRepr).join(', ')})", or set the node into maintenance mode`,
        )
      await store.removeNode(uuid, entry.revision)
    })
  }

  get #now(): string {
    return formatTimestamp(this.#options.clock.now())
  }

  #entry(uuid: string): NodeEntry {
    const entry = this.#options.store.records.nodes.get(uuid)
    if (!entry) throw ironicErrors.nodeNotFound(uuid)
    return entry
  }

  /** Repeats an attempt from the start when another writer changed the node first. */
  async #retryStale<T>(uuid: string, attempt: (entry: NodeEntry) => Promise<T>): Promise<T> {
    const { queues, clock } = this.#options
    const wait = queues.enter(uuid)
    if (wait) await wait
    try {
      for (;;) {
        try {
          return await attempt(this.#entry(uuid))
        } catch (error) {
          if (!(error instanceof StaleRevision)) throw error
          await waitInQueue(clock)
        }
      }
    } finally {
      queues.leave(uuid)
    }
  }
}

/** @throws IronicError 409 while the node is reserved */
export function checkUnlocked(node: Readonly<NodeRecord>): void {
  if (node.reservation !== null) throw ironicErrors.nodeLocked(node.uuid, node.reservation)
}
