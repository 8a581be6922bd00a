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
  PreprovisioningImage,
  Provisioning,
} from './kinds/metal3-kinds.js'
import { METAL3_CRDS } from './crds/crd-schemas.js'
import type { Deployment } from './kinds/apps-kinds.js'
import type { ConfigMap, KubeEvent, KubeNode, Lease, Namespace, Secret } from './kinds/core-kinds.js'
import type { CustomResourceDefinition } from './kinds/definition-kinds.js'
import type { ClusterOperator, ClusterVersion } from './kinds/config-kinds.js'
import type { MachineConfig, MachineConfigPool } from './kinds/machine-config-kinds.js'
import type { KubeMachine, MachineSet } from './kinds/machine-kinds.js'

/** The kinds that the API serves, with their types. */
export interface KubeKinds {
  BareMetalHost: BareMetalHost
  BareMetalSwitch: BareMetalSwitch
  BMCEventSubscription: BmcEventSubscription
  ClusterOperator: ClusterOperator
  ClusterVersion: ClusterVersion
  ConfigMap: ConfigMap
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
  Lease: Lease
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
  /** True for a kind that a CustomResourceDefinition brings. */
  isCustom: boolean
  /** True if `status` is written by itself, and by nothing else. */
  hasStatus: boolean
  /** True if `metadata.generation` counts its changes. */
  hasGeneration: boolean
  /** Form of its names: a subdomain, a label of one, or anything that a path can have between two slashes. */
  nameForm: 'subdomain' | 'label' | 'segment'
}

const kindEntry = (groupVersion: string, plural: string, options: Partial<KindEntry> = {}): KindEntry => {
  const [group, version] = groupVersion.includes('/') ? groupVersion.split('/') : ['', groupVersion]
  return {
    group: group!,
    version: version!,
    plural,
    shortNames: options.shortNames ?? [],
    isNamespaced: options.isNamespaced ?? true,
    isCustom: group!.includes('.') && !group!.endsWith('.k8s.io'),
    hasStatus: options.hasStatus ?? true,
    hasGeneration: options.hasGeneration ?? true,
    nameForm: options.nameForm ?? 'subdomain',
  }
}

/** Objects that are no wish and no state of something: they have no status, and nothing counts their changes. */
const PLAIN = { hasStatus: false, hasGeneration: false } as const

/** A kind of metal3, as its CustomResourceDefinition has it. */
function crdEntry(kind: keyof typeof METAL3_CRDS): KindEntry {
  const { apiVersion, schema: _schema, columns: _columns, ...entry } = METAL3_CRDS[kind]
  return kindEntry(apiVersion, entry.plural, entry)
}

export const KUBE_KINDS: Readonly<Record<KubeKind, KindEntry>> = {
  BareMetalHost: crdEntry('BareMetalHost'),
  BareMetalSwitch: crdEntry('BareMetalSwitch'),
  BMCEventSubscription: crdEntry('BMCEventSubscription'),
  ClusterOperator: kindEntry('config.openshift.io/v1', 'clusteroperators', { shortNames: ['co'], isNamespaced: false }),
  ClusterVersion: kindEntry('config.openshift.io/v1', 'clusterversions', { isNamespaced: false }),
  ConfigMap: kindEntry('v1', 'configmaps', { shortNames: ['cm'], ...PLAIN }),
  CustomResourceDefinition: kindEntry('apiextensions.k8s.io/v1', 'customresourcedefinitions', {
    shortNames: ['crd', 'crds'],
    isNamespaced: false,
  }),
  DataImage: crdEntry('DataImage'),
  Deployment: kindEntry('apps/v1', 'deployments', { shortNames: ['deploy'] }),
  Event: kindEntry('v1', 'events', { shortNames: ['ev'], nameForm: 'segment', ...PLAIN }),
  FirmwareSchema: crdEntry('FirmwareSchema'),
  HardwareData: crdEntry('HardwareData'),
  HostClaim: crdEntry('HostClaim'),
  HostDeployPolicy: crdEntry('HostDeployPolicy'),
  HostFirmwareComponents: crdEntry('HostFirmwareComponents'),
  HostFirmwareSettings: crdEntry('HostFirmwareSettings'),
  HostNetworkAttachment: crdEntry('HostNetworkAttachment'),
  HostUpdatePolicy: crdEntry('HostUpdatePolicy'),
  Lease: kindEntry('coordination.k8s.io/v1', 'leases', PLAIN),
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
  Namespace: kindEntry('v1', 'namespaces', {
    shortNames: ['ns'],
    isNamespaced: false,
    hasGeneration: false,
    nameForm: 'label',
  }),
  Node: kindEntry('v1', 'nodes', { shortNames: ['no'], isNamespaced: false, hasGeneration: false }),
  PreprovisioningImage: crdEntry('PreprovisioningImage'),
  Provisioning: kindEntry('metal3.io/v1alpha1', 'provisionings', { isNamespaced: false }),
  Secret: kindEntry('v1', 'secrets', PLAIN),
}

/** `apiVersion` of a kind's objects. */
export const apiVersionOf = (kind: KubeKind): string => {
  const { group, version } = KUBE_KINDS[kind]
  return group === '' ? version : `${group}/${version}`
}
