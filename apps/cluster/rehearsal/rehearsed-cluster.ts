import { askMetal3Webhooks } from '../../../baremetal-operator/index.js'
import { join } from 'node:path'
import { openLiveIso } from '../../../coreos/index.js'
import { bootNetwork, REALISTIC_MACHINES } from '../../../lab/index.js'
import { liveVersion, type Machine } from '../../../machine/index.js'
import {
  defined,
  minutes,
  Scope,
  seededRandom,
  hours,
  seconds,
  temporaryFolder,
  unlessAborted,
  VirtualClock,
  type Logger,
} from '../../../base/runtime/index.js'
import {
  type ActorParts,
  type ActorNotice,
  Behaviours,
  type ClusterEra,
  type Kube,
  type KubeClient,
  type BareMetalHost,
  type KubeMachine,
  openKube,
} from '../../../base/kubernetes/index.js'
import { BAREMETAL_OPERATOR, BUILDS_IMAGES } from '../actors/cluster-baremetal-operator.js'
import { ALL_BEHAVIOURS } from '../actors/all-behaviours.js'
import { CLOUD_PLATFORMS, type Cloud } from '../site/cloud-platforms.js'
import type { RepositoryMirrors } from '../site/container-registry.js'
import { internalReleasePolicies } from '../admission/internal-release-policies.js'
import { STREAM_POLICIES } from '../admission/stream-policies.js'
import { internalMirrors } from '../site/internal-registry.js'
import { openSite, type Site } from '../site/site.js'
import { BOOT_IMAGE_RECORD } from '../actors/machine-config-operator/boot-images/boot-image-record.js'
import { managedImagePolicy } from '../actors/machine-config-operator/boot-images/managed-image-policy.js'
import type { BootImagePlace } from '../actors/machine-config-operator/boot-images/boot-image-sources.js'
import type { ActingOperators, OperatorName } from './acting-operators.js'
import { Measures } from './measures.js'
import { runOperators } from './rehearsed-operators.js'
import { OLD_RAMDISK, prepareRelease, type PreparedRelease, type ReleasePlace } from './prepared-releases.js'
import type { HostGroup, Scenario } from './scenario.js'

export const MACHINE_API_NAMESPACE = 'openshift-machine-api'
/** Label with the role of a Machine. */
export const ROLE_LABEL = 'machine.openshift.io/cluster-api-machine-role'
/** Member of a ControlPlaneMachineSet with its machines' settings. */
export const CONTROL_PLANE_MACHINE = 'machines_v1beta1_machine_openshift_io'
/** Roles of the machines of a cloud, by group. */
const INSTANCE_ROLES: Partial<Readonly<Record<HostGroup, readonly string[]>>> = {
  workers: ['worker'],
  'control plane': ['master'],
  nodes: ['master', 'worker'],
}
const MIRROR = 'mirror.lab:5000'
const MIRRORS = [{ source: 'quay.io/openshift-release-dev', mirrors: [`${MIRROR}/ocp`] }]
/** Domain of a cluster whose control plane serves its own release. */
const DOMAIN = 'rehearsal.lab'

/** Mirrors of the releases' repositories; agents of the user's own releases may be in others. */
function mirrorsFor({ releases, cluster }: Scenario): RepositoryMirrors[] {
  if (cluster.network === 'internal') return [...internalMirrors(DOMAIN, MIRROR)]
  const agents = Object.values(releases).flatMap(({ own }) => own?.agentImage?.replace(/@.*/, '') ?? [])
  const others = [...new Set(agents)].filter((name) => !name.startsWith(`${MIRRORS[0]!.source}/`))
  return [...MIRRORS, ...others.map((source, index) => ({ source, mirrors: [`${MIRROR}/own-${index}`] }))]
}

function cloudOfScenario({ cluster: { platform = 'BareMetal' } }: Scenario): Cloud | undefined {
  return platform === 'BareMetal' ? undefined : platform
}

async function prepareReleases({ releases }: Scenario, place: ReleasePlace): Promise<Map<string, PreparedRelease>> {
  const prepared = new Map<string, PreparedRelease>()
  for (const [key, wanted] of Object.entries(releases)) prepared.set(key, await prepareRelease(wanted, place))
  return prepared
}

/** Bytes per second at which machines pull images: a network of 1 Gbit/s. */
const PULL_RATE = 125_000_000

/** A host of a rehearsal with its computer. */
export interface RehearsedHost {
  /** Name of the host, and of the node that it becomes. */
  name: string
  /** Undefined for a machine of a cloud. */
  object: BareMetalHost | undefined
  machine: Machine
}

export interface ClusterRehearsalOptions {
  without?: readonly string[]
  /** Default `today`. */
  as?: ClusterEra
  /** Default 1. */
  seed?: number
  logger: Logger
  signal: AbortSignal
  onNotice: (notice: ActorNotice) => void
}

/** The cluster of a scenario, with the computers around it. */
export class RehearsedCluster implements AsyncDisposable {
  readonly notices: ActorNotice[] = []
  readonly measures: Measures
  /** Addresses in the network settings of hosts, by their names. */
  readonly addresses = new Map<string, string>()
  #upgradeNotices = 0
  #acting: ActingOperators | undefined
  readonly #measured = new Map<string, { time: number; bytes: number }>()

  private constructor(
    readonly scenario: Scenario,
    readonly clock: VirtualClock,
    readonly kube: KubeClient,
    /** All objects, of kinds that no operator here knows too. */
    readonly objects: Kube['store'],
    readonly site: Site,
    readonly parts: ActorParts,
    private readonly releases: ReadonlyMap<string, PreparedRelease>,
    private readonly scope: Scope,
    private readonly signal: AbortSignal,
  ) {
    this.measures = new Measures(site.stage, { kube, clock })
    this.scope.use(this.measures)
  }

  /** Makes releases, computers and operators; nothing is installed yet. */
  static async open(scenario: Scenario, options: ClusterRehearsalOptions): Promise<RehearsedCluster> {
    const { without = [], as = 'today', seed = 1, logger, onNotice, signal } = options
    const scope = new Scope()
    try {
      const clock = new VirtualClock()
      const random = seededRandom(seed)
      const behaviours = new Behaviours(ALL_BEHAVIOURS, { without, as })
      const policies = [...STREAM_POLICIES, managedImagePolicy(behaviours), ...internalReleasePolicies(behaviours)]
      const { client: kube, store } = openKube({ clock, random, webhooks: askMetal3Webhooks, policies })
      const { network, release: first } = scenario.cluster
      const isInternal = network === 'internal'
      const isDisconnected = network === 'disconnected' || isInternal
      const isMirrored = isDisconnected || scenario.cluster.mirrors !== undefined
      const folder = scope.use(await temporaryFolder())
      const carried = new Map<string, string>()
      const carry = (version: string, path: string): void => void carried.set(version, path)
      const site = scope.use(
        await openSite({
          clock,
          random,
          logger,
          ...defined({
            reachability: isDisconnected ? ('disconnected' as const) : undefined,
            mirrors: isMirrored ? (scenario.cluster.mirrors ?? mirrorsFor(scenario)) : undefined,
            internalDomain: isInternal ? (scenario.cluster.domain ?? DOMAIN) : undefined,
          }),
          stage: {
            machinePace: REALISTIC_MACHINES,
            pullRate: PULL_RATE,
            imageCache: { folder: join(folder.path, 'images') },
            metalImageOf: (version) => carried.get(version),
          },
        }),
      )
      const inside = isInternal ? scenario.releases[first]!.version : undefined
      const place = { site, folder: folder.path, isMirrored, inside, as, carry, cloud: cloudOfScenario(scenario) }
      const releases = await prepareReleases(scenario, place)
      const cluster: { current?: RehearsedCluster } = {}
      const parts: ActorParts = {
        kube,
        clock,
        random,
        logger,
        behaviours,
        announce: (notice) => {
          cluster.current?.notices.push(notice)
          onNotice(notice)
        },
      }
      const opened = new RehearsedCluster(scenario, clock, kube, store, site, parts, releases, scope, signal)
      cluster.current = opened
      const acting = await runOperators(site, parts, opened.release(scenario.cluster.release).made.image, scope)
      opened.#acting = acting
      return opened
    } catch (error) {
      await scope[Symbol.asyncDispose]()
      throw error
    }
  }

  /**
   * Moves lab time until something has happened. All waits of a story go through here: nothing else moves the time.
   *
   * @throws the reason of the story's signal, {@link ClockIdleError}
   */
  until<T>(awaited: Promise<T>): Promise<T> {
    return this.clock.until(unlessAborted(awaited, this.signal))
  }

  /** Keeps something for as long as the story is played. */
  keep(resource: Disposable): void {
    this.scope.use(resource)
  }

  /** Ends an operator for good: what depends on it waits, as it does in a cluster without it. */
  async leaveOut(operator: OperatorName): Promise<void> {
    await this.#acting?.leaveOut(operator)
  }

  release(key: string): PreparedRelease {
    return this.releases.get(key)!
  }

  /** The release of which a URL is the boot image, or a name the image on a cloud; that of the user's own is a copy. */
  releaseOfBootImage(image: string | undefined): PreparedRelease | undefined {
    const all = [...this.releases.values()]
    if (this.cloud !== undefined && image === CLOUD_PLATFORMS[this.cloud].own)
      return this.release(this.scenario.cluster.release)
    return all.find(({ bootImage, cloudImage }) => bootImage === image || cloudImage === image)
  }

  /** Names or URLs of the boot images in machine sets; empty for none. */
  async bootImagesOf(kind: 'MachineSet' | 'ControlPlaneMachineSet'): Promise<string[]> {
    const specs =
      kind === 'MachineSet'
        ? (await this.kube.list(kind)).items.map(({ spec }) => spec.template.spec)
        : (await this.kube.list(kind)).items.map(({ spec }) => spec.template[CONTROL_PLANE_MACHINE].spec)
    return specs.map(({ providerSpec: { value = {} } }) => {
      const name = this.cloud === undefined ? value.image?.url : CLOUD_PLATFORMS[this.cloud].imageIn(value)
      return name ?? ''
    })
  }

  /** The cloud that it is on; undefined on bare metal. */
  get cloud(): Cloud | undefined {
    return cloudOfScenario(this.scenario)
  }

  releaseOfAgent(image: string): PreparedRelease | undefined {
    return [...this.releases.values()].find(({ agentImage }) => agentImage === image)
  }

  releaseOfVersion(wanted: string): PreparedRelease {
    return [...this.releases.values()].find(({ version }) => version === wanted)!
  }

  /** The computers of a group, in the order of their names. */
  async group(group: HostGroup): Promise<RehearsedHost[]> {
    const { items: machines } = await this.kube.list('Machine')
    const roleOf = ({ spec }: BareMetalHost): string => {
      const machine = machines.find(({ metadata }) => metadata.name === spec.consumerRef?.name)
      return machine?.metadata.labels?.[ROLE_LABEL] ?? 'none'
    }
    const isIn = (host: BareMetalHost): boolean => {
      const role = roleOf(host)
      switch (group) {
        case 'spares':
          return role === 'none'
        case 'workers':
          return role === 'worker'
        case 'control plane':
          return role === 'master'
        case 'bootstrap':
          return role === 'bootstrap'
        case 'nodes':
          return role === 'worker' || role === 'master'
      }
    }
    if (this.cloud !== undefined) return this.#instancesOf(group, machines)
    const { items } = await this.kube.list('BareMetalHost', { namespace: MACHINE_API_NAMESPACE })
    return items
      .filter(isIn)
      .sort((a, b) => (a.metadata.name < b.metadata.name ? -1 : 1))
      .map((object) => ({ name: object.metadata.name, object, machine: this.machineOf(object) }))
  }

  /** The machines of a cloud, the oldest first: the names of those of a set have no order. */
  #instancesOf(group: HostGroup, machines: readonly KubeMachine[]): RehearsedHost[] {
    const roles = INSTANCE_ROLES[group] ?? []
    return this.site.stage.machines.list().flatMap((machine) => {
      const found = machines.find(({ metadata }) => metadata.name === machine.spec.id)
      const role = found?.metadata.labels?.[ROLE_LABEL] ?? ''
      return roles.includes(role) ? [{ name: machine.spec.id, object: undefined, machine }] : []
    })
  }

  machineOf({ metadata }: BareMetalHost): Machine {
    return this.site.stage.machines.get(metadata.name)!
  }

  /**
   * The deploy image that a host runs, or, while it is off, would boot next: a version of CoreOS, or {@link OLD_RAMDISK};
   * null without one.
   */
  async deployImageOf({ name, machine }: RehearsedHost): Promise<string | null> {
    const live = machine.power() === 'on' ? machine.boot()?.live : undefined
    if (live) {
      const bringsAgent = live.agent === null && live.failure === null
      return bringsAgent ? OLD_RAMDISK : liveVersion(live.kernelArguments)
    }
    // Images made for hosts stay when a release from before the live ISO is back; its operator boots none of them.
    const operator = await this.kube.find('Deployment', BAREMETAL_OPERATOR)
    const container = operator?.spec.template.spec.containers[0]
    if (!container?.args?.includes(BUILDS_IMAGES))
      return container?.env?.some(({ value }) => value === this.site.oldRamdisk.kernel) ? OLD_RAMDISK : null
    const at = { name, namespace: MACHINE_API_NAMESPACE }
    const image = await this.kube.find('PreprovisioningImage', at)
    const url = image?.status?.imageUrl
    if (url === undefined) return null
    const source = await bootNetwork({ clock: this.clock }).open(url, { signal: new AbortController().signal })
    return liveVersion((await openLiveIso(source, this.clock)).kargs?.default ?? '')
  }

  /** The administrator asks for a release: what is counted since an upgrade is counted from now on. */
  beginUpgrade(): void {
    this.measures.mark('upgrade')
    this.#upgradeNotices = this.notices.length
  }

  /** Acts of actors since the last upgrade was asked for. */
  get noticesOfUpgrade(): readonly ActorNotice[] {
    return this.notices.slice(this.#upgradeNotices)
  }

  /** How often an image of a release was fetched. */
  pulls(what: 'base' | 'node image', key: string): number {
    const { bootImage, nodeImage } = this.release(key)
    const { pathname } = new URL(bootImage)
    return what === 'base'
      ? [...this.site.outside.fetched, ...this.site.mirror.fetched].filter((path) => path === pathname).length
      : this.site.stage.registry.fetched.filter(({ image }) => image === nodeImage).length
  }

  /** Accesses of a disconnected site to the world outside. */
  outsideAccesses(): string[] {
    return [...this.site.network.refused.map(({ what }) => what), ...this.site.outside.fetched]
  }

  /** Places whose boot images differ, each with its version, as the machine config operator has found them. */
  async skew(): Promise<string[]> {
    const record = await this.kube.find('ConfigMap', BOOT_IMAGE_RECORD)
    const places = JSON.parse(record?.data?.['skew'] ?? '[]') as BootImagePlace[]
    return places.map(({ place, version }) => `${place} has ${version}`)
  }

  /** Bytes that machines have pulled from registries until now. */
  get pulledBytes(): number {
    return this.site.stage.registry.fetched.reduce((sum, { size }) => sum + size, 0)
  }

  measure(name: string, measured: { time: number; bytes: number }): void {
    this.#measured.set(name, measured)
  }

  measured(name: string): { time: number; bytes: number } {
    return this.#measured.get(name) ?? { time: NaN, bytes: NaN }
  }

  /** `90s`, `3m`, `2h` */
  milliseconds(text: string): number {
    const [, amount = '0', unit = 's'] = /^([\d.]+)([smhd])$/.exec(text) ?? []
    return { s: seconds, m: minutes, h: hours, d: (days: number) => hours(24 * days) }[unit as 's'](Number(amount))
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.scope[Symbol.asyncDispose]()
  }
}
