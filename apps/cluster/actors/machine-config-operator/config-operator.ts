import { isDeepStrictEqual } from 'node:util'
import { defined } from '../../../../base/runtime/index.js'
import {
  conditionOf,
  withConditions,
  type ConditionChange,
  apiVersionOf,
  type ClusterOperator,
  type MachineConfigPool,
  createIfAbsent,
  type ActorParts,
  watchObject,
  type ResourceController,
  type WatchedKind,
} from '../../../../base/kubernetes/index.js'
import { ensureClusterOperator } from '../cluster-operator.js'
import { UPDATE_DEGRADED } from './boot-images/image-conditions.js'
import { INTERNAL_RELEASE, REGISTRY_ACCOUNT } from './internal-release/internal-release-names.js'
import { registryAuths } from './internal-release/registry-auths.js'
import { WAITS_FOR_POOLS } from './machine-config-behaviours.js'
import {
  CLUSTER_OPERATOR,
  GENERATED_BY,
  MACHINE_API,
  MACHINE_CONFIG_OPERATOR,
  nodeRoleLabel,
  OS_IMAGE,
  OWN_SETTINGS,
  REQUIRED_FOR_UPGRADE,
  ROLE,
  ROLES,
  type Role,
} from './machine-config-names.js'
import { isUpdated } from './pool-nodes.js'
import { nameToBeRendered } from './rendered-config.js'
import { templatesOf } from './templates.js'

/**
 * Keeps what the controllers work on: the pools, the MachineConfigs of the release's templates, the user data of new
 * machines; and reports the release once the pools that an upgrade needs have become it.
 */
export class ConfigOperator implements ResourceController {
  readonly name = MACHINE_CONFIG_OPERATOR
  readonly watches: readonly WatchedKind[] = [
    watchObject('ConfigMap', OS_IMAGE, CLUSTER_OPERATOR),
    watchObject('ClusterOperator', CLUSTER_OPERATOR, CLUSTER_OPERATOR),
    { kind: 'MachineConfigPool', keysOf: () => [CLUSTER_OPERATOR] },
    { kind: 'MachineConfig', keysOf: () => [CLUSTER_OPERATOR] },
    watchObject('MachineConfiguration', OWN_SETTINGS, CLUSTER_OPERATOR),
    watchObject('InternalReleaseImage', INTERNAL_RELEASE, CLUSTER_OPERATOR),
    watchObject('Secret', REGISTRY_ACCOUNT, CLUSTER_OPERATOR),
  ]
  readonly #parts: ActorParts
  readonly #serverUrl: string

  /** @param serverUrl where computers at their first boot reach the machine config server */
  constructor(parts: ActorParts, serverUrl: string) {
    this.#parts = parts
    this.#serverUrl = serverUrl
  }

  async reconcile(): Promise<void> {
    const { kube } = this.#parts
    const release = await kube.find('ConfigMap', OS_IMAGE)
    const version = release?.data?.['releaseVersion']
    if (version === undefined) return
    for (const role of ROLES) {
      await this.#syncUserData(role)
      await this.#syncTemplates(role, version)
      await this.#syncPool(role)
    }
    await this.#report(version, (await kube.list('MachineConfigPool')).items)
  }

  async #syncTemplates(role: Role, version: string): Promise<void> {
    const { kube } = this.#parts
    const auths = await registryAuths(this.#parts, version)
    for (const wanted of templatesOf(role, version, auths)) {
      const current = await kube.find('MachineConfig', wanted.metadata)
      if (!current) await createIfAbsent(() => kube.create<'MachineConfig'>(wanted))
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

  async #syncPool(role: Role): Promise<void> {
    const { kube } = this.#parts
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
  async #syncUserData(role: Role): Promise<void> {
    const { kube } = this.#parts
    const at = { name: `${role}-user-data`, namespace: MACHINE_API }
    const merge = [{ source: `${this.#serverUrl}/config/${role}` }]
    // The lowest version of spec 3, which every boot image reads.
    const pointer = JSON.stringify({ ignition: { version: '3.0.0', config: { merge } } })
    const current = await kube.find('Secret', at)
    const userData = Buffer.from(pointer).toString('base64')
    if (!current)
      await createIfAbsent(() =>
        kube.create<'Secret'>({ apiVersion: 'v1', kind: 'Secret', metadata: at, type: 'Opaque', data: { userData } }),
      )
    else if (current.data?.['userData'] !== userData) await kube.patch('Secret', at, { data: { userData } })
  }

  async #report(version: string, pools: readonly MachineConfigPool[]): Promise<void> {
    const { kube, clock, behaviours, announce } = this.#parts
    const found = await ensureClusterOperator(kube, CLUSTER_OPERATOR)
    const known = found.status?.versions.find(({ name }) => name === 'operator')?.version
    const required = behaviours.has(WAITS_FOR_POOLS) ? pools.filter(isRequired) : []
    const isDone = (await Promise.all(required.map((pool) => this.#runsRelease(pool)))).every(Boolean)
    const deployed = isDone ? version : known
    const release = { version, ...defined({ deployed }) }
    const status: NonNullable<ClusterOperator['status']> = {
      versions: deployed === undefined ? [] : [{ name: 'operator', version: deployed }],
      conditions: withConditions(
        found.status?.conditions,
        [
          availableCondition(version, deployed),
          progressingCondition(version, isDone),
          (await this.#imagesFailed(release)) ?? degradedCondition(release, pools),
        ],
        clock,
      ),
    }
    if (isDeepStrictEqual(status, found.status)) return
    await kube.updateStatus<'ClusterOperator'>({ ...found, status })
    if (deployed === known) return
    announce({
      actor: MACHINE_CONFIG_OPERATOR,
      does: `reports ${version}`,
      because: known === undefined ? 'its controllers run' : 'the control plane runs the release',
    })
  }

  /** The boot images of machine sets that cannot be updated (pkg/operator/sync.go syncMachineConfiguration). */
  async #imagesFailed(release: AppliedRelease): Promise<ConditionChange | undefined> {
    const settings = await this.#parts.kube.find('MachineConfiguration', OWN_SETTINGS)
    const failed = conditionOf(settings?.status?.conditions, UPDATE_DEGRADED)
    if (failed?.status !== 'True') return undefined
    return {
      type: 'Degraded',
      status: 'True',
      reason: 'MachineConfigurationFailed',
      message: `${failureBegin(release)}bootimage update failed: ${failed.message ?? ''}`,
    }
  }

  /** True if a pool has the configuration of the release, and not that of the one before. */
  async #runsRelease(pool: MachineConfigPool): Promise<boolean> {
    if (!isUpdated(pool)) return false
    const wanted = await nameToBeRendered(pool, this.#parts)
    return wanted !== undefined && wanted === pool.spec.configuration?.name
  }
}

const isRequired = ({ metadata }: MachineConfigPool): boolean => metadata.labels?.[REQUIRED_FOR_UPGRADE] !== undefined

const availableCondition = (version: string, deployed: string | undefined): ConditionChange =>
  deployed === undefined
    ? { type: 'Available', status: 'False', message: `Cluster has not deployed ${version}` }
    : { type: 'Available', status: 'True', message: `Cluster has deployed [{operator ${deployed}}]` }

const progressingCondition = (version: string, isDone: boolean): ConditionChange =>
  isDone
    ? { type: 'Progressing', status: 'False', message: `Cluster version is ${version}` }
    : { type: 'Progressing', status: 'True', message: `Working towards ${version}` }

/** The release of the operator, and the one that it reports. */
interface AppliedRelease {
  version: string
  deployed?: string
}

/** Beginning of the message of a failure (pkg/operator/status.go syncDegradedStatus). */
const failureBegin = ({ version, deployed }: AppliedRelease): string =>
  deployed === version ? `Failed to resync ${version} because: ` : `Unable to apply ${version}: `

/**
 * The pools in a message have the message of their own condition, which is empty while their configuration is not rendered:
 * only RenderDegraded of the pool says why (pkg/operator/sync.go syncRequiredMachineConfigPools).
 */
function degradedCondition(release: AppliedRelease, pools: readonly MachineConfigPool[]): ConditionChange {
  for (const { metadata, status } of pools) {
    const degraded = conditionOf(status?.conditions, 'Degraded')
    if (!status || degraded?.status !== 'True') continue
    const counts = [
      `pool degraded: true total: ${status.machineCount}`,
      `ready ${status.readyMachineCount}`,
      `updated: ${status.updatedMachineCount}`,
      `unavailable: ${status.unavailableMachineCount}`,
      `reason: ${degraded.message ?? ''}`,
    ].join(', ')
    const pool = `MachineConfigPool ${metadata.name} is not ready, retrying. Status: (${counts})`
    return {
      type: 'Degraded',
      status: 'True',
      reason: 'RequiredPoolsFailed',
      message: `${failureBegin(release)}during syncRequiredMachineConfigPools: [context deadline exceeded, ${pool}]`,
    }
  }
  return { type: 'Degraded', status: 'False' }
}
