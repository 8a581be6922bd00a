import {
  collectAtRest,
  defined,
  errorChain,
  type Clock,
  type ClockMode,
  type Logger,
  LabClock,
  letGarbageGrow,
  minutes,
  readDuration,
  systemClock,
  systemRandom,
  type ConfigFile,
} from '../../../base/runtime/index.js'
import { serve, type LabEvent, type LiveImagesRequest, type ServedLab, type ServeOptions } from '../../../lab/index.js'
import { entryLine, maskValue, type FaultReport } from '../../../control/index.js'
import { LabReplays } from '../../recording/index.js'
import { loadManagers } from '../../runs/index.js'
import { type IronicConfigRequest, type ProfileName, repetitionText } from '../../../ironic-mock/index.js'
import type { AppliedHost } from '../../../baremetal-operator/index.js'
import { hardwareOfHost, type HardwareFleet, type MachineHardware } from '../../../machine/index.js'
import type { IronicRelease } from '../../../base/wire/index.js'
import { stopAsked, type Environment } from '../environment.js'
import { bmcAccountOf } from '../options/bmc-account.js'
import { faultLine, faultsIn } from './fault-command.js'
import { agentOptionsOf } from './ignition-agent.js'
import { readHardware } from '../options/hardware-file.js'
import { makeCacheRequest } from '../options/cache-request.js'
import { liveImagesOf, rehearsalLiveImage, useCoreosIpa } from '../installer/live-image-options.js'
import { logTo } from '../output/command-log.js'
import type { CommandOptionValues } from '../options/resolve-options.js'
import { standardInputEnds } from '../options/standard-input.js'
import { containStrayErrors } from '../stray-errors.js'
import { dashboardUrl, isDashboardServed, openDashboard } from './dashboard-command.js'
import { beginLife, checkBegin } from './up-begin.js'
import type { BeginGoal } from '../options/value-words.js'
import { serveBmcs } from './up-bmcs.js'
import { hostOfNode } from './host-of-node.js'
import type { UpCluster } from './up-cluster.js'
import type { UpIronicObject } from './up-ironic-object.js'
import { readActors } from './up-actors.js'
import { readUpDatabase } from './up-database.js'
import { refuseMachineOptions, upMachines } from './up-machines.js'
import { readyLines } from './up-ready.js'
import type { UP_OPTIONS } from '../options/option-lists.js'
import { usageError } from '../usage-error.js'

type UpOptions = CommandOptionValues<(typeof UP_OPTIONS)[number]>
type LabElsewhere = NonNullable<ServeOptions['elsewhere']>

/** A conductor waits as long for the work on its nodes to end, as Ironic's (`[conductor]graceful_shutdown_timeout`). */
const HANDOVER_TIME = minutes(1)

/** `ironstage up`: serves until a signal stops it. */
// eslint-disable-next-line max-lines-per-function -- a linear script: what is opened here is closed at its end, in reverse
export async function up(
  commandOptions: UpOptions,
  environment: Environment,
  configFiles: readonly ConfigFile[],
): Promise<number> {
  const { stdout } = environment
  if (readActors(commandOptions.actors).of === 'cluster') {
    const { upOperators } = await import('./up-operators.js')
    return upOperators(commandOptions, environment, () => untilStopped(commandOptions, environment))
  }
  if (commandOptions.role === 'machines') return upMachines(commandOptions, environment, configFiles.length > 0)
  refuseMachineOptions(commandOptions)
  await using object = await ironicObjectOf(commandOptions)
  const options = object?.mergedOptions(commandOptions) ?? commandOptions
  const json = options.json ?? false
  const logger = logTo(environment, json, defined({ verbose: options.verbose }))
  using _ = containStrayErrors(environment, logger)
  const say: SayLine = (event, text) => stdout.either(json, event, text)
  checkBegin(options)
  checkElsewhere(options)
  const clock = new LabClock({ mode: clockMode(options) })
  const shutdownDelay = readDuration(options['shutdown-delay'] ?? '0s')!
  const isHandingOver = options.database !== undefined && options.role !== 'api'
  environment.allowStop?.(shutdownDelay + (isHandingOver ? HANDOVER_TIME : 0))
  const faults = options.faults === undefined ? [] : await faultsIn([options.faults], environment)
  const byDefault = useCoreosIpa(environment.variables)
  const watching = watchNodes(say, json)
  const cluster = await clusterOf(options, environment)
  const liveImages = await liveImagesRequest(options, environment, { byDefault, clock })
  const request = await labRequest(options, environment, [...configFiles, ...(object?.files ?? [])])
  const database = await databaseOf(options, environment)
  const recordings = new LabReplays(systemClock())
  await using served = await serve({
    ...request,
    hardwareOfNode: cluster?.hardwareOfNodes(request.hardware) ?? namedHardware(request.hardware),
    recordings,
    ...defined({
      liveImages,
      database,
      elsewhere: elsewhereOf(options, liveImages),
      hostLabels: cluster?.labels,
      hostOf: cluster?.hostOf,
    }),
    clock,
    random: systemRandom,
    logger,
    onEvent: watching.onEvent,
  })
  recordings.open(replayedIronic(served))
  await using _replays = recordings
  const uiUrl = dashboardUrl(served.url, options)
  await served.stage.addFaults(faults)
  if (options.verbose) served.stage.journal.listen((entry) => say(entry, entryLine(entry)))
  await using api = await cluster?.open(served, clock, logger)
  if (object && api) await object.show(api.client, clock)
  await using bmcs = await serveBmcs(served, {
    redfish: options['redfish-port'],
    ipmi: options['ipmi-port'],
    allowedHosts: options['allowed-host'],
    logger,
  })
  letGarbageGrow()
  using _garbage = collectAtRest()
  if (object) say(object.event, object.lines)
  const variables = { ...environmentBlock(served), IRONIC_USE_COREOS_IPA: String(byDefault) }
  const ready = {
    event: 'ready',
    ironic_url: served.url,
    environment: variables,
    ...defined({
      ui_url: uiUrl || undefined,
      kube_api_url: api?.url,
      actors: cluster?.actors,
    }),
    ...bmcs.event,
    ...defined({
      database: served.stage.member ?? undefined,
      images: servedImages(served),
      boot_url: served.stage.elsewhere?.bootUrl,
    }),
  }
  say(ready, [
    ...readyLines(served, {
      users: commandOptions.htpasswd,
      variables,
      nodes: watching.summary(),
      hosts: options.hosts,
      uiUrl,
    }),
    ...bmcs.lines,
    '',
    ...(cluster && api ? cluster.lines(api, served.caFile) : []),
  ])
  openDashboard(uiUrl, options, { variables: environment.variables, logger })
  watching.begin()
  void beginNodes(options, { served, say, logger, signal: environment.stopped })
  await using hosts =
    cluster &&
    api &&
    cluster.reconcile(api, {
      served,
      environment: environment.variables,
      clock,
      logger,
      signal: environment.stopped,
      onChange: (report) => say(hostEvent(report), hostText(report)),
    })
  const why = await untilStopped(options, environment)
  // Faults of several processes go on after the end of one.
  const ownFaults = served.stage.member ? [] : served.stage.faults.list()
  for (const fault of ownFaults)
    if (fault.struck === 0) logger('warn', `a fault met nothing: ${faultLine(maskValue(fault) as FaultReport)}`)
  if (!json) stdout.line(`ironstage stops: ${why}`)
  if (shutdownDelay > 0) {
    served.stage.drain()
    await systemClock().sleep(shutdownDelay)
  }
  // As kubectl apply ends where it could not take all objects.
  return hosts?.isRefused ? 1 : 0
}

/** The object of `--ironic-cr`, which few commands name: its kinds and schemas take their time to load. */
async function ironicObjectOf({ 'ironic-cr': file }: UpOptions): Promise<UpIronicObject | undefined> {
  if (file === undefined) return undefined
  const { UpIronicObject: IronicObject } = await import('./up-ironic-object.js')
  return IronicObject.open(file)
}

/** Options that are of BareMetalHosts, and of the API that has them. */
const CLUSTER_OPTIONS = [
  'hosts',
  'watch',
  'kube-api',
  'kube-token',
  'kube-crds',
  'actors',
  'operators-as',
  'hostclaims',
] as const

/** Loads hosts and their API where an option asks for them. */
async function clusterOf(options: UpOptions, { variables }: Environment): Promise<UpCluster | undefined> {
  if (CLUSTER_OPTIONS.every((name) => options[name] === undefined)) return undefined
  const { UpCluster: Cluster } = await import('./up-cluster.js')
  return Cluster.read(options, variables)
}

/** Hardware of a hardware file for nodes that are named as those of a host, which another operator has made. */
function namedHardware(fleet: HardwareFleet | undefined) {
  return (node: string): MachineHardware | undefined => {
    const host = hostOfNode(node)
    return fleet && host && hardwareOfHost(fleet, `${host.namespace}/${host.name}`)
  }
}

/** The Ironic of this process as its replays reach it, which is not by its public URL. */
const replayedIronic = ({ stage: { url, tls, journal } }: ServedLab) => ({
  after: journal.last,
  url,
  tls: tls ? { ca: tls.certificate, pinned: true } : {},
})

/** Has the nodes go through their life up to `--begin`, and says how many came there. */
async function beginNodes(
  options: UpOptions,
  { served, say, logger, signal }: { served: ServedLab; say: SayLine; logger: Logger; signal: AbortSignal },
): Promise<void> {
  // The options' schema allows only the known values.
  const { begin } = options as { begin?: BeginGoal }
  if (begin === undefined) return
  const { reached, nodes } = await beginLife(served, begin, { logger, signal })
  if (!signal.aborted)
    say({ event: 'begun', verb: begin, reached, nodes }, `${begin}: ${reached} of ${nodes} nodes succeeded`)
}

/** The lab that the options describe. */
async function labRequest(options: UpOptions, environment: Environment, configFiles: readonly ConfigFile[]) {
  return {
    ironic: ironicOf(options, configFiles),
    ...defined({ host: options.host, port: options.port ?? (options.role === 'conductor' ? 0 : undefined) }),
    allowedHosts: options['allowed-host'],
    nodes: options.nodes ?? 0,
    ...defined({ hardware: options.hardware === undefined ? undefined : await readHardware(options.hardware) }),
    ...bmcAccountOf(options, 'each BMC then has the account of the first node that names it'),
    stateDir: options['state-dir'] ?? null,
    realistic: options.realistic ?? false,
    imageCache: await makeCacheRequest(options, environment),
    ...defined({ managers: options.steps ? await loadManagers(options.steps) : undefined }),
    page: isDashboardServed(options),
  }
}

/** The database that this process shares with others. */
async function databaseOf(options: UpOptions, { variables }: Environment): Promise<ServeOptions['database']> {
  if (DATABASE_OPTIONS.every((name) => options[name] === undefined)) return undefined
  return readUpDatabase(options, variables)
}

const DATABASE_OPTIONS = ['database', 'database-schema', 'database-password-file', 'role'] as const

/** True if the machines are of other processes: those of one database are, too. */
const isElsewhere = ({ machines, database }: UpOptions): boolean => machines === 'elsewhere' || database !== undefined

/** Options about machines, their BMCs or their agents that are of this process. */
const OWN_MACHINE_OPTIONS = [
  'nodes',
  'hardware',
  'begin',
  'redfish-port',
  'ipmi-port',
  'bmc-user',
  'bmc-password',
  'bmc-password-file',
  'realistic',
  'steps',
] as const

/** @throws UserError (usage) for options of machines of this process where these are elsewhere */
function checkElsewhere(options: UpOptions): void {
  if (!isElsewhere(options)) return
  const owner = options.database === undefined ? '--machines elsewhere' : '--database'
  if (options.machines === 'here')
    throw usageError(
      '--machines here: the machines of --database are elsewhere, where all of its processes reach them',
      'leave it out; --role machines and ironstage fleet have the machines',
    )
  const own = OWN_MACHINE_OPTIONS.find((name) => options[name] !== undefined && options[name] !== false)
  if (own !== undefined)
    throw usageError(
      `--${own} is about machines of this process, and ${owner} has none`,
      'leave one of them out; --role machines and ironstage fleet have the machines, and take their options',
    )
  if (options.clock === 'manual' || options.clock === 'auto')
    throw usageError(
      `--clock ${options.clock} has no hold over machines elsewhere, whose time passes by itself`,
      'leave it out; --speed 10 makes time pass faster, with the same at ironstage fleet',
    )
}

/** Machines elsewhere boot files of the port for images, unless live images have it. */
function elsewhereOf(options: UpOptions, liveImages: LiveImagesRequest | undefined): LabElsewhere | undefined {
  if (!isElsewhere(options)) return undefined
  return defined({ bootPort: liveImages ? undefined : options['image-port'] })
}

/** The live images that the lab serves, as programs read them; undefined if it serves none. */
function servedImages({ stage: { images } }: ServedLab): object | undefined {
  if (!images) return undefined
  return {
    url: images.url,
    live: images.architectures.map((architecture) => ({ architecture, ...images.urls(architecture)! })),
    ramdisk: images.oldRamdisk,
  }
}

/** Resolves when a signal, or the end of standard input, stops the command, with the reason as a person reads it. */
async function untilStopped(options: UpOptions, environment: Environment): Promise<string> {
  const { stopped } = environment
  await Promise.race([stopAsked(stopped), ...(options['stop-with-stdin'] ? [standardInputEnds(environment)] : [])])
  return stopped.aborted ? errorChain(stopped.reason).join(': ') : 'standard input has ended'
}

/** @throws UserError (usage) for two of the options that say how time passes */
function clockMode({ speed, clock }: UpOptions): ClockMode {
  if (clock === undefined) return speed ?? 1
  if (speed !== undefined)
    throw usageError(
      '--speed and --clock both say how time passes',
      `leave one of them out: --clock x${speed} is --speed ${speed}`,
    )
  const factor = clock === 'real' ? 1 : Number(clock.slice(1))
  if (clock === 'manual' || clock === 'auto') return clock
  if (factor > 0) return factor
  throw usageError(`--clock ${clock}: time would not pass`, 'use --clock manual')
}

const hostEvent = ({ name, state, error, isDetached }: AppliedHost) => ({
  event: 'host',
  host: name,
  state,
  error,
  detached: isDetached,
})

const hostText = ({ name, state, error, isDetached }: AppliedHost): string =>
  `${name}  ${state ?? 'deleted'}${isDetached ? ', detached' : ''}${error === null ? '' : `: ${error}`}`

/** With `IRONIC_USE_COREOS_IPA` and no image named, the live image that comes with ironstage is served. */
async function liveImagesRequest(
  options: UpOptions,
  { variables }: Environment,
  { byDefault, clock }: { byDefault: boolean; clock: Clock },
): Promise<LiveImagesRequest | undefined> {
  const files = (await liveImagesOf(options, clock)) ?? (byDefault ? rehearsalLiveImage : undefined)
  if (!files) return undefined
  // The machines of this command call this Ironic, and only it knows its address: none is read from the options.
  const { ironicUrls: _, ...agent } = await agentOptionsOf(options, variables, 'http://127.0.0.1')
  const port = options['image-port']
  return { files, byDefault, agent, allowedHosts: options['allowed-host'], ...defined({ port }) }
}

/** Flags of ironstage stand for options of Ironic; `--set` wins over them. */
function ironicOf(options: UpOptions, files: readonly ConfigFile[]): IronicConfigRequest {
  const { htpasswd, 'tls-cert': certificate, 'tls-key': key } = options
  const tls = options.tls ?? (certificate === undefined && key === undefined ? undefined : true)
  const set = [
    ...(htpasswd === undefined
      ? []
      : ['DEFAULT.auth_strategy=http_basic', `DEFAULT.http_basic_auth_user_file=${htpasswd}`]),
    ...(tls === undefined ? [] : [`api.enable_ssl_api=${tls}`]),
    ...(certificate === undefined ? [] : [`api.cert_file=${certificate}`]),
    ...(key === undefined ? [] : [`api.key_file=${key}`]),
    ...(options.set ?? []),
  ]
  // The options' schemas allow only the known values.
  const { profile, 'ironic-release': release } = options as { profile?: ProfileName; 'ironic-release'?: IronicRelease }
  return { files, set, ...defined({ profile, release }) }
}

/** Variables that BareMetal Operator and OpenStack clients read. */
const environmentBlock = ({ url, authStrategy, caFile }: ServedLab): Record<string, string> => ({
  IRONIC_ENDPOINT: `${url}/v1/`,
  OS_ENDPOINT: url,
  OS_AUTH_TYPE: authStrategy === 'noauth' ? 'none' : authStrategy,
  ...(caFile === null ? {} : { IRONIC_CACERT_FILE: caFile, OS_CACERT: caFile }),
})

interface NodeWatch {
  onEvent: (event: LabEvent) => void
  /** The nodes that are there and their states, in a line; null when there are none. */
  summary: () => string | null
  /** From now on prints a line for each change of a node; until then the summary stands for all changes. */
  begin: () => void
}

/** Prints an event for programs, or lines for people. */
type SayLine = (event: object, text: string | readonly string[]) => void

/** Prints the changes of nodes that matter to a person; with `json` also those while starting. */
function watchNodes(say: SayLine, json: boolean): NodeWatch {
  const seen = new Map<string, { name: string | null; state: string; error: string | null }>()
  let begun = json
  return {
    onEvent: (event) => {
      if (event.kind === 'deployment-repeated') {
        const { node: uuid, name, times, error } = event
        say({ event: 'deployment-repeated', uuid, name, times, last_error: error }, repetitionText(event))
        return
      }
      if (event.kind !== 'node') {
        if (event.kind === 'node-gone') seen.delete(event.uuid)
        return
      }
      const { uuid, name, provision_state: state, last_error: error, power_state: power } = event.node
      const before = seen.get(uuid)
      if (before?.state === state && before.error === error) return
      seen.set(uuid, { name, state, error })
      if (!begun) return
      say(
        { event: 'node', uuid, name, provision_state: state, power_state: power, last_error: error },
        `${name ?? uuid}  ${state}${error === null ? '' : `: ${error}`}`,
      )
    },
    summary: () =>
      summarizeNodes([...seen.entries()].map(([uuid, { name, state }]) => ({ name: name ?? uuid, state }))),
    begin: () => {
      begun = true
    },
  }
}

/** `Nodes: node-0 ... node-999 (1000), all in enroll.` */
function summarizeNodes(nodes: readonly { name: string; state: string }[]): string | null {
  const first = nodes[0]
  const last = nodes.at(-1)
  if (!first || !last) return null
  const counts = new Map<string, number>()
  for (const { state } of nodes) counts.set(state, (counts.get(state) ?? 0) + 1)
  const names =
    nodes.length <= 3 ? nodes.map(({ name }) => name).join(', ') : `${first.name} ... ${last.name} (${nodes.length})`
  const states =
    counts.size === 1
      ? `${nodes.length === 1 ? '' : 'all '}in ${first.state}`
      : [...counts].map(([state, count]) => `${count} in ${state}`).join(', ')
  return `${nodes.length === 1 ? 'Node' : 'Nodes'}: ${names}, ${states}.`
}
