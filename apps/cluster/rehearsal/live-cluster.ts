import { seconds, type Clock, type Logger } from '../../../base/runtime/index.js'
import type { ClusterEra, Kube } from '../../../base/kubernetes/index.js'
import { OPERATORS, type OperatorName } from './acting-operators.js'
import { installCluster } from './installation.js'
import { actLine } from './rehearse.js'
import { RehearsedCluster } from './rehearsed-cluster.js'
import type { Scenario } from './scenario.js'
import type { StoryLine } from './story-line.js'
import { waitUntilSettled } from './wait-until-settled.js'

/** A cluster whose objects a client changes, while its time passes as that of the host. */
export interface LiveCluster extends AsyncDisposable {
  readonly objects: Kube['store']
  /** The clock of the cluster. */
  readonly clock: Clock
  /** The release that it runs, and those that it can be upgraded to. */
  readonly version: string
  readonly available: readonly string[]
  /**
   * Lets time pass until a signal ends it.
   *
   * @param speed lab time for each second of the host
   */
  run(time: { clock: Clock; speed: number; signal: AbortSignal }): Promise<void>
}

export interface LiveClusterOptions {
  as?: ClusterEra
  /** Operators that act once the cluster is installed, which all of them do; the others are the user's own. Default: all. */
  operators?: readonly OperatorName[]
  logger: Logger
  signal: AbortSignal
  onLine: (line: StoryLine) => void
}

const FIRST = 'first'
const PATCH = 'patch'
const NEXT_MINOR = 'next'

/** The cluster that `up` runs: three nodes of the control plane, two workers and a spare host. */
const LIVE: Scenario = {
  name: 'cluster',
  title: 'a cluster of its own',
  releases: {
    [FIRST]: { version: '4.21.0', coreos: '9.6.20260112-0' },
    [PATCH]: { version: '4.21.1', coreos: '9.6.20260209-0' },
    [NEXT_MINOR]: { version: '4.22.0', coreos: '9.8.20260504-0' },
  },
  cluster: { release: FIRST, controlPlane: 3, workers: 2, spares: 1 },
  steps: [],
}

/** Milliseconds of the host between two moves of the lab's time. */
const TICK = 50

/** Installs the cluster, with its own time, and offers it the newer releases. */
export async function openLiveCluster({
  onLine,
  operators = OPERATORS,
  ...options
}: LiveClusterOptions): Promise<LiveCluster> {
  let began: number | undefined
  const opened: { current?: RehearsedCluster } = {}
  const cluster = await RehearsedCluster.open(LIVE, {
    ...options,
    onNotice: (notice) => {
      const now = opened.current?.clock.now() ?? 0
      began ??= now
      onLine(actLine(LIVE.name, notice, { now, began }))
    },
  })
  opened.current = cluster
  try {
    await installCluster(cluster)
    await offerReleases(cluster)
    for (const name of OPERATORS) if (!operators.includes(name)) await cluster.leaveOut(name)
  } catch (error) {
    await cluster[Symbol.asyncDispose]()
    throw error
  }
  return {
    objects: cluster.objects,
    clock: cluster.clock,
    version: cluster.release(FIRST).version,
    available: [PATCH, NEXT_MINOR].map((key) => cluster.release(key).version),
    run: async ({ clock, speed, signal }) => {
      for (let last = clock.now(); !signal.aborted;) {
        await clock.sleep(TICK, { signal }).catch(() => {})
        const now = clock.now()
        await cluster.clock.advance((now - last) * speed)
        last = now
      }
    },
    [Symbol.asyncDispose]: () => cluster[Symbol.asyncDispose](),
  }
}

/** Lists releases as available updates, as the update service does in a real cluster. */
async function offerReleases(cluster: RehearsedCluster): Promise<void> {
  await waitUntilSettled(cluster, 'upgrade', seconds(30))
  const found = await cluster.kube.get('ClusterVersion', { name: 'version' })
  const availableUpdates = [PATCH, NEXT_MINOR].map((key) => {
    const { version, made } = cluster.release(key)
    return { version, image: made.image }
  })
  await cluster.kube.updateStatus<'ClusterVersion'>({ ...found, status: { ...found.status!, availableUpdates } })
}
