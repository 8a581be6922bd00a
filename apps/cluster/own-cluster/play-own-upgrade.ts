import { isTrue, type ActorNotice, type KubeClient, type ProvisioningState } from '../../../base/kubernetes/index.js'
import { minutes } from '../../../base/runtime/index.js'
import { OS_IMAGE_STREAM } from '../admission/stream-policies.js'
import { CURRENT_CONFIG, GENERATED_BY, STATE } from '../actors/machine-config-operator/machine-config-names.js'
import { nodeNameOf } from '../actors/kubelet.js'
import { MACHINE_API_NAMESPACE, type RehearsedCluster } from '../rehearsal/rehearsed-cluster.js'
import { waitUntilSettled } from '../rehearsal/wait-until-settled.js'
import { refusalIn } from './gathered-state.js'
import type { OwnCluster } from './own-cluster.js'
import { waitForHosts, waitForUpgrade } from './own-waits.js'
import { NEXT, NOW } from './own-scenario.js'
import type { PoolReport, UpgradeReport } from './upgrade-report.js'

/** Observations of one upgrade. Times are in milliseconds of lab time. */
export interface PlayedUpgrade {
  outcome: UpgradeReport['outcome']
  refusal: string | null
  requested: number
  /** Null for an upgrade that has not come to its end. */
  completed: number | null
  ended: number
  pools: PoolReport[]
  hosts: UpgradeReport['hosts']
  pulled: Omit<UpgradeReport['pulled'], 'secondsEach' | 'model'>
  streams: UpgradeReport['streams']
  /** Sentences on things that have not settled. */
  unsettled: readonly string[]
}

const MARK = 'upgrade'

/** Asks for the release, by force where it is refused, and waits until nothing moves any more. */
export async function playOwnUpgrade(
  own: OwnCluster,
  rehearsed: RehearsedCluster,
  tell: (notice: ActorNotice) => void,
): Promise<PlayedUpgrade> {
  const { clock, site, measures } = rehearsed
  using changes = new HostChanges(own, rehearsed)
  measures.mark(MARK)
  const requested = clock.now()
  const streamsBefore = runningStreams(rehearsed)
  const before = {
    bytes: rehearsed.pulledBytes,
    layers: site.stage.registry.fetched.length,
    images: site.registry.pulled.length,
  }
  const refusal = (await requestRelease(rehearsed, tell, false)) ?? null
  const again = refusal === null ? undefined : await requestRelease(rehearsed, tell, true)
  const unsettled: string[] = []
  const note = (sentence: string | null): void => void (sentence === null || unsettled.push(sentence))
  if (again === undefined) {
    note(await waitForUpgrade(rehearsed))
    note(await waitForHosts(own, rehearsed))
  }
  const completed = await completionOf(rehearsed)
  const pools = await poolReports(own, rehearsed, { requested, completed, streamsBefore })
  return {
    outcome: again !== undefined ? 'refused' : completed === null ? 'not completed' : 'completed',
    refusal: again ?? refusal,
    requested,
    completed,
    ended: lastReboot(pools, requested) ?? clock.now(),
    pools,
    hosts: changes.report(),
    pulled: {
      bytes: rehearsed.pulledBytes - before.bytes,
      nodes: new Set(pools.flatMap(({ reboots }) => reboots.map(({ node }) => node))).size,
      images: site.registry.pulled.length - before.images,
      registries: registriesOf(site.registry.pulled.slice(before.images)),
    },
    streams: await streamReports(rehearsed, site.stage.registry.fetched.slice(before.layers)),
    unsettled,
  }
}

/** Number of images by the registry in front of their names. */
function registriesOf(images: readonly string[]): Record<string, number> {
  const counts: Record<string, number> = {}
  for (const image of images) {
    const [registry = ''] = image.split('/')
    counts[registry] = (counts[registry] ?? 0) + 1
  }
  return counts
}

/** @returns the message of a refusal */
async function requestRelease(
  rehearsed: RehearsedCluster,
  tell: (notice: ActorNotice) => void,
  force: boolean,
): Promise<string | undefined> {
  const { version, made } = rehearsed.release(NEXT)
  tell({
    actor: 'administrator',
    does: `requests ${version}${force ? ' by force' : ''}`,
    ...(force ? { because: 'it was refused: the rest of the upgrade is rehearsed all the same' } : {}),
  })
  const desiredUpdate = { version, image: made.image, force }
  await rehearsed.kube.patch('ClusterVersion', { name: 'version' }, { spec: { desiredUpdate } })
  await waitUntilSettled(rehearsed, 'upgrade', minutes(1))
  return refusalIn(rehearsed)
}

/** When the upgrade came to its end; null while it has not. */
async function completionOf({ kube, clock }: RehearsedCluster): Promise<number | null> {
  const { status } = await kube.get('ClusterVersion', { name: 'version' })
  const [entry] = status?.history ?? []
  if (entry?.state !== 'Completed') return null
  return entry.completionTime === null ? clock.now() : Date.parse(entry.completionTime)
}

const lastReboot = (pools: readonly PoolReport[], requested: number): number | undefined => {
  const times = pools.flatMap(({ reboots }) => reboots.map(({ at }) => requested + at * 1000))
  return times.length === 0 ? undefined : Math.max(...times)
}

/**
 * Name of the configuration that a pool asks for; undefined while that is none of the new release.
 *
 * @param release version that has to have made it: after a complete upgrade one that is the same in both releases is right
 */
async function renderedFor(pool: string, kube: KubeClient, release: string | undefined): Promise<string | undefined> {
  const found = await kube.find('MachineConfigPool', { name: pool })
  const name = found?.spec.configuration?.name
  if (name === undefined || isTrue(found?.status?.conditions, 'RenderDegraded')) return undefined
  if (release === undefined) return name
  const config = await kube.find('MachineConfig', { name })
  return config?.metadata.annotations?.[GENERATED_BY] === release ? name : undefined
}

/** Milliseconds of lab time. */
type UpgradeTimes = Pick<PlayedUpgrade, 'requested' | 'completed'>

async function poolReports(
  own: OwnCluster,
  rehearsed: RehearsedCluster,
  { requested, completed, streamsBefore }: UpgradeTimes & { streamsBefore: ReadonlyMap<string, string> },
): Promise<PoolReport[]> {
  const streamsAfter = runningStreams(rehearsed)
  const { kube, site, measures } = rehearsed
  const machines = new Map(site.stage.machines.list().map((machine) => [nodeNameOf(machine), machine.spec.id]))
  const boots = measures.bootsSince(MARK).filter(({ outcome }) => outcome === 'disk')
  const reports: PoolReport[] = []
  for (const { name, nodes, most, isPaused } of own.pools) {
    const rendered = await renderedFor(name, kube, completed === null ? rehearsed.release(NEXT).version : undefined)
    const behind: string[] = []
    for (const node of nodes) {
      const { [CURRENT_CONFIG]: current, [STATE]: state } =
        (await kube.find('Node', { name: node }))?.metadata.annotations ?? {}
      if (rendered === undefined || current !== rendered || state !== 'Done') behind.push(node)
    }
    const ids = nodes.flatMap((node) => machines.get(node) ?? [])
    const reboots = boots.flatMap(({ machine, at }) => {
      const node = nodes.find((one) => machines.get(one) === machine)
      return node === undefined ? [] : [{ node, at: Math.round((at - requested) / 1000) }]
    })
    const atOnce = measures.mostAwaySince(ids, MARK)
    const streams = { before: streamsOfNodes(nodes, streamsBefore), after: streamsOfNodes(nodes, streamsAfter) }
    reports.push({
      pool: name,
      nodes: nodes.length,
      paused: isPaused,
      rendered: rendered !== undefined,
      maxUnavailable: most,
      atOnce,
      reboots,
      behind,
      streams,
    })
  }
  return reports
}

/** The stream that each node runs, by the version of its system; nodes of a release without streams are left out. */
function runningStreams(rehearsed: RehearsedCluster): Map<string, string> {
  const known = [NOW, NEXT].flatMap((key) =>
    [...rehearsed.release(key).streams].map(([name, { coreos }]) => [coreos, name] as const),
  )
  const names = new Map(known)
  const running = new Map<string, string>()
  for (const machine of rehearsed.site.stage.machines.list()) {
    const name = names.get(machine.os()?.booted.version ?? '')
    if (name !== undefined) running.set(nodeNameOf(machine), name)
  }
  return running
}

const streamsOfNodes = (nodes: readonly string[], running: ReadonlyMap<string, string>): string[] =>
  [...new Set(nodes.flatMap((node) => running.get(node) ?? []))].sort()

async function streamReports(
  rehearsed: RehearsedCluster,
  fetched: readonly { image: string; size: number }[],
): Promise<UpgradeReport['streams']> {
  const before = rehearsed.release(NOW).streams
  const after = rehearsed.release(NEXT).streams
  const names = [...new Set([...before.keys(), ...after.keys()])].sort()
  const chosen = (await rehearsed.kube.find('OSImageStream', OS_IMAGE_STREAM))?.status?.defaultStream
  return names.map((stream) => {
    const image = after.get(stream)?.nodeImage
    const bytes = fetched.filter((layer) => layer.image === image).reduce((sum, { size }) => sum + size, 0)
    return {
      stream,
      from: before.get(stream)?.coreos ?? null,
      to: after.get(stream)?.coreos ?? null,
      isDefault: stream === chosen,
      bytes,
    }
  })
}

/** States of the folder's hosts since an upgrade was asked for; hosts that are made up for nodes without one are none. */
class HostChanges implements Disposable {
  readonly #seen = new Map<string, ProvisioningState[]>()
  readonly #ending = new AbortController()
  readonly #parts: RehearsedCluster
  readonly #hosts: ReadonlySet<string>

  constructor({ members, spares }: OwnCluster, rehearsed: RehearsedCluster) {
    this.#parts = rehearsed
    const hosts = [...members.flatMap(({ host }) => host ?? []), ...spares]
    this.#hosts = new Set(hosts.map(({ metadata }) => metadata.name))
    void this.#follow().catch(() => {})
  }

  async #follow(): Promise<void> {
    const { signal } = this.#ending
    const options = { namespace: MACHINE_API_NAMESPACE, signal }
    for await (const { object } of this.#parts.kube.watch('BareMetalHost', options)) {
      const { name } = object.metadata
      if (!this.#hosts.has(name)) continue
      const states = this.#seen.get(name) ?? []
      const state = object.status?.provisioning.state ?? ''
      if (states.at(-1) !== state) this.#seen.set(name, [...states, state])
    }
  }

  report(): UpgradeReport['hosts'] {
    const all = [...this.#seen].sort(([a], [b]) => (a < b ? -1 : 1))
    const changed = all.filter(([, states]) => states.length > 1)
    const through = (state: ProvisioningState) =>
      changed.filter(([, states]) => states.slice(1).includes(state)).map(([name]) => name)
    return {
      inspected: through('inspecting'),
      provisioned: through('provisioning'),
      waiting: all.filter(([, states]) => states.every((one) => one === 'available')).map(([name]) => name),
      adopted: all
        .filter(([, states]) => states.every((one) => one === 'provisioned' || one === 'externally provisioned'))
        .map(([name]) => name),
    }
  }

  [Symbol.dispose](): void {
    this.#ending.abort()
  }
}
