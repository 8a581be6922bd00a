import {
  randomUuid as newUuid,
  waitInQueue,
  type Clock,
  type Logger,
  type Random,
} from '../../../base/runtime/index.js'
import {
  ironicErrors,
  IronicError,
  pythonRepr,
  type AllocationRecord,
  type NodeRecord,
} from '../../../base/wire/index.js'
import type { NodeEntry } from '../../store/record-store.js'
import type { WorkShare } from '../../members/work-share.js'
import type { StoreView } from '../../store/open-store.js'
import { Duplicate, StaleRevision, type Store } from '../../store/store.js'
import type { NewAllocation } from '../core/conductor.js'
import { checkConductors, checkServedOf, type CheckServed } from './check-served.js'
import { checkUnlocked } from './node-admin.js'
import { toApiError } from './store-errors.js'
import type { ConductorConf } from '../core/conductor-conf.js'
import { retryWhileLocked } from '../core/retry-while-locked.js'
import { formatTimestamp } from '../core/timestamps.js'
import { UPDATE_ALLOWED } from '../core/transitions.js'

export interface AllocationOptions {
  store: Store & StoreView
  clock: Clock
  random: Random
  logger: Logger
  share: WorkShare
  conf: ConductorConf
}

/** Milliseconds between looks for allocations that other processes have accepted. */
const FOLLOW_INTERVAL = 250
/** `[conductor]check_allocations_interval`: looks for those of processes that have died. */
const ORPHANS_INTERVAL = 60_000

/** `[conductor]node_locked_retry_attempts` and `node_locked_retry_interval`, in milliseconds. */
const NODE_LOCK_ATTEMPTS = 3
const NODE_LOCK_RETRY_INTERVAL = 1000

/** Allocations: of a node that matches resource class and traits, or by backfill for a node that is already in use. */
export class Allocations {
  readonly #options: AllocationOptions
  readonly #stopped: AbortSignal
  readonly #checkServed: CheckServed
  /** Allocations whose node is being looked for here. */
  readonly #searching = new Set<string>()

  constructor(options: AllocationOptions, stopped: AbortSignal) {
    this.#options = options
    this.#stopped = stopped
    this.#checkServed = checkServedOf(options)
  }

  /** Continues the allocations of an earlier process, and of others. */
  recover(): void {
    this.#searchAll()
    const { share, clock, logger, store } = this.#options
    if (share.isWhole) return
    const follow = async (): Promise<void> => {
      let seen = store.records.resources('allocation').lastId
      let checkedAt = clock.now()
      for (;;) {
        await clock.sleep(FOLLOW_INTERVAL, { weak: true, signal: this.#stopped })
        const { lastId } = store.records.resources('allocation')
        if (lastId === seen && clock.now() - checkedAt < ORPHANS_INTERVAL) continue
        seen = lastId
        checkedAt = clock.now()
        this.#searchAll()
      }
    }
    follow().catch((error: unknown) => {
      if (!this.#stopped.aborted) logger('error', 'the search for nodes of allocations has stopped', { error })
    })
  }

  #searchAll(): void {
    const { store } = this.#options
    for (const { uuid, state } of store.records.resources('allocation').byUuid.values())
      if (state === 'allocating') this.#inBackground(uuid)
  }

  async allocate(fields: NewAllocation, backfill?: string): Promise<AllocationRecord> {
    const { store, random, share } = this.#options
    // Upstream hands a backfill to the conductor of the node, and any other allocation to some conductor.
    if (backfill === undefined) checkConductors(share)
    else this.#checkServed(backfill)
    const allocation = await store
      .createResource('allocation', newAllocation(fields, fields.uuid ?? newUuid(random), this.#now))
      .catch(toApiError())
    if (backfill === undefined) {
      this.#inBackground(allocation.uuid)
      return allocation
    }
    try {
      await retryWhileLocked(this.#options, this.#stopped, () => this.#backfill(allocation, backfill))
    } catch (error) {
      if (error instanceof IronicError) await this.#fail(allocation.uuid, error.message)
      throw error
    }
    return store.records.resources('allocation').byUuid.get(allocation.uuid) ?? allocation
  }

  async remove(uuid: string): Promise<void> {
    const { store, share } = this.#options
    checkConductors(share)
    for (;;) {
      const allocation = store.records.resources('allocation').byUuid.get(uuid)
      if (!allocation) throw ironicErrors.resourceGone('allocation', uuid)
      const entry = store.records.nodes.get(allocation.node_uuid ?? '')
      if (!entry) return void (await store.removeResource('allocation', uuid))
      checkUnlocked(entry.record)
      mayRelease(entry.record, allocation)
      const patch = { instance_uuid: null, allocation_id: null, updated_at: this.#now }
      if (await this.#committed(entry, { patch })) return
    }
  }

  /** Looks for the node of an allocation, unless another process does. */
  #inBackground(uuid: string): void {
    const { logger, share } = this.#options
    if (this.#searching.has(uuid) || !share.ownsAllocation(uuid)) return
    this.#searching.add(uuid)
    this.#claim(uuid)
      .catch(async (error: unknown) => {
        // The uuid is the instance of another node already.
        if (error instanceof Duplicate)
          return this.#fail(uuid, `Unexpected exception during allocation: ${error.message}`)
        if (!this.#stopped.aborted) logger('error', `allocation ${uuid} could not be processed`, { error })
      })
      .finally(() => this.#searching.delete(uuid))
  }

  /** Takes one of the candidates; locked ones are retried. */
  async #claim(uuid: string): Promise<void> {
    const { store, clock, random } = this.#options
    const allocation = () => store.records.resources('allocation').byUuid.get(uuid)
    const wanted = allocation()
    if (!wanted) return
    const suitable = this.#candidates(wanted)
    if (typeof suitable === 'string') return this.#fail(uuid, describeAllocationFailure(uuid, suitable))
    const named = (node: string) => wanted.name !== null && store.records.nodes.get(node)?.record.name === wanted.name
    // In random order, after a node with the allocation's name.
    let nodes = shuffled(suitable, random).sort((a, b) => Number(named(b)) - Number(named(a)))
    let why = ''
    for (let attempt = 1; attempt <= NODE_LOCK_ATTEMPTS; attempt++) {
      if (attempt > 1) await clock.sleep(NODE_LOCK_RETRY_INTERVAL, { signal: this.#stopped })
      const locked: string[] = []
      for (const node of nodes) {
        const current = allocation()
        if (!current || current.state !== 'allocating') return
        const entry = store.records.nodes.get(node)
        if (!entry || !isFree(entry.record, current)) continue
        if (entry.record.reservation !== null) locked.push(node)
        else if (await this.#take(entry, current)) return
        else locked.push(node)
      }
      nodes = locked
      why =
        locked.length > 0
          ? `could not reserve any of ${locked.length} suitable nodes`
          : 'all nodes were filtered out during reservation'
    }
    await this.#fail(uuid, describeAllocationFailure(uuid, why))
  }

  /** UUIDs of the matching nodes, or the reason why there are none. */
  #candidates({ resource_class, candidate_nodes, traits, owner }: AllocationRecord): string[] | string {
    const nodes = [...this.#options.store.records.nodes.values()]
      .map(({ record }) => record)
      .filter(
        (node) =>
          node.resource_class === resource_class &&
          node.provision_state === 'available' &&
          node.instance_uuid === null &&
          node.power_state !== null &&
          !node.maintenance &&
          (candidate_nodes.length === 0 || candidate_nodes.includes(node.uuid)) &&
          (owner === null || node.owner === owner || node.lessee === owner),
      )
    if (nodes.length === 0)
      return candidate_nodes.length > 0
        ? `none of the requested nodes are available and match the resource class ${resource_class}`
        : `no available nodes match the resource class ${resource_class}`
    const having = nodes.filter((node) => hasTraits(node, traits))
    if (having.length === 0) return `no suitable nodes have the requested traits ${traits.join(', ')}`
    return having.map(({ uuid }) => uuid)
  }

  async #take(entry: NodeEntry, allocation: AllocationRecord): Promise<boolean> {
    const node = entry.record
    return this.#committed(entry, {
      patch: {
        instance_uuid: allocation.uuid,
        allocation_id: allocation.id,
        instance_info: { ...node.instance_info, traits: allocation.traits },
        updated_at: this.#now,
      },
      resources: [
        {
          do: 'patch',
          kind: 'allocation',
          uuid: allocation.uuid,
          patch: { state: 'active', node_id: node.id, node_uuid: node.uuid, last_error: null, updated_at: this.#now },
        },
      ],
    })
  }

  async #backfill(allocation: AllocationRecord, uuid: string): Promise<void> {
    for (;;) {
      const entry = this.#options.store.records.nodes.get(uuid)
      if (!entry) throw Object.assign(ironicErrors.nodeNotFound(uuid), { status: 400 })
      const node = entry.record
      checkUnlocked(node)
      const errors = backfillProblems(node, allocation)
      // Upstream answers 500 here.
      if (errors.length > 0)
        throw new IronicError(
          400,
          describeAllocationFailure(
            allocation.uuid,
            `Cannot backfill an allocation for node ${uuid}: ${errors.join('; ')}`,
          ),
        )
      if (node.instance_uuid !== null && node.instance_uuid !== allocation.uuid)
        throw new IronicError(409, `Node ${uuid} is associated with instance ${node.instance_uuid}.`)
      if (await this.#take(entry, allocation).catch(toApiError(uuid))) return
    }
  }

  /** False when another writer changed the node first. */
  async #committed(entry: NodeEntry, change: Partial<Parameters<Store['commit']>[0]>): Promise<boolean> {
    try {
      await this.#options.store.commit({ node: entry.record.uuid, expect: entry.revision, ...change })
      return true
    } catch (error) {
      if (!(error instanceof StaleRevision)) throw error
      await waitInQueue(this.#options.clock)
      return false
    }
  }

  async #fail(uuid: string, last_error: string): Promise<void> {
    const fields = { state: 'error', last_error, node_id: null, node_uuid: null, updated_at: this.#now } as const
    await this.#options.store.updateResource('allocation', uuid, ({ state }) => (state === 'active' ? {} : fields))
  }

  get #now(): string {
    return formatTimestamp(this.#options.clock.now())
  }
}

const describeAllocationFailure = (uuid: string, why: string): string => `Failed to process allocation ${uuid}: ${why}.`

const hasTraits = (node: NodeRecord, traits: readonly string[]): boolean =>
  traits.every((trait) => node.traits.includes(trait))

const isFree = (node: NodeRecord, { resource_class, traits }: AllocationRecord): boolean =>
  !node.maintenance &&
  node.instance_uuid === null &&
  node.provision_state === 'available' &&
  node.resource_class === resource_class &&
  hasTraits(node, traits)

function shuffled(nodes: readonly string[], random: Random): string[] {
  const out = [...nodes]
  for (let i = out.length - 1; i > 0; i--) {
    const j = Math.floor(random.next() * (i + 1))
    ;[out[i], out[j]] = [out[j]!, out[i]!]
  }
  return out
}

function backfillProblems(node: NodeRecord, { resource_class, traits, candidate_nodes }: AllocationRecord): string[] {
  const problems: string[] = []
  if (node.provision_state !== 'active')
    problems.push(`Node must be in the "active" state, but the current state is "${node.provision_state}"`)
  if (resource_class !== null && node.resource_class !== resource_class)
    problems.push(
      `Resource class ${node.resource_class ?? 'None'} does not match the requested resource class ${resource_class}`,
    )
  if (!hasTraits(node, traits))
    problems.push(`List of traits ${pythonRepr(node.traits)} does not match the requested traits ${pythonRepr(traits)}`)
  if (candidate_nodes.length > 0 && !candidate_nodes.includes(node.uuid))
    problems.push(`Candidate nodes must be empty or contain the target node, but got ${pythonRepr(candidate_nodes)}`)
  return problems
}

function mayRelease(node: NodeRecord, { uuid }: AllocationRecord): void {
  if (node.maintenance) return
  const sentence = (why: string) =>
    new IronicError(
      409,
      `Cannot remove allocation ${uuid} for node ${node.uuid}, because the node is ${why} (and maintenance mode is off)`,
    )
  if (node.target_provision_state !== null && !UPDATE_ALLOWED.includes(node.provision_state))
    throw sentence(`in state ${node.provision_state} where updates are not allowed`)
  if (node.provision_state === 'active') throw sentence('active')
}

function newAllocation(fields: NewAllocation, uuid: string, at: string): Omit<AllocationRecord, 'id'> {
  return {
    name: null,
    resource_class: null,
    traits: [],
    candidate_nodes: [],
    extra: {},
    owner: null,
    ...fields,
    uuid,
    node_id: null,
    node_uuid: null,
    state: 'allocating',
    last_error: null,
    created_at: at,
    updated_at: null,
  }
}
