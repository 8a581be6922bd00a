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
import type { WorkShare } from '../../members/work-share.js'
import type { NodeEntry } from '../../store/record-store.js'
import type { StoreView } from '../../store/open-store.js'
import { StaleRevision, type NodePatch, type Store } from '../../store/store.js'
import type { NewNode } from '../core/conductor.js'
import type { NodeQueues } from '../core/node-queues.js'
import { makeNodeRecord } from './new-records.js'
import type { ConductorConf } from '../core/conductor-conf.js'
import { toApiError } from './store-errors.js'
import { checkConductors, checkNodeServed } from './check-served.js'
import { formatTimestamp } from '../core/timestamps.js'
import { protectedNode } from '../core/verbs.js'

export interface AdminOptions {
  store: Store & StoreView
  share: WorkShare
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
    const { store, share, random, types, conf } = this.#options
    const { defaultConductorGroup, defaultResourceClass } = conf
    const complete = {
      ...fields,
      conductor_group: fields.conductor_group || defaultConductorGroup,
      resource_class: fields.resource_class || defaultResourceClass,
    }
    const { driver } = fields
    const { conductor_group: group } = complete
    checkConductors(share)
    const type = hardwareType(driver, group, types, share.serves(group, driver))
    const record = makeNodeRecord(
      complete,
      chooseInterfaces(type, fields, types),
      this.#now,
      fields.uuid ?? newUuid(random),
    )
    return (await store.createNode(record).catch(toApiError(record.uuid))).node
  }

  async updateNode(uuid: string, change: (node: NodeRecord) => NodePatch): Promise<NodeRecord> {
    const { store, share } = this.#options
    return this.#retryStale(uuid, async (entry) => {
      const node = entry.copy()
      const patch = structuredClone(change(node))
      // As upstream, the conductor is that of the node with its new driver and group, and is asked for before the lock.
      checkNodeServed(share, { ...entry.record, ...patch }, 400)
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
    const { types, share } = this.#options
    const reinterfaced = patch.driver !== undefined || DRIVER_INTERFACES.some((name) => interfaceField(name) in patch)
    if (!reinterfaced) return {}
    const after = { ...before, ...patch }
    const { driver, conductor_group: group } = after
    const type = hardwareType(driver, group, types, share.serves(group, driver))
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

  /**
   * Reserves a node during work that is done at once for a client. A process that has the database to itself needs no
   * reservation: its work and its changes of the node come one after the other.
   *
   * @throws IronicError 409 while the node is reserved
   */
  async whileReserved<T>(uuid: string, work: () => Promise<T>): Promise<T> {
    const { store, share } = this.#options
    if (share.isWhole) return work()
    const reserve = (reservation: string | null) =>
      this.#retryStale(uuid, async ({ record, revision }) => {
        if (reservation !== null) checkUnlocked(record)
        else if (record.reservation !== share.host) return
        await store.commit({ node: uuid, expect: revision, patch: { reservation } })
      })
    await reserve(share.host)
    try {
      return await work()
    } finally {
      await reserve(null).catch((error: unknown) => {
        this.#releaseLater(() => reserve(null))
        throw error
      })
    }
  }

  /** Tries again to release a node, where the database could not be written. */
  #releaseLater(release: () => Promise<void>): void {
    const attempts = async (): Promise<void> => {
      for (let attempt = 1; attempt <= RELEASE_ATTEMPTS; attempt++) {
        await this.#options.clock.sleep(RELEASE_INTERVAL, { weak: true })
        const isReleased = await release().then(
          () => true,
          (error: unknown) => error instanceof IronicError,
        )
        if (isReleased) return
      }
    }
    void attempts()
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

/** Attempts to release a node after a failed one, and milliseconds between them. */
const RELEASE_ATTEMPTS = 600
const RELEASE_INTERVAL = 1000

/** @throws IronicError 409 while the node is reserved */
export function checkUnlocked(node: Readonly<NodeRecord>): void {
  if (node.reservation !== null) throw ironicErrors.nodeLocked(node.uuid, node.reservation)
}
