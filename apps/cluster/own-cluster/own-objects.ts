import type { MIRROR_KINDS, MirrorKind } from '../../../base/registry/index.js'
import type { PolicySource } from '../actors/machine-config-operator/daemon/node-disruption.js'
import type {
  BareMetalProviderSpec,
  Condition,
  HostImageSpec,
  LabelSelector,
  MachineConfiguration,
} from '../../../base/kubernetes/index.js'

// The members of a cluster's objects that a rehearsal reads, as `oc adm must-gather` and `oc get -o yaml` write them:
// openshift/api 2a3d739 (config/v1, machineconfiguration/v1, operator/v1, machine/v1beta1), baremetal-operator 02aa505.

interface OwnMetadata {
  name: string
  namespace?: string
  uid?: string
  labels?: Record<string, string>
  annotations?: Record<string, string>
  ownerReferences?: { kind: string; name: string }[]
  deletionTimestamp?: string
}

interface OwnObject<K extends string> {
  apiVersion: string
  kind: K
  metadata: OwnMetadata
}

/** A condition as objects of a cluster have it: some operators leave members out. */
export type OwnCondition = Pick<Condition, 'type' | 'status'> & { reason?: string; message?: string }

interface OwnClusterVersion extends OwnObject<'ClusterVersion'> {
  spec: {
    clusterID: string
    channel?: string
    desiredUpdate?: { version?: string; image?: string } | null
    overrides?: { kind?: string; name?: string; unmanaged?: boolean }[] | null
  }
  status: {
    desired?: { version?: string; image?: string }
    history: OwnHistoryEntry[]
    availableUpdates?: { version?: string; image?: string }[] | null
    conditions?: OwnCondition[]
  }
}

export interface OwnHistoryEntry {
  state: 'Completed' | 'Partial'
  version: string
  image: string
  startedTime?: string
  completionTime?: string | null
  verified?: boolean
}

export interface OwnClusterOperator extends OwnObject<'ClusterOperator'> {
  status?: { conditions?: OwnCondition[]; versions?: { name: string; version: string }[] }
}

interface OwnInfrastructure extends OwnObject<'Infrastructure'> {
  status?: {
    infrastructureName?: string
    platform?: string
    platformStatus?: { type?: string }
    apiServerInternalURI?: string
    controlPlaneTopology?: string
  }
}

export interface OwnPool extends OwnObject<'MachineConfigPool'> {
  spec: {
    configuration?: { name?: string }
    machineConfigSelector?: LabelSelector | null
    nodeSelector?: LabelSelector | null
    maxUnavailable?: number | string
    paused?: boolean
    osImageStream?: { name: string }
  }
  status?: {
    configuration?: { name?: string }
    machineCount?: number
    conditions?: OwnCondition[]
    osImageStream?: { name: string }
  }
}

export interface OwnMachineConfig extends OwnObject<'MachineConfig'> {
  spec: {
    config?: object | null
    osImageURL?: string
    kernelArguments?: string[] | null
    kernelType?: string
    extensions?: string[] | null
    fips?: boolean
  }
}

/** The streams of CoreOS in a release; `spec.defaultStream` may be missing in v1alpha1. */
interface OwnImageStream extends OwnObject<'OSImageStream'> {
  spec?: { defaultStream?: string }
  status?: { defaultStream?: string; availableStreams?: { name: string }[] }
}

/** The releases that the control plane serves; in v1alpha1 the status may be missing. */
export interface OwnInternalRelease extends OwnObject<'InternalReleaseImage'> {
  spec: { releases: { name: string }[] }
  status?: { conditions?: OwnCondition[]; releases?: { name: string; image?: string; conditions?: OwnCondition[] }[] }
}

/** How the age of boot images is judged, as `MachineConfiguration` states it. */
export type SkewEnforcement = NonNullable<NonNullable<MachineConfiguration['status']>['bootImageSkewEnforcementStatus']>

interface OwnMachineConfiguration extends OwnObject<'MachineConfiguration'> {
  spec?: Pick<MachineConfiguration['spec'], 'bootImageSkewEnforcement'> & PolicySource['spec']
  status?: { bootImageSkewEnforcementStatus?: SkewEnforcement } & PolicySource['status']
}

export interface OwnNode extends OwnObject<'Node'> {
  spec?: { unschedulable?: boolean; providerID?: string; taints?: object[] | null }
  status?: { conditions?: OwnCondition[]; nodeInfo?: { osImage?: string; architecture?: string } }
}

export interface OwnMachine extends OwnObject<'Machine'> {
  spec: { providerID?: string; providerSpec?: { value?: BareMetalProviderSpec | null } }
  status?: { phase?: string; nodeRef?: { name?: string }; errorMessage?: string }
}

export interface OwnMachineSet extends OwnObject<'MachineSet'> {
  spec: {
    replicas?: number
    selector: LabelSelector
    template: {
      metadata?: { labels?: Record<string, string> }
      spec: { providerSpec?: { value?: BareMetalProviderSpec | null } }
    }
  }
}

export interface OwnHost extends OwnObject<'BareMetalHost'> {
  spec: {
    online?: boolean
    bmc?: { address: string; credentialsName?: string }
    bootMACAddress?: string
    architecture?: string
    bootMode?: 'UEFI' | 'UEFISecureBoot' | 'legacy'
    consumerRef?: { kind?: string; name?: string; namespace?: string }
    customDeploy?: { method: string }
    externallyProvisioned?: boolean
    image?: HostImageSpec
    rootDeviceHints?: Record<string, unknown>
  }
  status?: {
    operationalStatus?: string
    errorType?: string
    errorMessage?: string
    poweredOn?: boolean
    provisioning?: { state?: string }
    hardware?: { hostname?: string }
  }
}

interface OwnHardwareData extends OwnObject<'HardwareData'> {
  spec?: { hardware?: Record<string, unknown> }
}

interface OwnFirmwareSettings extends OwnObject<'HostFirmwareSettings'> {
  spec?: { settings?: Record<string, string | number> | null }
  status?: { settings?: Record<string, string> | null; conditions?: OwnCondition[] }
}

interface OwnProvisioning extends OwnObject<'Provisioning'> {
  spec?: {
    provisioningNetwork?: 'Managed' | 'Unmanaged' | 'Disabled'
    provisioningOSDownloadURL?: string
    [field: string]: unknown
  }
}

export interface OwnDisruptionBudget extends OwnObject<'PodDisruptionBudget'> {
  status?: { disruptionsAllowed?: number; expectedPods?: number; currentHealthy?: number; desiredHealthy?: number }
}

interface OwnConfigMap extends OwnObject<'ConfigMap'> {
  data?: Record<string, string>
}

interface MirrorList {
  source: string
  mirrors?: string[] | null
  mirrorSourcePolicy?: 'AllowContactingSource' | 'NeverContactSource'
}

/** Mirrors of registries: the three kinds in which OpenShift has had them. */
export interface OwnMirrorSet extends OwnObject<MirrorKind> {
  spec?: { [K in (typeof MIRROR_KINDS)[MirrorKind]['at']]?: MirrorList[] | null }
}

/** The kinds of a cluster that a rehearsal plays, with their types. */
export interface OwnKinds {
  BareMetalHost: OwnHost
  ClusterOperator: OwnClusterOperator
  ClusterVersion: OwnClusterVersion
  ConfigMap: OwnConfigMap
  HardwareData: OwnHardwareData
  HostFirmwareSettings: OwnFirmwareSettings
  ImageContentSourcePolicy: OwnMirrorSet
  ImageDigestMirrorSet: OwnMirrorSet
  ImageTagMirrorSet: OwnMirrorSet
  Infrastructure: OwnInfrastructure
  InternalReleaseImage: OwnInternalRelease
  Machine: OwnMachine
  MachineConfig: OwnMachineConfig
  MachineConfigPool: OwnPool
  MachineConfiguration: OwnMachineConfiguration
  MachineSet: OwnMachineSet
  Node: OwnNode
  OSImageStream: OwnImageStream
  PodDisruptionBudget: OwnDisruptionBudget
  Provisioning: OwnProvisioning
}

export type OwnKind = keyof OwnKinds

/** The objects of a cluster by kind, each list in the order of names. */
export type OwnObjects = { [K in OwnKind]: OwnKinds[K][] }
