import { defined, openInScope, systemRandom, type Clock, type Logger } from '../../../base/runtime/index.js'
import type { ServedLab } from '../../../lab/index.js'
import { type ClusterEra, openKube, type Kube } from '../../../base/kubernetes/index.js'
import {
  askMetal3Webhooks,
  OperatorMetrics,
  ramdiskSource,
  switchSettings,
  type AppliedHost,
  type RamdiskSource,
} from '../../../baremetal-operator/index.js'
import type { HardwareFleet, MachineHardware } from '../../../machine/index.js'
import type { Environment } from '../environment.js'
import type { UP_OPTIONS } from '../options/option-lists.js'
import type { CommandOptionValues } from '../options/resolve-options.js'
import type { ActorName } from '../options/value-words.js'
import { usageError } from '../usage-error.js'
import { UpHostLabels } from './up-host-labels.js'
import { HostMachines } from './up-host-machines.js'
import { checkHosts, readHostManifests, reconcileHosts, type ReconciledHosts } from './up-hosts.js'
import { actorsOf, eraOfActors, kubeLines, kubeTokenOf, objectFileOf, serveKubeApi } from './up-kube-api.js'
import { readUpDefinitions, useDefinitions, type UpDefinitions } from './up-kube-crds.js'

type UpOptions = CommandOptionValues<(typeof UP_OPTIONS)[number]>
type Manifests = Awaited<ReturnType<typeof readHostManifests>>

interface ReadOptions {
  readonly manifests: Manifests | undefined
  readonly actors: readonly ActorName[]
  readonly era: ClusterEra | undefined
  readonly token: string | undefined
  readonly definitions: UpDefinitions
  readonly networking: ReturnType<typeof switchSettings>
}

interface OpenedCluster extends AsyncDisposable {
  readonly client: Kube['client']
  /** Address of the API, if it is served. */
  readonly url: string | undefined
}

/** Surroundings of those who work on the hosts. */
interface ClusterWork {
  readonly served: ServedLab
  readonly environment: Readonly<Record<string, string | undefined>>
  readonly clock: Clock
  readonly logger: Logger
  readonly signal: AbortSignal
  readonly onChange: (report: AppliedHost) => void
}

/**
 * BareMetalHosts of `up`, the API that has them, and who works on them. Its kinds and operators take as long to load as a
 * third of all the rest, so this is loaded only for a command that asks for hosts or for their API.
 */
export class UpCluster {
  readonly labels = new UpHostLabels()
  readonly #options: UpOptions
  readonly #read: ReadOptions
  readonly #metrics = new OperatorMetrics()
  #machines: HostMachines | undefined

  private constructor(options: UpOptions, read: ReadOptions) {
    this.#options = options
    this.#read = read
  }

  /** @throws UserError (usage) for options that do not go together, and for files that cannot be used */
  static async read(options: UpOptions, variables: Environment['variables']): Promise<UpCluster> {
    return new UpCluster(options, {
      manifests: await readUpManifests(options),
      actors: actorsOf(options),
      era: eraOfActors(options),
      token: await kubeTokenOf(options),
      networking: switchSettings(variables),
      definitions: await readUpDefinitions(options['kube-crds'], options['kube-api']),
    })
  }

  /** The host behind a node. */
  readonly hostOf = (node: string): ReturnType<UpHostLabels['hostOf']> => this.labels.hostOf(node)

  /** For the event that says that all is ready; undefined where nothing is worked on. */
  get actors(): readonly ActorName[] | undefined {
    return this.#hasHosts ? this.#read.actors : undefined
  }

  get #hasHosts(): boolean {
    return this.#read.manifests !== undefined || this.#options['kube-api'] !== undefined
  }

  /** @param fleet hardware of the hardware file */
  hardwareOfNodes(fleet: HardwareFleet | undefined): (node: string) => MachineHardware | undefined {
    const machines = new HostMachines(fleet)
    this.#machines = machines
    return (node) => machines.hardwareOf(node)
  }

  /** Opens the API, and serves it if that is asked for. */
  async open(served: ServedLab, clock: Clock, logger: Logger): Promise<OpenedCluster> {
    return openInScope(async (scope) => {
      const file = objectFileOf(this.#options, (sentence) => logger('warn', sentence))
      if (file) scope.use(file)
      const kube = openKube({
        clock,
        random: systemRandom,
        webhooks: askMetal3Webhooks,
        ...defined({ file }),
      })
      useDefinitions(kube.store, this.#read.definitions, logger)
      this.#machines?.watch(kube.store)
      this.labels.watch(kube.store)
      const { token, actors } = this.#read
      const metrics = actors.includes('bmo') ? this.#metrics : undefined
      const parts = { served, store: kube.store, token, metrics, clock, logger }
      const api = await serveKubeApi(this.#options, parts)
      if (api) scope.use(api)
      return { client: kube.client, url: api?.url, [Symbol.asyncDispose]: () => scope[Symbol.asyncDispose]() }
    })
  }

  /** Lines that tell how to reach the API; none without it. */
  lines({ url }: OpenedCluster, caFile: string | null): string[] {
    if (url === undefined) return []
    return kubeLines({ url, caFile, tokenFile: this.#options['kube-token'], actors: this.#read.actors })
  }

  /** Applies the files' hosts, and works on all hosts unless another operator does. */
  reconcile({ client }: OpenedCluster, work: ClusterWork): ReconciledHosts | undefined {
    if (!this.#hasHosts) return undefined
    const { manifests, actors } = this.#read
    const { served, environment, clock, logger, signal, onChange } = work
    return reconcileHosts({
      kube: client,
      isOperated: actors.includes('bmo'),
      as: this.#read.era,
      stage: served.stage,
      files: manifests && { path: this.#options.hosts!, watch: this.#options.watch ?? false, manifests },
      metrics: this.#metrics,
      settings: {
        claimsHosts: this.#options.hostclaims ?? false,
        networking: this.#read.networking,
        ...defined({ ramdisk: servedRamdisk(served.stage.images) ?? ramdiskSource(environment) }),
      },
      clock,
      random: systemRandom,
      logger,
      signal,
      onChange,
      onRefusal: (problem) => logger('warn', `refused, and not applied: ${problem}`),
    })
  }
}

/** The manifests of `--hosts`, read before anything starts. */
async function readUpManifests({ hosts, watch }: UpOptions) {
  if (hosts === undefined) {
    if (watch === undefined) return undefined
    throw usageError(
      '--watch follows the files of --hosts',
      'name them with --hosts, or leave out --watch',
      'host-manifests',
    )
  }
  const manifests = await readHostManifests(hosts)
  checkHosts(manifests)
  return manifests
}

/** The live ISO that this command serves, as BareMetal Operator's ramdisk. */
function servedRamdisk(images: ServedLab['stage']['images']): RamdiskSource | undefined {
  const iso = images?.urls()?.iso
  return iso == null ? undefined : { deployIso: iso }
}
