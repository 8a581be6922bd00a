import type {
  BareMetalHost,
  DataImage,
  FirmwareSchema,
  HardwareData,
  HostFirmwareComponents,
  HostFirmwareSettings,
  HostUpdatePolicy,
  PreprovisioningImage,
  Provisioning,
} from './kinds/metal3-kinds.js'
import type { Deployment } from './kinds/apps-kinds.js'
import type { ConfigMap, KubeNode, Namespace, Secret } from './kinds/core-kinds.js'
import type { ClusterOperator, ClusterVersion } from './kinds/config-kinds.js'
import type { MachineConfig, MachineConfigPool } from './kinds/machine-config-kinds.js'
import type { KubeMachine, MachineSet } from './kinds/machine-kinds.js'

/** The kinds that the API serves, with their types. */
export interface KubeKinds {
  BareMetalHost: BareMetalHost
  ClusterOperator: ClusterOperator
  ClusterVersion: ClusterVersion
  ConfigMap: ConfigMap
  DataImage: DataImage
  Deployment: Deployment
  FirmwareSchema: FirmwareSchema
  HardwareData: HardwareData
  HostFirmwareComponents: HostFirmwareComponents
  HostFirmwareSettings: HostFirmwareSettings
  HostUpdatePolicy: HostUpdatePolicy
  Machine: KubeMachine
  MachineConfig: MachineConfig
  MachineConfigPool: MachineConfigPool
  MachineSet: MachineSet
  Namespace: Namespace
  Node: KubeNode
  PreprovisioningImage: PreprovisioningImage
  Provisioning: Provisioning
  Secret: Secret
}

export type KubeKind = keyof KubeKinds

/** How the API serves a kind. */
export interface KindEntry {
  /** API group; empty for the core group. */
  group: string
  version: string
  plural: string
  shortNames: readonly string[]
  isNamespaced: boolean
  /** Whether `status` is written by itself, and by nothing else. */
  hasStatus: boolean
}

const kindEntry = (
  groupVersion: string,
  plural: string,
  { shortNames = [], isNamespaced = true, hasStatus = true }: Partial<KindEntry> = {},
): KindEntry => {
  const [group, version] = groupVersion.includes('/') ? groupVersion.split('/') : ['', groupVersion]
  return { group: group!, version: version!, plural, shortNames, isNamespaced, hasStatus }
}

export const KUBE_KINDS: Readonly<Record<KubeKind, KindEntry>> = {
  BareMetalHost: kindEntry('metal3.io/v1alpha1', 'baremetalhosts', { shortNames: ['bmh', 'bmhost'] }),
  ClusterOperator: kindEntry('config.openshift.io/v1', 'clusteroperators', { shortNames: ['co'], isNamespaced: false }),
  ClusterVersion: kindEntry('config.openshift.io/v1', 'clusterversions', { isNamespaced: false }),
  ConfigMap: kindEntry('v1', 'configmaps', { shortNames: ['cm'], hasStatus: false }),
  DataImage: kindEntry('metal3.io/v1alpha1', 'dataimages'),
  Deployment: kindEntry('apps/v1', 'deployments', { shortNames: ['deploy'] }),
  FirmwareSchema: kindEntry('metal3.io/v1alpha1', 'firmwareschemas', { hasStatus: false }),
  HardwareData: kindEntry('metal3.io/v1alpha1', 'hardwaredata', { shortNames: ['hd'], hasStatus: false }),
  HostFirmwareComponents: kindEntry('metal3.io/v1alpha1', 'hostfirmwarecomponents', { shortNames: ['hfc'] }),
  HostFirmwareSettings: kindEntry('metal3.io/v1alpha1', 'hostfirmwaresettings', { shortNames: ['hfs'] }),
  HostUpdatePolicy: kindEntry('metal3.io/v1alpha1', 'hostupdatepolicies', { hasStatus: false }),
  Machine: kindEntry('machine.openshift.io/v1beta1', 'machines'),
  MachineConfig: kindEntry('machineconfiguration.openshift.io/v1', 'machineconfigs', {
    shortNames: ['mc'],
    isNamespaced: false,
    hasStatus: false,
  }),
  MachineConfigPool: kindEntry('machineconfiguration.openshift.io/v1', 'machineconfigpools', {
    shortNames: ['mcp'],
    isNamespaced: false,
  }),
  MachineSet: kindEntry('machine.openshift.io/v1beta1', 'machinesets'),
  Namespace: kindEntry('v1', 'namespaces', { shortNames: ['ns'], isNamespaced: false }),
  Node: kindEntry('v1', 'nodes', { shortNames: ['no'], isNamespaced: false }),
  PreprovisioningImage: kindEntry('metal3.io/v1alpha1', 'preprovisioningimages', { shortNames: ['ppimg'] }),
  Provisioning: kindEntry('metal3.io/v1alpha1', 'provisionings', { isNamespaced: false }),
  Secret: kindEntry('v1', 'secrets', { hasStatus: false }),
}

/** `apiVersion` of a kind's objects. */
export const apiVersionOf = (kind: KubeKind): string => {
  const { group, version } = KUBE_KINDS[kind]
  return group === '' ? version : `${group}/${version}`
}
