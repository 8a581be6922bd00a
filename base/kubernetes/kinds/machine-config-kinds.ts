import type { Condition, KubeObject } from '../object.js'
import type { LabelSelector } from '../label-selectors.js'

/** A part of the configuration of a role's computers, or, as `rendered-...`, all of it. */
export interface MachineConfig extends KubeObject<'MachineConfig'> {
  spec: {
    /** An Ignition config. */
    config?: object
    /** Pullspec of the node image, by digest. */
    osImageURL?: string
    baseOSExtensionsContainerImage?: string
    kernelArguments?: string[]
  }
}

/** Version of the boot images that an administrator vouches for. */
interface BootImageVersion {
  mode: 'OCPVersion' | 'RHCOSVersion'
  /** `4.14.0` */
  ocpVersion?: string
  /** `9.6.20251023-0`, `48.84.202208021106-0` */
  rhcosVersion?: string
}

/** Consequence of a change of a file, a unit or a key, as a node disruption policy names it. */
export interface DisruptionAction {
  type: 'Reboot' | 'Drain' | 'Reload' | 'Restart' | 'DaemonReload' | 'None' | 'Special'
  reload?: { serviceName: string }
  restart?: { serviceName: string }
}

export interface DisruptionPolicies {
  files?: { path: string; actions: DisruptionAction[] }[]
  units?: { name: string; actions: DisruptionAction[] }[]
  sshkey?: { actions: DisruptionAction[] }
}

/** The machine sets of one kind whose boot images are managed, or not. */
export interface MachineManager {
  resource: 'machinesets' | 'controlplanemachinesets'
  apiGroup: 'machine.openshift.io'
  selection: { mode: 'All' | 'Partial' | 'None'; partial?: { machineResourceSelector: LabelSelector } }
}

/** Settings of the machine config operator. There is one, named `cluster`. */
export interface MachineConfiguration extends KubeObject<'MachineConfiguration'> {
  spec: {
    managementState?: string
    managedBootImages?: { machineManagers?: MachineManager[] }
    bootImageSkewEnforcement?: { mode: 'Manual' | 'None'; manual?: BootImageVersion }
    nodeDisruptionPolicy?: DisruptionPolicies
    [member: string]: unknown
  }
  status?: {
    observedGeneration?: number
    nodeDisruptionPolicyStatus?: { clusterPolicies?: DisruptionPolicies }
    bootImageSkewEnforcementStatus?: {
      mode: 'Automatic' | 'Manual' | 'None'
      automatic?: Omit<BootImageVersion, 'mode'>
      manual?: BootImageVersion
    }
    managedBootImagesStatus?: { machineManagers?: MachineManager[] }
    /** `BootImageUpdateProgressing`, `BootImageUpdateDegraded`. */
    conditions?: Condition[]
    [member: string]: unknown
  }
}

export interface MachineConfigPool extends KubeObject<'MachineConfigPool'> {
  spec: {
    configuration?: { name?: string }
    machineConfigSelector?: LabelSelector
    nodeSelector?: LabelSelector
    /** A number of nodes, or a share of the pool's: `25%`. */
    maxUnavailable?: number | string
    paused?: boolean
    /** The stream of {@link OsImageStream} that its nodes run; by default that of the worker pool, or of the cluster. */
    osImageStream?: { name: string }
  }
  status?: {
    configuration?: { name?: string }
    machineCount: number
    readyMachineCount: number
    updatedMachineCount: number
    unavailableMachineCount: number
    degradedMachineCount: number
    /** `Updated`, `Updating`, `Degraded` ... */
    conditions?: Condition[]
    /** The stream that all of its nodes run; absent while one is missing or degraded. */
    osImageStream?: { name: string }
  }
}

/** The streams of CoreOS that a release brings, such as `rhel-9` and `rhel-10`. There is one, named `cluster`. */
export interface OsImageStream extends KubeObject<'OSImageStream'> {
  spec: { defaultStream: string }
  status?: {
    defaultStream: string
    availableStreams: { name: string; osImage: string; osExtensionsImage: string }[]
  }
}

/** A release bundle in the registries of the control plane: `ocp-release-bundle-4.22.0-x86_64`. */
export interface ReleaseBundle {
  name: string
  /** Pullspec of its release image, by digest. */
  image?: string
  /** `Available`, `Degraded`. */
  conditions?: Condition[]
}

/** The releases that the nodes of the control plane serve from their disks. There is one, named `cluster`. */
export interface InternalReleaseImage extends KubeObject<'InternalReleaseImage'> {
  spec: { releases: { name: string }[] }
  status?: {
    /** `Degraded`. */
    conditions?: Condition[]
    releases: ReleaseBundle[]
  }
}

/** Report of the machine config daemon of a node. */
export interface MachineConfigNode extends KubeObject<'MachineConfigNode'> {
  spec: { node: { name: string }; pool: { name: string }; configVersion: { desired: string } }
  status?: {
    conditions?: Condition[]
    internalReleaseImage?: { releases: ReleaseBundle[] }
  }
}
