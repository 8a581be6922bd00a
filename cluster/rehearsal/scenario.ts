/** A rehearsal of an upgrade as data: the built-in ones and those of users have this form (`docs/rehearse.md`). */
export interface Scenario {
  /** `deploy-image`; of lower-case letters, digits and dashes. */
  name: string
  /** One sentence: `The deploy image follows the release`. */
  title: string
  /** The design document that tells it: `000`. */
  document?: string
  releases: Readonly<Record<string, ScenarioRelease>>
  cluster: ScenarioCluster
  steps: readonly ScenarioStep[]
}

/** A release of the cluster, by what differs from others. Its images are made with the versions that stand here. */
export interface ScenarioRelease {
  /** `4.14.0` */
  version: string
  /** Version of the live images and of the node image: `414.92.202310170514-0`. Default: that of {@link iso}. */
  coreos?: string
  /** Version of the disk images, where they are of a base without the cluster's programs: `9.2.20220510.1`. */
  base?: string
  /** `fcos` for OKD. Default `rhcos`. */
  family?: 'rhcos' | 'fcos'
  /** Kind of image that machine sets of a cluster install that is installed with it. Default `coreos`. */
  installs?: 'coreos' | 'qcow2'
  /** The deploy image: `coreos`, or the kernel and ramdisk of before. Default `coreos`. */
  deployImage?: 'coreos' | 'old-ramdisk'
  /** Version of the agent's container. Default: the version of the release. */
  agent?: string
  /** Stream metadata of the installer, where it names another version than {@link base} or {@link coreos}. */
  installerStream?: string
  /** An image of the payload that does not match its digest. */
  damaged?: 'node-image'
  /** Path of a live ISO in place of a made one. */
  iso?: string
  /** Path of a metal image in place of a made one: `.raw`, `.raw.gz` or `.raw.xz`. */
  metal?: string
}

export interface ScenarioCluster {
  /** Key of the release that it is installed with. */
  release: string
  /** `disconnected` reaches its mirror registry alone. Default `connected`. */
  network?: 'connected' | 'disconnected'
  /** Nodes that run from the beginning. Default 0. */
  controlPlane?: number
  workers?: number
  /** Hosts that are registered and not provisioned. Default 0. */
  spares?: number
  /** Whether the machine sets keep their boot image in upgrades. */
  pinned?: boolean
}

/** Computers by role: `spares` are hosts that are not provisioned, `nodes` are control plane and workers. */
export type Group = 'spares' | 'workers' | 'control plane' | 'nodes' | 'bootstrap'

export type ScenarioStep =
  /** The administrator asks for a release; with `force` past warnings, as of a return to an older minor release. */
  | { upgrade: string; force?: boolean }
  /** Waits in lab time. */
  | { wait: WaitedFor; within?: string }
  /** The administrator changes the number of workers; `as` measures from the request to running nodes. */
  | { scale: number; as?: string }
  /** Powers spare hosts on or off. */
  | { power: 'on' | 'off'; of: Group; index?: number }
  /** Connects new computers; `supportedSince` names the first release whose drivers know them. */
  | { connect: number; supportedSince?: string }
  /** Installs nodes again, in place. */
  | { reprovision: Group }
  /** The administrator gives the machine sets the boot image of a release. */
  | { bootImage: string }
  /** Installs the bootstrap node of a release. */
  | { bootstrap: string }
  /** Changes a file on the disk of a node, past the cluster. */
  | { tamper: Group; path: string; text: string }
  | { expect: Expectation }

/** `installations` are hosts of machines, whether they have become nodes or not. */
export type WaitedFor = 'upgrade' | 'spares' | 'installations' | 'nodes' | 'pools' | 'reboots'

export type Expectation =
  /** The deploy image that hosts which are not provisioned run now, or boot next. */
  | { deployImage: string; of: Group; index?: number }
  /** The system that nodes run, and the image that they were installed from. */
  | { runs: string; of: Group; index?: number }
  | { installedFrom: string; of: Group; index?: number }
  | { method: 'coreos' | 'qcow2'; of: Group; index?: number }
  | { state: string; of: Group; index?: number }
  | { upgrade: 'completed' | 'refused' | 'under way' | 'failing'; because?: string }
  | { bootImageOf: 'machine sets'; is: string }
  | { refused: 'boot image'; because?: string }
  | { pulled: 'base' | 'node image'; of: string; times: number }
  | { reached: 'mirrors only' }
  | { faster: string; than: string; by?: string }
  | { fewerBytes: string; than: string }
  | { reboots: number; of: Group; index?: number; since: 'upgrade' | 'installation' }
  | { skew: readonly string[] }
  | { degraded: Group; because?: string }
  | { agent: string; of: Group }
