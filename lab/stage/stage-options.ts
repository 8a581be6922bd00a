import type { AgentPace } from '../../agent/index.js'
import type { FindImage, IronicConfigRequest, Policy } from '../../ironic-mock/index.js'
import type { HardwareFleet, MachinePace } from '../../machine/index.js'
import type { Clock, Logger, Random } from '../../runtime/index.js'
import type { HardwareManager } from '../../steps/index.js'
import type { BmcAccount } from '../bmcs/bmc-accounts.js'
import type { Events } from '../events.js'
import type { ImageCacheRequest } from '../image-staging.js'
import type { LiveImages, LiveImagesRequest } from '../live-images.js'
import type { StateFolder } from '../state/state-folder.js'
import type { WantedMachine } from './machine-specs.js'

/** Options of {@link stage}. */
export interface StageOptions {
  /** Where everything is kept; null keeps nothing. */
  folder?: StateFolder | null
  /** Sockets on this address, or none: everything in process. */
  network?: { host: string; port: number } | null
  clock?: Clock
  random?: Random
  logger?: Logger
  /** How Ironic is configured, in its own terms; without, upstream's defaults with everything enabled. */
  ironic?: IronicConfigRequest
  /** Over {@link ironic}. */
  policy?: Partial<Policy>
  machinePace?: MachinePace
  agentPace?: AgentPace
  /** Agents make themselves certificates and are reached by TLS; with {@link network} only. Default: as Ironic requires. */
  agentTls?: boolean
  /** What agents offer; the standard managers unless told otherwise. */
  managers?: readonly HardwareManager[]
  /** Who may use BMCs that were given no account; without, each takes that of the first node that names one. */
  bmcAccount?: BmcAccount
  /** What live ramdisks carry and `--offline` installs. */
  liveImage?: string
  /** What new machines are made of; the default machine without. */
  hardware?: HardwareFleet
  /** Machines that are there, each with a node of this name, before the API answers its first request. */
  machines?: readonly { spec: WantedMachine; name: string }[]
  /** Whether machines keep real bytes in sparse files (`file`) or only the structures on their disks (`described`). */
  disks?: 'file' | 'described'
  /** Where images from URLs are kept, and how they are fetched; without, each installation fetches its own. */
  imageCache?: ImageCacheRequest
  /** How Ironic looks at an image before it has it deployed: over the network and this host's files unless told otherwise. */
  findImage?: FindImage
  /** Live CoreOS images to serve; machines really fetch what they boot then. */
  liveImages?: LiveImagesRequest
  /** Awaited once machines and images are there, before the conductor takes up its work; a rejection ends the start. */
  beforeConductor?: (parts: { images: LiveImages['service'] | null; clock: Clock; logger: Logger }) => Promise<void>
  /** Told of everything from the start. */
  onEvent?: (event: Parameters<Events['emit']>[0]) => void
}
