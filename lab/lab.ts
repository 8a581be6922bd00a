import type { IronicConfigRequest } from '../ironic-mock/index.js'
import type { FirstBoot, HardwareFleet, MachineSpec, NewDisk } from '../machine/index.js'
import type { Clock, Logger } from '../base/runtime/index.js'
import type { HardwareManager } from '../steps/index.js'
import type { Target } from '../targets/index.js'
import type { ApiNode, IronicClient, NodeRecord, RequestedStep } from '../base/wire/index.js'
import type { LabEvents } from './lab-events.js'
import type { LabFaults, LabJournal } from '../control/index.js'
import type { LiveImagesRequest } from './images/live-images.js'
import type { LabSnapshots } from './snapshots/snapshot.js'
import type { NodeImageRegistry } from './stage/stage-registry.js'

/** Options of {@link createLab}. */
export interface LabOptions {
  /**
   * `auto` jumps over every wait while a caller waits on the lab; `manual` moves by `clock.advance()` only; a number is
   * a speed, 1 for wall time. Default `auto`.
   */
  clock?: 'auto' | 'manual' | number
  /** The same seed gives the same ids, tokens and jitter. Default 1. */
  seed?: number
  /** Configures Ironic in its own terms: profile, release, `ironic.conf`. Default: the `metal3` profile. */
  ironic?: IronicConfigRequest
  /** Hardware managers of the agents, see {@link managersWith}. Default: the standard ones. */
  managers?: readonly HardwareManager[]
  /** Hardware of new machines, by their number. Default: {@link defaultMachineSpec}. */
  hardware?: HardwareFleet
  /**
   * File with the metal image that live ramdisks carry: raw, gzip, xz or zstd. `install_coreos` installs it when its
   * arguments name none.
   */
  metalImage?: string
  /** Live CoreOS images that the lab serves; machines really fetch what they boot then. Default: none. */
  liveImages?: LiveImagesRequest
  /**
   * `described` remembers only the structures on disks; `file` keeps their bytes in sparse files of a temporary folder.
   * Default `described`.
   */
  disks?: 'file' | 'described'
  /** Machines and agents take as long as hardware and ironic-python-agent do, in lab time. Default false. */
  realistic?: boolean
  /**
   * Listens on this address, so that clients of other processes can use {@link Lab.url}; port 0 takes a free one. Such
   * clients want a clock of speed 1. Default: no socket.
   */
  listen?: { host: string; port: number }
  /** Default: {@link silent}. */
  logger?: Logger
}

/** The deployment that {@link LabNode.deploy} asks for. */
export interface DeployRequest {
  /** Steps as in Ironic's `deploy_steps`; {@link installCoreos} makes one. */
  deploySteps?: readonly RequestedStep[]
  /** Config drive: an object with `meta_data`, `network_data` and `user_data`, or a string, as Ironic takes it. */
  configdrive?: unknown
}

/** Options of {@link Lab.enroll}. */
export interface EnrollOptions extends DeployRequest {
  /** The machine. Default: the next one of the lab's hardware. */
  machine?: MachineSpec
  /** More fields of the node, by their names in Ironic's API. */
  fields?: Record<string, unknown>
}

/** An Ironic, simulated machines and their agents in this process. Dispose of it at the end of a test. */
export interface Lab<C extends Clock = Clock> extends AsyncDisposable {
  /** URL of Ironic's API, without `/v1`. */
  readonly url: string
  /** Client of that API, authorized where the API asks for it. */
  readonly client: IronicClient
  readonly clock: C
  readonly events: LabEvents
  readonly faults: LabFaults
  /** The last of what happened in the lab. */
  readonly journal: LabJournal
  /** Registry from which the systems on machines' disks pull their node images. */
  readonly registry: NodeImageRegistry
  /** The specification of machine `n` of this lab, from 1, or of one with an id of its own. */
  spec(n: number | (Partial<MachineSpec> & { id: string })): MachineSpec
  /** Registers a machine as a node in state `enroll`; {@link LabNode.deploy} takes it from there. */
  enroll(options?: EnrollOptions): Promise<LabNode>
  /** Waits for anything in lab time: an automatic clock jumps until then. */
  wait<T>(awaited: Promise<T>): Promise<T>
  /**
   * A `fetch` for clients in this process that finds the lab's APIs below `base`, without a socket: `fetchAt('https://ironic.test')`.
   * An automatic clock stands still between requests. A request that reads a node first lets the lab go on to the node's
   * next state, so a client that polls sees each state, however long it takes in lab time.
   */
  fetchAt(base: string): typeof fetch
  /**
   * A node of this lab by its uuid or name.
   *
   * @throws IronicError 404 when there is none
   */
  node(ident: string): Promise<LabNode>
  /** Moments to which the lab can go back, see {@link LabSnapshots}. */
  readonly snapshots: LabSnapshots<Lab<C>>
}

/** A node of a lab. */
export interface LabNode {
  readonly uuid: string
  /** The node as Ironic's API shows it. */
  get(): Promise<ApiNode>
  /** Asks Ironic for a provisioning verb (`manage`, `active`, `deleted` ...); resolves once Ironic has accepted it. */
  provision(target: string, more?: Parameters<IronicClient['provision']>[2]): Promise<void>
  /**
   * Takes the node through `manageable`, inspection and cleaning to `available`, from the state that it is in.
   *
   * @throws UserError `not-deployable` from a state that does not lead there; `unexpected-state` when a step of it fails
   */
  makeAvailable(): Promise<void>
  /** Makes the node available and asks for the deployment that it was enrolled with; {@link settled} waits for its end. */
  deploy(): Promise<void>
  /** Waits until the node is in a stable or a failed state, unlocked, with no change of power under way. */
  settled(): Promise<ApiNode>
  /** The machine behind the node; undefined before its first power-on when its BMC address was never configured. */
  machine(): Promise<LabMachine | undefined>
  /** Waits until `condition` holds; it is checked after every change of the node. */
  until(condition: (node: Readonly<NodeRecord>) => boolean): Promise<ApiNode>
}

/** One boot of a machine, from power-on to power-off. */
export interface LabBoot {
  /** As in /proc/sys/kernel/random/boot_id: new at every boot. */
  readonly id: string
  readonly outcome: 'ramdisk' | 'disk' | 'live' | 'no bootable device' | 'kernel panic' | 'emergency shell'
}

/** The simulated computer behind a node. */
export interface LabMachine {
  readonly spec: MachineSpec
  power(): 'on' | 'off'
  /** Hard unless `soft`; resolves when the state is reached. */
  setPower(target: 'on' | 'off' | 'reboot', options?: { soft?: boolean }): Promise<void>
  /** The current boot; undefined when powered off or still on its way up. */
  boot(): LabBoot | undefined
  /** The current boot or, when powered off, the one before; undefined while on its way up. */
  lastBoot(): LabBoot | undefined
  /** Lines on the console of a boot from served media; empty for others. */
  console(): readonly string[]
  /** The latest first boot from disk, with what Ignition did there. */
  firstBoot(): FirstBoot | undefined
  /** The last lines of the journal of the system on its disk. `at` is in milliseconds since the epoch, in lab time. */
  journal(): readonly { readonly at: number; readonly from: string; readonly message: string }[]
  /** Path of the file with a disk's bytes, by kernel name (`sda`); undefined for a described disk. */
  diskFile(disk: string): Promise<string | undefined>
  /** Plugs the cable of a NIC in, or pulls it; an agent without any cable is not reached. */
  setCarrier(nic: string, carrier: boolean): Promise<void>
  /**
   * Puts another disk in the place of one, while the machine is off: a blank one, or by its serial number one that was there
   * before, with its contents.
   */
  swapDisk(disk: string, wanted?: NewDisk): Promise<void>
  /** Reaches the booted ramdisk as a step does; its executor rejects while the machine is off or runs something else. */
  readonly target: Target
}
