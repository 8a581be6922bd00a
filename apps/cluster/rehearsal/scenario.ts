import type { ClusterEra } from '../../../base/kubernetes/index.js'
import type { Cloud } from '../site/cloud-platforms.js'
import type { RepositoryMirrors } from '../site/container-registry.js'
import type { OwnRelease } from './own-releases.js'
import type { ScenarioManifests } from './scenario-manifests.js'

/** A rehearsal of an upgrade as data: the built-in ones and those of users have this form (`docs/rehearse.md`). */
export interface Scenario {
  /** `deploy-image`; of lower-case letters, digits and dashes. */
  name: string
  /** One sentence: `The deploy image follows the release`. */
  title: string
  /** The era whose operators act in it. A built-in one without it has the same outcome in both. */
  as?: ClusterEra
  /** The design document that describes it: `000`. */
  document?: string
  releases: Readonly<Record<string, ScenarioRelease>>
  cluster: ScenarioCluster
  steps: readonly ScenarioStep[]
  /** Objects of the files that steps apply or delete. */
  manifests?: ScenarioManifests
}

/** A scenario as a file has it: a release may be named by its image, which has the rest. */
export interface ScenarioFile extends Omit<Scenario, 'releases'> {
  releases: Readonly<Record<string, ScenarioFileRelease>>
}

interface ScenarioFileRelease extends Omit<ScenarioRelease, 'version' | 'own'> {
  version?: string
  /** `oci:DIR`, `REGISTRY/REPO:TAG`: a release image of the user's own. */
  release?: string
}

/** A release of the cluster, by what differs from others. Its images are made with the versions that stand here. */
export interface ScenarioRelease {
  /** `4.14.0` */
  version: string
  /** Version of the live images and of the node image: `414.92.202310170514-0`. Default: that of {@link iso}. */
  coreos?: string
  /** Further streams of CoreOS with their versions, beside that of {@link coreos}, which is {@link mainStream}: `rhel-10`. */
  streams?: Readonly<Record<string, string>>
  /** Stream of {@link coreos}, in a release that names its streams even if it has one alone. Default `rhel-9`. */
  mainStream?: string
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
  /** An image of the payload that cannot be had: the node image does not match its digest, others are missing. */
  damaged?: ScenarioDamage
  /** An image whose pull takes two minutes. */
  slow?: 'image-service'
  /** Path of a live ISO in place of a made one. */
  iso?: string
  /** Path of a metal image in place of a made one: `.raw`, `.raw.gz` or `.raw.xz`. */
  metal?: string
  /** Contents of a release image of the user's own. */
  own?: OwnRelease
}

export type ScenarioDamage = 'node-image' | 'image-service' | 'ironic' | 'baremetal-operator'

interface ScenarioCluster {
  /** Key of the release that it is installed with. */
  release: string
  /** Default `BareMetal`. On a cloud, machine sets name an image of it, and there are no hosts. */
  platform?: 'BareMetal' | Cloud
  /**
   * `disconnected` reaches its mirror registry alone; `internal` has none at first: its control plane serves the release that
   * it was installed with. Default `connected`.
   */
  network?: 'connected' | 'disconnected' | 'internal'
  /** Mirrors of the user's own cluster. Default: those of the rehearsal where the network is disconnected. */
  mirrors?: readonly RepositoryMirrors[]
  /** Domain of the user's own cluster, where its control plane serves its release. */
  domain?: string
  /** Nodes that run from the beginning. Default 0. */
  controlPlane?: number
  workers?: number
  /** Hosts that are registered and not provisioned. Default 0. */
  spares?: number
  /** Stream that all hosts are labelled with, and whose hosts alone machine sets claim, as the installer has it. */
  hostStream?: string
  /**
   * True if the machine sets keep their boot image in upgrades: by an annotation as the documents have it; as of today by
   * naming an image; on a cloud one of the user's own.
   */
  pinned?: boolean
  /** Where BMCs read live ISOs: Ironic's copy, or the image service itself. Default `local`. */
  bootIsoSource?: 'local' | 'http'
}

/** Computers by role: `spares` are hosts that are not provisioned, `nodes` are control plane and workers. */
export type HostGroup = 'spares' | 'workers' | 'control plane' | 'nodes' | 'bootstrap'

export type ScenarioStep =
  /**
   * The administrator asks for a release; with `force` past warnings, as of a return to an older minor release. `image` is
   * the release whose image is named in place of its own, by mistake.
   */
  | { upgrade: string; force?: boolean; image?: string }
  /** Waits in lab time. */
  | { wait: WaitedFor | ObjectWait; within?: string }
  /** The administrator copies a release to a registry beside the cluster, and names it in the mirror sets. */
  | { mirror: string }
  /** The administrator applies the objects of a file, or deletes them. */
  | { apply: string }
  | { delete: string }
  /** The administrator deletes an object, `KIND/NAME`. */
  | { remove: string }
  /** The administrator annotates an object, `KIND/NAME`; without a value the annotation is removed. */
  | { annotate: string; key: string; value?: string }
  /** The administrator changes the number of workers; `as` measures from the request to running nodes. */
  | { scale: number; as?: string }
  /** Powers spare hosts on or off. */
  | { power: 'on' | 'off'; of: HostGroup; index?: number }
  | NewHosts
  /** The administrator asks for an inspection of hosts. */
  | { inspect: HostGroup }
  /** Installs nodes again, in place. */
  | { reprovision: HostGroup }
  /** The administrator gives the machine sets the boot image of a release. */
  | { bootImage: string }
  /** The administrator leaves boot images to the release: no disk image in machine sets, nor in the Provisioning. */
  | { clear: 'boot images' }
  /**
   * The administrator asks the machine config operator to manage the boot images of machine sets, or not to; those of the
   * control plane with `of`.
   */
  | { manageBootImages: 'All' | 'None'; of?: 'control plane' }
  /** Installs the bootstrap node of a release. */
  | { bootstrap: string }
  /** Changes a file on the disk of a node, past the cluster. */
  | { tamper: HostGroup; path: string; text: string }
  /** The administrator gives hosts the right password of their BMCs. */
  | { password: 'right'; of: HostGroup }
  /** The administrator gives each host network settings of its own, or others. */
  | { network: 'own'; of: HostGroup }
  /** The administrator labels hosts with a stream of CoreOS: `rhel-10`. */
  | { hostStream: string; of: HostGroup; index?: number }
  /** The administrator chooses the stream that a pool's nodes run, or that of pools without one. */
  | { poolStream: string; of: Pool }
  | { defaultStream: string }
  /** The administrator names the program with which the nodes of a pool start containers. */
  | { runtime: 'runc' | 'crun'; of: Pool }
  /** The administrator keeps the nodes of a pool from updates, or no longer does. */
  | { pause: Pool }
  | { resume: Pool }
  /** An administrator asks Ironic itself for something, past the cluster. */
  | { askIronic: 'clean'; of: HostGroup }
  /** The next pulls of a release's node image fail. */
  | { failPulls: number; of: string }
  /** Fills the boot partition of nodes: no further boot entry fits. */
  | { fill: '/boot'; of: HostGroup }
  /** `document` is the number of the design document whose behaviour, which today's operators lack, it shows. */
  | { expect: Expectation; document?: string }

/** A wait for an object, as `kubectl wait` has it. */
export interface ObjectWait {
  /** `delete`, `create`, `condition=TYPE[=STATUS]`, `jsonpath={.PATH}[=VALUE]`. */
  for: string
  /** `BareMetalHost`, `baremetalhosts`, `bmh`. */
  kind: string
  name: string
  /** Default: `openshift-machine-api`. */
  namespace?: string
}

/** Connects new computers, and registers them as hosts. */
export interface NewHosts {
  connect: number
  /** The first release whose drivers know them. */
  supportedSince?: string
  /** `wrong` registers the hosts with a password that their BMCs refuse. */
  password?: 'wrong'
  /** `network` connects hosts whose BMCs have no virtual media. */
  boots?: 'network'
  /** `missing` names network settings that are not written yet. */
  network?: 'missing'
  /** Stream that they are labelled with. */
  stream?: string
}

export type Pool = 'workers' | 'control plane'

/** `metal3` is the roll-out of its pods, `installations` are hosts of machines, whether they have become nodes or not; `time` only passes. */
export type WaitedFor = 'time' | 'upgrade' | 'metal3' | 'spares' | 'installations' | 'nodes' | 'pools' | 'reboots'

export type Expectation =
  /** The deploy image that hosts which are not provisioned run now, or boot next. */
  | { deployImage: string; of: HostGroup; index?: number; stream?: string }
  /** The system that nodes run, and the image that they were installed from. */
  | { runs: string; of: HostGroup; index?: number; stream?: string }
  | { installedFrom: string; of: HostGroup; index?: number }
  | { method: 'coreos' | 'qcow2'; of: HostGroup; index?: number }
  | { state: string; of: HostGroup; index?: number }
  | { upgrade: 'completed' | 'refused' | 'under way' | 'failing'; because?: string }
  /** `none`: machine sets name no boot image. */
  | { bootImageOf: 'machine sets' | 'control plane'; is: string }
  /** Whether an object, `KIND/NAME`, may be deleted, with the sentence of a refusal that contains a text. */
  | { deletion: 'refused' | 'allowed'; of: string; because?: string }
  /** The registry of the control plane, on each of its nodes. */
  | { internalRegistry: 'served' | 'stopped'; of: HostGroup; index?: number }
  /** Status of a condition of an object, `KIND/NAME`, with a message that contains a text. */
  | { condition: string; of: string; is: 'True' | 'False' | 'Unknown'; because?: string }
  | { refused: 'boot image' | 'managed boot images'; because?: string }
  | { pulled: 'base' | 'node image'; of: string; times: number }
  | { reached: 'mirrors only' }
  | { faster: string; than: string; by?: string }
  | { fewerBytes: string; than: string }
  | { reboots: number; of: HostGroup; index?: number; since: 'upgrade' | 'installation' }
  | { skew: readonly string[] }
  /** How the age of boot images is enforced, and the OpenShift version that they count as. */
  | { skewMode: 'Automatic' | 'Manual' | 'None'; version?: string }
  /** False while an operator keeps the cluster from another minor release. */
  | { upgradeable: boolean; because?: string }
  /** State of a ClusterOperator by its own account. */
  | { operator: string; is: 'healthy' | 'degraded'; because?: string }
  /** The Deployments of metal3 that were rolled out since the last upgrade was asked for, in this order. */
  | { rollOuts: readonly string[] }
  | { degraded: HostGroup; because?: string }
  /** The stream that all nodes of a pool run by its status; `none` while it names none. */
  | { poolStream: string; of: Pool }
  /** The configuration of a pool is not rendered. */
  | { unrendered: Pool; because?: string }
  | { agent: string; of: HostGroup; index?: number }
  /** The error that hosts show. */
  | { error: string; of: HostGroup; index?: number }
  /** An event about an object, `KIND/NAME`, with a reason and a message that contains a text. */
  | { event: string; of: string; because?: string }
  /** The state of nodes by Ironic's account: `active`. */
  | { ironic: string; of: HostGroup; index?: number }
  /** Deploy images that hosts run have the network settings of their hosts. */
  | { network: 'own'; of: HostGroup; index?: number }
  /** The most nodes that were away at once since the last upgrade was asked for. */
  | { away: number; of: HostGroup }
  /** No node has gone down under its workloads. */
  | { workloads: 'moved' }
  /** The most logins that a BMC has refused. */
  | { refusedLogins: number; of: HostGroup }
  /** The most hosts that booted over the network at once. */
  | { networkBoots: number }
