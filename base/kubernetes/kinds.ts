import type {
  BareMetalHost,
  BareMetalSwitch,
  BmcEventSubscription,
  DataImage,
  FirmwareSchema,
  HardwareData,
  HostClaim,
  HostDeployPolicy,
  HostFirmwareComponents,
  HostFirmwareSettings,
  HostNetworkAttachment,
  HostUpdatePolicy,
  IronicObject,
  PreprovisioningImage,
  Provisioning,
} from './kinds/metal3-kinds.js'
import { METAL3_CRDS, OPENSHIFT_CRDS } from './crds/crd-schemas.js'
import { CORE_KINDS } from './kinds/core-table.js'
import type { Deployment } from './kinds/apps-kinds.js'
import type { ConfigMap, KubeEvent, KubeNode, Lease, Namespace, Secret } from './kinds/core-kinds.js'
import type { CustomResourceDefinition } from './kinds/definition-kinds.js'
import type { ClusterOperator, ClusterVersion, Infrastructure } from './kinds/config-kinds.js'
import type {
  InternalReleaseImage,
  MachineConfig,
  MachineConfiguration,
  MachineConfigNode,
  MachineConfigPool,
  OsImageStream,
} from './kinds/machine-config-kinds.js'
import type { ControlPlaneMachineSet, KubeMachine, MachineSet } from './kinds/machine-kinds.js'

/** The kinds that operators of this process use, with their types; clients may define others. */
export interface KubeKinds {
  BareMetalHost: BareMetalHost
  BareMetalSwitch: BareMetalSwitch
  BMCEventSubscription: BmcEventSubscription
  ClusterOperator: ClusterOperator
  ClusterVersion: ClusterVersion
  ConfigMap: ConfigMap
  ControlPlaneMachineSet: ControlPlaneMachineSet
  CustomResourceDefinition: CustomResourceDefinition
  DataImage: DataImage
  Deployment: Deployment
  Event: KubeEvent
  FirmwareSchema: FirmwareSchema
  HardwareData: HardwareData
  HostClaim: HostClaim
  HostDeployPolicy: HostDeployPolicy
  HostFirmwareComponents: HostFirmwareComponents
  HostFirmwareSettings: HostFirmwareSettings
  HostNetworkAttachment: HostNetworkAttachment
  HostUpdatePolicy: HostUpdatePolicy
  Infrastructure: Infrastructure
  InternalReleaseImage: InternalReleaseImage
  Ironic: IronicObject
  Lease: Lease
  Machine: KubeMachine
  MachineConfig: MachineConfig
  MachineConfiguration: MachineConfiguration
  MachineConfigNode: MachineConfigNode
  MachineConfigPool: MachineConfigPool
  MachineSet: MachineSet
  Namespace: Namespace
  Node: KubeNode
  OSImageStream: OsImageStream
  PreprovisioningImage: PreprovisioningImage
  Provisioning: Provisioning
  Secret: Secret
}

export type KubeKind = keyof KubeKinds

/** The kinds that this process knows by their types, with the `apiVersion` that those are of. */
const TYPED_KINDS: Readonly<Record<KubeKind, { apiVersion: string }>> = {
  ...CORE_KINDS,
  ...METAL3_CRDS,
  ...OPENSHIFT_CRDS,
}

/** `apiVersion` of a kind's objects. */
export const apiVersionOf = (kind: KubeKind): string => TYPED_KINDS[kind].apiVersion
