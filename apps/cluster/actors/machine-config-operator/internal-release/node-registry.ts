import { isDeepStrictEqual } from 'node:util'
import {
  apiVersionOf,
  createIfAbsent,
  KubeRefusal,
  withCondition,
  withConditions,
  type ActorParts,
  type Condition,
  type ConditionChange,
  type MachineConfigNode,
  type ReleaseBundle,
} from '../../../../../base/kubernetes/index.js'
import { defined, seconds } from '../../../../../base/runtime/index.js'
import { NODE_REGISTRY } from '../../../../../base/registry/index.js'
import type { InternalRegistry } from '../../../site/internal-registry.js'
import type { DaemonParts } from '../daemon/update-node.js'
import { releaseOfOperator } from '../cluster-facts.js'
import { REPORTS_INTERNAL_RELEASE } from '../machine-config-behaviours.js'
import { DESIRED_CONFIG } from '../machine-config-names.js'
import { INTERNAL_RELEASE, NODE_RELEASE_DEGRADED, RELEASE_REPOSITORY } from './internal-release-names.js'

// machine-config-operator 7ff337a pkg/daemon/internalreleaseimage/internalreleaseimage_manager.go.

/** `syncRetryInterval` */
const REGISTRY_CHECK_INTERVAL = seconds(60)

/** Reports the registry of a node of the control plane in its MachineConfigNode, until a signal ends it. */
export async function reportNodeRegistry(
  parts: DaemonParts & { registry: InternalRegistry },
  signal: AbortSignal,
): Promise<void> {
  const { kube, clock, behaviours, registry, machine, logger, node } = parts
  while (!signal.aborted) {
    const release = await releaseOfOperator(kube)
    const isPlayed = release !== undefined && behaviours.of(release).has(REPORTS_INTERNAL_RELEASE)
    try {
      if (isPlayed && registry.isOfControlPlane(machine)) await reportOnce(parts)
    } catch (error) {
      // Another client has changed or deleted the object: the next look is in a minute.
      if (!(error instanceof KubeRefusal)) throw error
      logger('debug', `the registry of ${node} is not reported: ${error.message}`)
    }
    await clock.sleep(REGISTRY_CHECK_INTERVAL, { signal }).catch(() => {})
  }
}

async function reportOnce(parts: DaemonParts & { registry: InternalRegistry }): Promise<void> {
  const { kube, node: name } = parts
  const cluster = await kube.find('InternalReleaseImage', INTERNAL_RELEASE)
  const isPresent = cluster !== undefined && cluster.metadata.deletionTimestamp === undefined
  const report =
    (await kube.find('MachineConfigNode', { name })) ?? (isPresent ? await createdReport(parts) : undefined)
  if (!report) return
  const status = isPresent ? registryStatus(report, parts) : clearedStatus(report, parts)
  if (status === undefined || isDeepStrictEqual(status, report.status)) return
  await kube.updateStatus<'MachineConfigNode'>({ ...report, status })
}

/** MachineConfigNodes of a rehearsal are of nodes with a registry alone. */
async function createdReport({ kube, node: name }: DaemonParts): Promise<MachineConfigNode> {
  const node = await kube.find('Node', { name })
  const desired = node?.metadata.annotations?.[DESIRED_CONFIG] ?? ''
  await createIfAbsent(() =>
    kube.create<'MachineConfigNode'>({
      apiVersion: apiVersionOf('MachineConfigNode'),
      kind: 'MachineConfigNode',
      metadata: { name },
      spec: { node: { name }, pool: { name: 'master' }, configVersion: { desired } },
    }),
  )
  return kube.get('MachineConfigNode', { name })
}

type NodeStatus = MachineConfigNode['status']

function registryStatus(
  { status }: MachineConfigNode,
  { clock, machine, registry }: DaemonParts & { registry: InternalRegistry },
): NodeStatus {
  const isServed = registry.servesOn(machine)
  const failure = `registry query https://${NODE_REGISTRY}/v2 failed with error: Get "https://${NODE_REGISTRY}/v2": dial tcp [::1]:22625: connect: connection refused`
  const known = status?.internalReleaseImage?.releases ?? []
  const names = isServed ? registry.bundles.map(({ name }) => name) : known.map(({ name }) => name)
  if (!isServed && known.length === 0) return undefined
  const releases = names.map((name): ReleaseBundle => {
    const before = known.find((release) => release.name === name)
    const bundle = registry.bundles.find((each) => each.name === name)
    const image = bundle ? `${NODE_REGISTRY}/${RELEASE_REPOSITORY}@${bundle.digest}` : before?.image
    const conditions = bundleConditions(before?.conditions, isServed ? undefined : failure, clock)
    return { name, conditions, ...defined({ image }) }
  })
  const degraded: ConditionChange = isServed
    ? condition(NODE_RELEASE_DEGRADED, 'False', 'AllReleasesAvailable', 'All the release images are available')
    : condition(NODE_RELEASE_DEGRADED, 'True', 'RegistryUnreachable', failure)
  return {
    ...status,
    conditions: withCondition(status?.conditions, degraded, clock),
    internalReleaseImage: { releases },
  }
}

function bundleConditions(
  before: readonly Condition[] | undefined,
  failure: string | undefined,
  clock: ActorParts['clock'],
): Condition[] {
  const reason = failure === undefined ? 'ReleaseImageAvailable' : 'RegistryUnreachable'
  const changes =
    failure === undefined
      ? [
          condition('Degraded', 'False', reason, reason),
          condition('Available', 'True', reason, 'The specified release image is available'),
        ]
      : [
          condition('Degraded', 'True', reason, failure),
          condition('Available', 'False', reason, 'Release bundle is unavailable: failed to reach the registry'),
        ]
  return withConditions(before, changes, clock)
}

const condition = (type: string, status: 'True' | 'False', reason: string, message: string): ConditionChange => ({
  type,
  status,
  reason,
  message,
})

/** Nothing is reported any more once the object is gone and the registry has stopped. */
function clearedStatus(
  { status }: MachineConfigNode,
  { machine, registry }: DaemonParts & { registry: InternalRegistry },
): NodeStatus {
  if (!status?.internalReleaseImage || registry.servesOn(machine)) return undefined
  return { conditions: (status.conditions ?? []).filter(({ type }) => type !== NODE_RELEASE_DEGRADED) }
}
