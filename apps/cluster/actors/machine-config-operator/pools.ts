import { isDeepStrictEqual } from 'node:util'
import { apiVersionOf } from '../../kube/kinds.js'
import type { MachineConfig, MachineConfigPool } from '../../kube/kinds/machine-config-kinds.js'
import { isRefusal } from '../../kube/kube-refusal.js'
import { runActor, type ActorParts } from '../actor.js'
import { HONOURS_PAUSE, RESPECTS_MAX_UNAVAILABLE } from './machine-config-behaviours.js'
import { DESIRED_CONFIG, GENERATED_BY, MACHINE_CONFIG_OPERATOR, OS_IMAGE } from './machine-config-names.js'
import { nodesToUpdate, isUpdated, nodesOf, poolStatus } from './pool-nodes.js'
import { renderedConfig } from './rendered-config.js'

/**
 * The controllers of the pools: one renders the MachineConfigs of a pool into one, the other has as many nodes of the pool
 * become it as may be away at a time, and counts how far they are.
 */
export function runPoolController(parts: ActorParts): AsyncDisposable {
  const { kube, clock, behaviours, announce } = parts

  const allPools = async () =>
    (await kube.list('MachineConfigPool')).items.map(({ metadata }) => ({ name: metadata.name }))

  /** Renders the configuration of a pool, and makes it the one that the pool asks for. */
  const rendered = async (pool: MachineConfigPool): Promise<MachineConfigPool> => {
    const wanted = await renderedConfig(pool, kube)
    if (!wanted) return pool
    const { name, spec, releaseVersion } = wanted
    if (!(await kube.find('MachineConfig', { name }))) await create(name, spec, releaseVersion, pool)
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

  const create = async (
    name: string,
    spec: MachineConfig['spec'],
    releaseVersion: string,
    { metadata }: MachineConfigPool,
  ): Promise<void> => {
    const owner = { apiVersion: apiVersionOf('MachineConfigPool'), kind: 'MachineConfigPool', controller: true }
    try {
      await kube.create<'MachineConfig'>({
        apiVersion: apiVersionOf('MachineConfig'),
        kind: 'MachineConfig',
        spec,
        metadata: {
          name,
          annotations: { [GENERATED_BY]: releaseVersion },
          ownerReferences: [{ ...owner, name: metadata.name, uid: metadata.uid }],
        },
      })
    } catch (error) {
      if (!isRefusal(error, 409)) throw error
    }
  }

  const reconcile = async (name: string): Promise<void> => {
    const found = await kube.find('MachineConfigPool', { name })
    if (!found || found.metadata.deletionTimestamp !== undefined) return
    const pool = await rendered(found)
    const nodes = nodesOf(pool, (await kube.list('Node')).items)
    const status = poolStatus(pool, nodes, clock)
    if (!isDeepStrictEqual(status, pool.status)) {
      const saved = await kube.updateStatus<'MachineConfigPool'>({ ...pool, status })
      if (isUpdated(saved) && !isUpdated(pool) && nodes.length > 0)
        announce({
          actor: MACHINE_CONFIG_OPERATOR,
          does: `counts pool ${name} as updated`,
          because: 'all of its nodes are done',
        })
    }
    if (pool.spec.paused && behaviours.has(HONOURS_PAUSE)) return
    const most = behaviours.has(RESPECTS_MAX_UNAVAILABLE) ? Math.max(1, pool.spec.maxUnavailable ?? 1) : Infinity
    for (const node of nodesToUpdate(pool, nodes, most)) {
      const wanted = pool.spec.configuration!.name!
      announce({
        actor: MACHINE_CONFIG_OPERATOR,
        does: `asks ${node.metadata.name} to become ${shortenRendered(wanted)}`,
        because: most === Infinity ? `pool ${name} wants it` : `pool ${name} may have ${most} nodes away`,
      })
      await kube.patch(
        'Node',
        { name: node.metadata.name },
        { metadata: { annotations: { [DESIRED_CONFIG]: wanted } } },
      )
    }
  }

  return runActor(
    {
      name: `${MACHINE_CONFIG_OPERATOR}: pools`,
      watches: [
        { kind: 'MachineConfigPool' },
        ...(['MachineConfig', 'Node'] as const).map((kind) => ({ kind, keysOf: allPools })),
        { kind: 'ConfigMap', keysOf: (at) => (at.name === OS_IMAGE.name ? allPools() : []) },
      ],
      reconcile: ({ name }) => reconcile(name),
    },
    parts,
  )
}

/** A rendered configuration's name with the beginning of its hash. */
export const shortenRendered = (rendered: string): string =>
  rendered.replace(/^(rendered-.*-[0-9a-f]{6})[0-9a-f]{26}$/, '$1')
