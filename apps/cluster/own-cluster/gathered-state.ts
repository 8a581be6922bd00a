import { conditionOf, createIfAbsent, kubeTime, withConditions } from '../../../base/kubernetes/index.js'
import { seconds } from '../../../base/runtime/index.js'
import type { RehearsedCluster } from '../rehearsal/rehearsed-cluster.js'
import type { OwnCluster } from './own-cluster.js'
import { installedStream } from './own-streams.js'
import { refuseLogins } from './own-hosts.js'
import type { OwnClusterOperator } from './own-objects.js'

/** Operators that act in a rehearsal, and say themselves how they are. */
const PLAYED_OPERATORS = ['baremetal', 'machine-api', 'machine-config']

/** Brings an installed cluster into the state in which it was gathered: history, operators, pauses, nodes, logins. */
export async function gatheredState(own: OwnCluster, rehearsed: RehearsedCluster): Promise<void> {
  const { kube } = rehearsed
  await writeHistory(own, rehearsed)
  for (const operator of own.folder.objects.ClusterOperator) await writeOperator(operator, rehearsed)
  for (const { name, isPaused } of own.pools)
    if (isPaused) await kube.patch('MachineConfigPool', { name }, { spec: { paused: true } })
  await writeStreams(own, rehearsed)
  for (const { node } of own.members)
    if (node.spec?.unschedulable === true)
      await kube.patch('Node', { name: node.metadata.name }, { spec: { unschedulable: true } })
  await refuseLogins(own, rehearsed)
  // Operators look at it before an upgrade is asked for.
  await rehearsed.until(rehearsed.clock.sleep(seconds(30)))
}

/** Has pools that could not follow ask for their streams again. */
async function writeStreams(own: OwnCluster, { kube }: RehearsedCluster): Promise<void> {
  for (const pool of own.pools) {
    const { osImageStream } = pool.object.spec
    if (!osImageStream || installedStream(pool, own)?.name === osImageStream.name || own.streams.length === 0) continue
    await kube.patch('MachineConfigPool', { name: pool.name }, { spec: { osImageStream } })
  }
}

/** Puts the releases that the cluster had before the present one behind it. */
async function writeHistory({ history }: OwnCluster, { kube, clock }: RehearsedCluster): Promise<void> {
  const found = await kube.get('ClusterVersion', { name: 'version' })
  const [present] = found.status!.history
  const before = history.slice(1).map(({ version, image, startedTime, completionTime, verified }) => ({
    state: 'Completed' as const,
    version,
    image,
    startedTime: startedTime ?? kubeTime(clock.now()),
    completionTime: completionTime ?? kubeTime(clock.now()),
    verified: verified ?? false,
  }))
  await kube.updateStatus<'ClusterVersion'>({
    ...found,
    status: { ...found.status!, history: [present!, ...before] },
  })
}

/** Makes an operator that is not played say what it said; of one that is, only that it is not upgradeable. */
async function writeOperator({ metadata, status }: OwnClusterOperator, rehearsed: RehearsedCluster): Promise<void> {
  const { kube, clock } = rehearsed
  const { name } = metadata
  const conditions = (status?.conditions ?? []).map(({ type, status: is, reason = '', message = '' }) => ({
    type,
    status: is,
    reason,
    message,
  }))
  const isPlayed = PLAYED_OPERATORS.includes(name)
  const upgradeable = conditions.filter(({ type, status: is }) => type === 'Upgradeable' && is === 'False')
  if (isPlayed && upgradeable.length === 0) return
  if (!isPlayed)
    await createIfAbsent(() =>
      kube.create<'ClusterOperator'>({
        apiVersion: 'config.openshift.io/v1',
        kind: 'ClusterOperator',
        metadata: { name },
        spec: {},
      }),
    )
  const found = await kube.find('ClusterOperator', { name })
  if (!found) return
  await kube.updateStatus<'ClusterOperator'>({
    ...found,
    status: {
      versions: isPlayed ? (found.status?.versions ?? []) : (status?.versions ?? []),
      conditions: withConditions(found.status?.conditions, isPlayed ? upgradeable : conditions, clock),
    },
  })
}

/** The message of a refusal by the version operator; undefined where it has taken the release. */
export async function refusalIn({ kube }: RehearsedCluster): Promise<string | undefined> {
  const { status } = await kube.get('ClusterVersion', { name: 'version' })
  const accepted = conditionOf(status?.conditions, 'ReleaseAccepted')
  return accepted?.status === 'False' ? (accepted.message ?? 'without a reason') : undefined
}
