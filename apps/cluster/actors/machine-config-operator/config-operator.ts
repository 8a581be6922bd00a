import { isDeepStrictEqual } from 'node:util'
import { conditionOf, withCondition } from '../../kube/conditions.js'
import { apiVersionOf } from '../../kube/kinds.js'
import type { ClusterOperator } from '../../kube/kinds/config-kinds.js'
import type { MachineConfigPool } from '../../kube/kinds/machine-config-kinds.js'
import type { Condition } from '../../kube/object.js'
import { isRefusal } from '../../kube/kube-refusal.js'
import { runActor, type ActorParts } from '../actor.js'
import { WAITS_FOR_POOLS } from './machine-config-behaviours.js'
import {
  CLUSTER_OPERATOR,
  GENERATED_BY,
  MACHINE_API,
  MACHINE_CONFIG_OPERATOR,
  nodeRoleLabel,
  OS_IMAGE,
  REQUIRED_FOR_UPGRADE,
  ROLE,
  ROLES,
  type Role,
} from './machine-config-names.js'
import { isUpdated } from './pool-nodes.js'
import { renderedConfig } from './rendered-config.js'
import { templatesOf } from './templates.js'

const CONFIG_OPERATOR_NAME = CLUSTER_OPERATOR

/**
 * Keeps what the controllers work on: the pools, the MachineConfigs of the release's templates, the user data of new
 * machines; and reports the release once the pools that an upgrade needs have become it.
 *
 * @param serverUrl where computers at their first boot reach the machine config server
 */
export function runConfigOperator(parts: ActorParts, serverUrl: string): AsyncDisposable {
  const { kube, clock, behaviours, announce } = parts

  const syncTemplates = async (role: Role, version: string): Promise<void> => {
    for (const wanted of templatesOf(role, version)) {
      const current = await kube.find('MachineConfig', wanted.metadata)
      if (!current) await unlessThere(() => kube.create<'MachineConfig'>(wanted))
      else if (
        current.metadata.annotations?.[GENERATED_BY] !== version ||
        !isDeepStrictEqual(current.spec, JSON.parse(JSON.stringify(wanted.spec)))
      )
        await kube.update<'MachineConfig'>({
          ...current,
          spec: wanted.spec,
          metadata: { ...current.metadata, annotations: { ...current.metadata.annotations, [GENERATED_BY]: version } },
        })
    }
  }

  const syncPool = async (role: Role): Promise<void> => {
    if (await kube.find('MachineConfigPool', { name: role })) return
    const labels = role === 'master' ? { [REQUIRED_FOR_UPGRADE]: '' } : {}
    await kube.create<'MachineConfigPool'>({
      apiVersion: apiVersionOf('MachineConfigPool'),
      kind: 'MachineConfigPool',
      metadata: { name: role, labels },
      spec: {
        machineConfigSelector: { matchLabels: { [ROLE]: role } },
        nodeSelector: { matchLabels: { [nodeRoleLabel(role)]: '' } },
      },
    })
  }

  /** The pointer that new machines are installed with: it says where their configuration is. */
  const syncUserData = async (role: Role): Promise<void> => {
    const at = { name: `${role}-user-data`, namespace: MACHINE_API }
    const merge = [{ source: `${serverUrl}/config/${role}` }]
    // The lowest version of spec 3, which every boot image reads.
    const pointer = JSON.stringify({ ignition: { version: '3.0.0', config: { merge } } })
    const current = await kube.find('Secret', at)
    const userData = Buffer.from(pointer).toString('base64')
    if (!current)
      await unlessThere(() =>
        kube.create<'Secret'>({ apiVersion: 'v1', kind: 'Secret', metadata: at, type: 'Opaque', data: { userData } }),
      )
    else if (current.data?.['userData'] !== userData) await kube.patch('Secret', at, { data: { userData } })
  }

  const report = async (version: string, pools: readonly MachineConfigPool[]): Promise<void> => {
    const found =
      (await kube.find('ClusterOperator', CONFIG_OPERATOR_NAME)) ??
      (await kube.create<'ClusterOperator'>({
        apiVersion: apiVersionOf('ClusterOperator'),
        kind: 'ClusterOperator',
        metadata: CONFIG_OPERATOR_NAME,
        spec: {},
      }))
    const required = pools.filter(({ metadata }) => metadata.labels?.[REQUIRED_FOR_UPGRADE] !== undefined)
    const isThere = behaviours.has(WAITS_FOR_POOLS)
      ? await Promise.all(required.map(async (pool) => isUpdated(pool) && (await rendersRelease(pool))))
      : []
    const isDone = isThere.every(Boolean)
    const before = found.status
    const known = before?.versions.find(({ name }) => name === 'operator')?.version
    const at = isDone ? version : known
    const degraded = pools.filter(({ status }) => conditionOf(status?.conditions, 'Degraded')?.status === 'True')
    const status: NonNullable<ClusterOperator['status']> = {
      versions: at === undefined ? [] : [{ name: 'operator', version: at }],
      conditions: conditionsOf({ isDone, at, version, degraded, before: before?.conditions }),
    }
    if (isDeepStrictEqual(status, before)) return
    await kube.updateStatus<'ClusterOperator'>({ ...found, status })
    if (at === known) return
    const because = known === undefined ? 'its controllers run' : 'the control plane runs the release'
    announce({ actor: MACHINE_CONFIG_OPERATOR, does: `reports ${version}`, because })
  }

  /** Whether a pool's configuration is that of the release, and not of the one before. */
  const rendersRelease = async (pool: MachineConfigPool): Promise<boolean> => {
    const wanted = await renderedConfig(pool, kube)
    return wanted !== undefined && wanted.name === pool.spec.configuration?.name
  }

  const conditionsOf = (now: {
    isDone: boolean
    at: string | undefined
    version: string
    degraded: readonly MachineConfigPool[]
    before: readonly Condition[] | undefined
  }): Condition[] => {
    const { isDone, at, version, degraded } = now
    const [pool] = degraded
    const name = pool?.metadata.name ?? ''
    const why = pool && conditionOf(pool.status?.conditions, 'Degraded')?.message
    let conditions = now.before
    for (const condition of [
      at === undefined
        ? { type: 'Available', status: 'False' as const, message: `Cluster has not deployed ${version}` }
        : { type: 'Available', status: 'True' as const, message: `Cluster has deployed [{operator ${at}}]` },
      isDone
        ? { type: 'Progressing', status: 'False' as const, message: `Cluster version is ${version}` }
        : { type: 'Progressing', status: 'True' as const, message: `Working towards ${version}` },
      pool
        ? {
            type: 'Degraded',
            status: 'True' as const,
            reason: 'RequiredPoolsFailed',
            message: `Unable to apply ${version}: error during syncRequiredMachineConfigPools: ${name}: ${why ?? ''}`,
          }
        : { type: 'Degraded', status: 'False' as const },
    ])
      conditions = withCondition(conditions, condition, clock)
    return conditions ? [...conditions] : []
  }

  const reconcile = async (): Promise<void> => {
    const release = await kube.find('ConfigMap', OS_IMAGE)
    const version = release?.data?.['releaseVersion']
    if (version === undefined) return
    for (const role of ROLES) {
      await syncUserData(role)
      await syncTemplates(role, version)
      await syncPool(role)
    }
    const all = (await kube.list('MachineConfigPool')).items
    await report(version, all)
  }

  const here = () => [CONFIG_OPERATOR_NAME]
  return runActor(
    {
      name: MACHINE_CONFIG_OPERATOR,
      watches: [
        { kind: 'ConfigMap', keysOf: (at) => (at.name === OS_IMAGE.name ? here() : []) },
        { kind: 'ClusterOperator', keysOf: (at) => (at.name === CONFIG_OPERATOR_NAME.name ? here() : []) },
        { kind: 'MachineConfigPool', keysOf: here },
        { kind: 'MachineConfig', keysOf: here },
      ],
      reconcile,
    },
    parts,
  )
}

async function unlessThere(create: () => Promise<unknown>): Promise<void> {
  try {
    await create()
  } catch (error) {
    if (!isRefusal(error, 409)) throw error
  }
}
