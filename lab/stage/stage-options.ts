import { beyondLoopback, type ProxySettings } from '../../base/bytes/index.js'
import type { AgentPace } from '../../agent/index.js'
import type {
  ConductorConf,
  DatabaseAddress,
  FindImage,
  IronicConfigRequest,
  MemberRole,
} from '../../ironic-mock/index.js'
import type { BootNetwork, HardwareFleet, MachineHardware, MachinePace } from '../../machine/index.js'
import type { Clock, Logger, Random } from '../../base/runtime/index.js'
import type { HardwareManager } from '../../steps/index.js'
import type { BmcAccount, HostObject, LabRecordings } from '../../control/index.js'
import type { HostLabels } from '../faults/fault-context.js'
import type { Events } from '../lab-events.js'
import type { JournalOptions } from '../journal/journal.js'
import type { ImageCacheRequest } from '../images/image-staging.js'
import type { LiveImagesRequest } from '../images/live-images.js'
import type { Forking } from '../snapshots/forks.js'
import type { StateFolder } from '../state/state-folder.js'
import type { WantedMachine } from './machine-specs.js'

/** Where a stage listens. */
export interface StageNetwork {
  host: string
  port: number
  /** Names by which clients may call besides those of this host. */
  allowedHosts?: readonly string[] | undefined
}

/** Machines of other processes or real ones, whose BMCs are reached over the network. */
interface MachinesElsewhere {
  /** Port of the boot files that this Ironic serves; default: a free one, which the state folder keeps. */
  bootPort?: number
  /** Milliseconds of wall time that a BMC may be silent; default: a minute, as `[redfish]read_timeout`. */
  answerTimeout?: number
}

/**
 * A database that other processes have too, with machines of none of them. Each has a name of its own: `[DEFAULT]host`, or else
 * the name of this host and the port.
 */
interface StageDatabase {
  readonly address: DatabaseAddress
  readonly role: MemberRole
}

/** Options of {@link stage}. */
export interface StageOptions {
  /** Folder for all state; null for none. */
  folder?: StateFolder | null
  /** Address for sockets; null connects everything in this process. */
  network?: StageNetwork | null
  clock?: Clock
  random?: Random
  /** Random seed for faults with a probability. Default 1. */
  seed?: number
  /** True if the lab keeps what its callers do, and can go back to a snapshot. Default true. */
  rewinds?: boolean
  /** Limits of the journal. */
  journal?: Pick<JournalOptions, 'capacity' | 'bytes'>
  logger?: Logger
  /** Ironic's own configuration; default: upstream's defaults with everything enabled. */
  ironic?: IronicConfigRequest
  /** Overrides {@link ironic}. */
  conf?: Partial<ConductorConf>
  machinePace?: MachinePace
  agentPace?: AgentPace
  /** Agents generate certificates and use TLS; only with {@link network}. Default: as Ironic requires. */
  agentTls?: boolean
  /** Serves the dashboard at `/_lab/ui`. Default false. */
  page?: boolean
  /** Hardware managers of the agents; default the standard ones. */
  managers?: readonly HardwareManager[]
  /** Account of BMCs without one of their own; by default each takes the account that the first node uses. */
  bmcAccount?: BmcAccount
  /** File with the metal image that live ramdisks carry and `--offline` installs. */
  metalImage?: string
  /** The same by the version of a live system that is served to machines. */
  metalImageOf?: (liveVersion: string) => string | undefined
  /** Hardware of new machines; default: the default machine. */
  hardware?: HardwareFleet
  /** Hardware of the machine that a node of a name is to find behind its BMC; before {@link hardware}. */
  hardwareOfNode?: (name: string) => MachineHardware | undefined
  /** Labels of the BareMetalHosts behind the nodes, for faults that match them. */
  hostLabels?: HostLabels
  /** Makes recordings of the stage and replays them. */
  recordings?: LabRecordings
  /** The BareMetalHost behind a node of this name. */
  hostOf?: (name: string) => HostObject | undefined
  /** Machines to create, each with a node of this name, before the API answers its first request. */
  machines?: readonly { spec: WantedMachine; name: string }[]
  /** Disks have real bytes in sparse files (`file`) or only structures (`described`). */
  disks?: 'file' | 'described'
  /** Image cache, and options for downloads; by default each installation downloads its image. */
  imageCache?: ImageCacheRequest
  /** Replaces the network that machines boot from. */
  bootNetwork?: (network: BootNetwork) => BootNetwork
  /** Throws for a URL that machines do not reach when they boot from it or fetch an image. */
  allow?: (url: string) => void
  /** Throws a PullFailure for a node image that machines do not reach. */
  pullable?: (image: string) => void
  /** Bytes a second at which machines pull node images; by default a pull takes no time. */
  pullRate?: number
  /** How Ironic checks an image before a deployment; default: over the network and in this host's files. */
  findImage?: FindImage
  /** The machines are elsewhere: none is made for the address of a BMC. */
  elsewhere?: MachinesElsewhere
  /** The database of several processes, whose machines are {@link elsewhere}; default: one of this process. */
  database?: StageDatabase
  /** Live CoreOS images to serve; machines really fetch what they boot then. */
  liveImages?: LiveImagesRequest
  /** The options as data: a snapshot in a file is for a stage of the same. */
  identity?: () => Readonly<Record<string, unknown>>
  /** Makes another stage with these options, on another port; absent without sockets. */
  fork?: Forking
  /** Called with every event, from the start. */
  onEvent?: (event: Parameters<Events['emit']>[0]) => void
}

/** Proxies of conductor, agents and virtual media: those of its downloads, but for servers of this computer. */
export const labProxies = ({ imageCache }: StageOptions): ProxySettings => beyondLoopback(imageCache?.proxies ?? {})
