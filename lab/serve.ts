import { IPA_PACE } from '../agent/index.js'
import { isLoopback } from '../base/bytes/index.js'
import { readIronicConfig, type IronicConfigRequest, type ServiceSettings } from '../ironic-mock/index.js'
import {
  LabClock,
  defined,
  openInScope,
  UserError,
  type Clock,
  type Logger,
  type Random,
} from '../base/runtime/index.js'
import type { HardwareFleet } from '../machine/index.js'
import type { HardwareManager } from '../steps/index.js'
import type { BmcAccount } from '../control/index.js'
import type { LabEvent } from './lab-events.js'
import type { ImageCacheRequest } from './images/image-staging.js'
import type { LiveImagesRequest } from './images/live-images.js'
import { REALISTIC_MACHINES } from './realistic-pace.js'
import type { ForkedLab } from './snapshots/forks.js'
import type { StoredSnapshot } from './snapshots/snapshots.js'
import { composeStage, type Stage } from './stage/stage.js'
import type { StageNetwork, StageOptions } from './stage/stage-options.js'
import { openStateFolder, type StateFolder } from './state/state-folder.js'

export interface ServeOptions {
  /** Profile, release and options of Ironic. */
  ironic?: IronicConfigRequest
  /** Listening address; overrides Ironic's options. Default 127.0.0.1, port 6385. */
  host?: string
  port?: number
  /** Names by which clients may call besides those of this host. */
  allowedHosts?: readonly string[] | undefined
  /** Number of simulated machines, each with a node. */
  nodes: number
  /** Hardware of new machines. */
  hardware?: HardwareFleet
  /** Hardware of the machine that a node of a name is to find behind its BMC. */
  hardwareOfNode?: StageOptions['hardwareOfNode']
  /** Labels of the BareMetalHosts behind the nodes, for faults that match them. */
  hostLabels?: StageOptions['hostLabels']
  /** Makes recordings of the lab and replays them. */
  recordings?: StageOptions['recordings']
  /** The BareMetalHost behind a node of this name, whose spec is shown beside its status. */
  hostOf?: StageOptions['hostOf']
  /** Account of all BMCs; by default each BMC takes the account that the first node uses. */
  bmcAccount?: BmcAccount
  stateDir: string | null
  realistic: boolean
  /** Hardware managers of the agents; default the standard ones. */
  managers?: readonly HardwareManager[]
  /** Image cache, and options for downloads; by default each installation downloads its image. */
  imageCache?: ImageCacheRequest
  /** The machines are elsewhere: none is made for the address of a BMC. */
  elsewhere?: StageOptions['elsewhere']
  /** The database of several processes; default: one of this process. */
  database?: StageOptions['database']
  /** Live CoreOS images to serve. */
  liveImages?: LiveImagesRequest
  clock: Clock
  random: Random
  logger: Logger
  onEvent?: (event: LabEvent) => void
  /** Serves the dashboard at `/_lab/ui`. Default false. */
  page?: boolean
}

export interface ServedLab extends AsyncDisposable {
  readonly stage: Stage
  /** URL of the API, without `/v1`; the public one if it is set. */
  readonly url: string
  readonly authStrategy: ServiceSettings['authStrategy']
  /** File with the generated certificate, for clients to trust. */
  readonly caFile: string | null
  /** The state folder, for ports that the next start has again. */
  readonly folder: StateFolder | null
}

/**
 * Starts an Ironic on a port, with machines, for `ironstage up`.
 *
 * @throws UserError for an address that other hosts can reach without a password, a port in use, an unusable folder
 */
export async function serve(options: ServeOptions): Promise<ServedLab> {
  const { ironic = {}, logger } = options
  const { service } = readIronicConfig(ironic)
  const { host = service.host ?? '127.0.0.1', port = service.port ?? 6385, allowedHosts } = options
  refuseOpenAccess(host, service, logger)
  return openInScope(async (scope) => {
    const folder = options.stateDir === null ? null : scope.use(await openStateFolder(options.stateDir))
    const running = scope.use(
      await composeStage(stageOptions(options, { folder, network: { host, port, allowedHosts } })),
    )
    const { authStrategy, publicEndpoint } = service
    const url = publicEndpoint ?? running.url
    return {
      stage: running,
      url,
      authStrategy,
      caFile: running.caFile,
      folder,
      [Symbol.asyncDispose]: () => scope[Symbol.asyncDispose](),
    }
  })
}

function stageOptions(options: ServeOptions, place: Required<Pick<StageOptions, 'folder' | 'network'>>): StageOptions {
  const { ironic = {}, clock, random, logger, onEvent } = options
  return {
    ...place,
    ironic,
    clock,
    random,
    logger,
    machines: Array.from({ length: options.nodes }, (_, index) => ({ spec: index + 1, name: `node-${index}` })),
    ...defined({ hardware: options.hardware, hardwareOfNode: options.hardwareOfNode }),
    ...(options.realistic ? { machinePace: REALISTIC_MACHINES, agentPace: IPA_PACE, agentTls: true } : {}),
    ...defined({
      hostLabels: options.hostLabels,
      hostOf: options.hostOf,
      recordings: options.recordings,
      bmcAccount: options.bmcAccount,
      managers: options.managers,
      elsewhere: options.elsewhere,
      database: options.database,
      liveImages: options.liveImages,
      imageCache: options.imageCache,
      onEvent,
    }),
    page: options.page ?? false,
    fork: (from) => forkOf(options, place.network!, from),
  }
}

/** Serves a fork, without the files and the printed lines of the lab. Its time passes as that of the lab does now. */
async function forkOf(options: ServeOptions, network: StageNetwork, from: StoredSnapshot): Promise<ForkedLab> {
  const { clock: ofLab, stateDir, liveImages, elsewhere } = options
  const own = elsewhere ? 'has its machines elsewhere' : liveImages ? 'serves live images' : undefined
  const what = stateDir === null ? own : 'has a state folder'
  if (what !== undefined || !(ofLab instanceof LabClock))
    throw new UserError('snapshot-unsupported', `a lab that ${what ?? 'has another clock'} has no forks`, {
      remedy: 'fork one without a state folder and live images',
    })
  // Replays are of the lab's own Ironic.
  const { onEvent: _, recordings: _recordings, ...others } = options
  // Time stands still until the fork is where it begins.
  const clock = new LabClock({ mode: ofLab.mode === 'auto' ? 'manual' : ofLab.mode })
  const place = { folder: null, network: { ...network, port: 0 } }
  const fork = await composeStage(stageOptions({ ...others, clock, nodes: 0 }, place))
  try {
    await fork.snapshots.beginAt(from)
  } catch (error) {
    await fork[Symbol.asyncDispose]()
    throw error
  }
  clock.mode = ofLab.mode
  return fork
}

/** Refuses an API without passwords on an open address, since its clients can erase the machines' disks. */
function refuseOpenAccess(host: string, { authStrategy, tls }: ServiceSettings, logger: Logger): void {
  if (isLoopback(host)) return
  if (authStrategy === 'noauth')
    throw new UserError('not-loopback', `${host} can be reached from other hosts, and this API has no passwords`, {
      remedy: 'listen on 127.0.0.1 and let others in through an SSH tunnel, or ask for passwords with --htpasswd',
      kind: 'usage',
    })
  if (!tls) logger('warn', `passwords and agents' tokens go to ${host} in the clear: --tls would hide them`)
}
