import { isDeepStrictEqual } from 'node:util'
import { defined } from '../../../../base/runtime/index.js'
import {
  apiVersionOf,
  conditionOf,
  type KubeNode,
  type MachineConfig,
  type MachineConfigPool,
  type ObjectName,
  createIfAbsent,
  type NewObject,
  type ActorParts,
  type ResourceController,
  type WatchedKind,
} from '../../../../base/kubernetes/index.js'
import { HONOURS_PAUSE, RESPECTS_MAX_UNAVAILABLE } from './machine-config-behaviours.js'
import { DESIRED_CONFIG, GENERATED_BY, MACHINE_CONFIG_OPERATOR, OS_IMAGE } from './machine-config-names.js'
import { nodesToUpdate, isUpdated, nodesOf, poolStatus } from './pool-nodes.js'
import { mostUnavailable } from './primary-pool.js'
import { renderedConfig, type RenderedConfig } from './rendered-config.js'
import { PoolRefusal, renderedStream } from './streams/os-streams.js'

/**
 * The controllers of the pools: one renders the MachineConfigs of a pool into one, the other has as many nodes of the pool
 * become it as may be away at a time, and counts how far they are.
 */
export class PoolController implements ResourceController {
  readonly name = `${MACHINE_CONFIG_OPERATOR}: pools`
  readonly watches: readonly WatchedKind[] = [
    { kind: 'MachineConfigPool' },
    { kind: 'MachineConfig', keysOf: () => this.#allPools() },
    { kind: 'Node', keysOf: () => this.#allPools() },
    { kind: 'ConfigMap', keysOf: (at) => (at.name === OS_IMAGE.name ? this.#allPools() : []) },
    { kind: 'OSImageStream', keysOf: () => this.#allPools() },
  ]
  readonly #parts: ActorParts

  constructor(parts: ActorParts) {
    this.#parts = parts
  }

  async reconcile({ name }: ObjectName): Promise<void> {
    const { kube, clock } = this.#parts
    const found = await kube.find('MachineConfigPool', { name })
    if (!found || found.metadata.deletionTimestamp !== undefined) return
    const { pool, refusal } = await this.#renderConfig(found)
    const { items: pools } = await kube.list('MachineConfigPool')
    const nodes = nodesOf(pool, (await kube.list('Node')).items, pools)
    const stream = await renderedStream(pool, kube)
    const status = poolStatus(pool, nodes, { clock, ...defined({ refusal, stream }) })
    if (!isDeepStrictEqual(status, pool.status)) await this.#saveStatus(pool, status)
    await this.#updateNodes(pool, nodes)
  }

  async #allPools(): Promise<ObjectName[]> {
    const { items } = await this.#parts.kube.list('MachineConfigPool')
    return items.map(({ metadata }) => ({ name: metadata.name }))
  }

  /** Renders the configuration of a pool, and makes it the one that the pool asks for; or says why it is not rendered. */
  async #renderConfig(pool: MachineConfigPool): Promise<{ pool: MachineConfigPool; refusal?: string }> {
    try {
      const wanted = await renderedConfig(pool, this.#parts)
      return { pool: wanted ? await this.#askFor(wanted, pool) : pool }
    } catch (error) {
      if (!(error instanceof PoolRefusal)) throw error
      const refusal = `Failed to render configuration for pool ${pool.metadata.name}: ${error.message}`
      this.#announceRefusal(pool, refusal)
      return { pool, refusal }
    }
  }

  #announceRefusal({ metadata: { name }, status }: MachineConfigPool, refusal: string): void {
    if (conditionOf(status?.conditions, 'RenderDegraded')?.message === refusal) return
    this.#parts.announce({ actor: MACHINE_CONFIG_OPERATOR, does: `renders nothing for pool ${name}`, because: refusal })
  }

  async #askFor(wanted: RenderedConfig, pool: MachineConfigPool): Promise<MachineConfigPool> {
    const { kube, announce } = this.#parts
    const { name, releaseVersion } = wanted
    if (!(await kube.find('MachineConfig', { name })))
      await createIfAbsent(() => kube.create<'MachineConfig'>(newRenderedConfig(wanted, pool)))
    if (pool.spec.configuration?.name === name) return pool
    const isFirst = pool.spec.configuration === undefined
    announce({
      actor: MACHINE_CONFIG_OPERATOR,
      does: `renders ${shortenRendered(name)} for pool ${pool.metadata.name}`,
      because: isFirst
        ? `it is the configuration of ${releaseVersion}`
        : `the configuration of ${releaseVersion} differs`,
    })
    return kube.patch('MachineConfigPool', { name: pool.metadata.name }, { spec: { configuration: { name } } })
  }

  async #saveStatus(pool: MachineConfigPool, status: NonNullable<MachineConfigPool['status']>): Promise<void> {
    const { kube, announce } = this.#parts
    const saved = await kube.updateStatus<'MachineConfigPool'>({ ...pool, status })
    if (isUpdated(saved) && !isUpdated(pool) && status.machineCount > 0)
      announce({
        actor: MACHINE_CONFIG_OPERATOR,
        does: `counts pool ${pool.metadata.name} as updated`,
        because: 'all of its nodes are done',
      })
  }

  /** Asks as many nodes to become the pool's configuration as may be away at a time. */
  async #updateNodes(pool: MachineConfigPool, nodes: readonly KubeNode[]): Promise<void> {
    const { kube, behaviours, announce } = this.#parts
    const { name } = pool.metadata
    if (pool.spec.paused && behaviours.has(HONOURS_PAUSE)) return
    const most = behaviours.has(RESPECTS_MAX_UNAVAILABLE)
      ? mostUnavailable(pool.spec.maxUnavailable, nodes.length)
      : Infinity
    for (const node of nodesToUpdate(pool, nodes, most)) {
      const wanted = pool.spec.configuration!.name!
      announce({
        actor: MACHINE_CONFIG_OPERATOR,
        does: `tells ${node.metadata.name} to switch to ${shortenRendered(wanted)}`,
        because: most === Infinity ? `pool ${name} wants it` : `maxUnavailable of pool ${name} is ${most}`,
      })
      await kube.patch(
        'Node',
        { name: node.metadata.name },
        { metadata: { annotations: { [DESIRED_CONFIG]: wanted } } },
      )
    }
  }
}

const newRenderedConfig = (
  { name, spec, releaseVersion }: RenderedConfig,
  { metadata }: MachineConfigPool,
): NewObject<MachineConfig> & { kind: 'MachineConfig' } => ({
  apiVersion: apiVersionOf('MachineConfig'),
  kind: 'MachineConfig',
  spec,
  metadata: {
    name,
    annotations: { [GENERATED_BY]: releaseVersion },
    ownerReferences: [
      {
        apiVersion: apiVersionOf('MachineConfigPool'),
        kind: 'MachineConfigPool',
        controller: true,
        name: metadata.name,
        uid: metadata.uid,
      },
    ],
  },
})

/** A rendered configuration's name with the beginning of its hash. */
export const shortenRendered = (rendered: string): string =>
  rendered.replace(/^(rendered-.*-[0-9a-f]{6})[0-9a-f]{26}$/, '$1')
