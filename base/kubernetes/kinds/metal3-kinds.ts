import type { Condition, KubeObject } from '../object.js'

/** Image that a host is to get. */
export interface HostImageSpec {
  url?: string
  checksum?: string
  checksumType?: string
  format?: string
}

/** A host, as BareMetal Operator has it. `metal3-schemas.ts` has the schema of its spec. */
export interface BareMetalHost extends KubeObject<'BareMetalHost'> {
  spec: {
    online: boolean
    bmc?: { address: string; credentialsName: string; disableCertificateVerification?: boolean }
    bootMACAddress?: string
    consumerRef?: { apiVersion?: string; kind?: string; name?: string; namespace?: string }
    customDeploy?: { method: string }
    image?: HostImageSpec
    userData?: { name?: string; namespace?: string }
    [field: string]: unknown
  }
  status?: BareMetalHostStatus
}

/** `status.provisioning.state`; empty for a host that was not looked at yet. */
export type ProvisioningState =
  | ('' | 'unmanaged' | 'registering' | 'inspecting' | 'preparing' | 'available' | 'provisioning' | 'provisioned')
  | ('externally provisioned' | 'deprovisioning' | 'powering off before delete' | 'deleting')

export type HostErrorType =
  | ('detach error' | 'provisioned registration error' | 'registration error' | 'inspection error')
  | ('preparation error' | 'provisioning error' | 'power management error' | 'servicing error')

/** A Secret as it was when the BMC was asked with it. */
export interface CredentialsStatus {
  credentials?: { name: string; namespace: string }
  credentialsVersion?: string
}

/** RFC 3339; null for what has not happened. */
interface OperationTimes {
  start: string | null
  end: string | null
}

/** `status` of a host: apis/metal3.io/v1alpha1/baremetalhost_types.go of baremetal-operator. */
export interface BareMetalHostStatus {
  errorMessage: string
  errorType?: HostErrorType
  errorCount: number
  operationalStatus: '' | 'OK' | 'discovered' | 'error' | 'delayed' | 'detached' | 'servicing'
  poweredOn: boolean
  provisioning: {
    /** UUID of the node. */
    ID: string
    state: ProvisioningState
    bootMode?: string
    image?: HostImageSpec
    customDeploy?: { method: string }
    rootDeviceHints?: object
    raid?: object
  }
  hardware?: object
  hardwareProfile?: string
  goodCredentials?: CredentialsStatus
  triedCredentials?: CredentialsStatus
  operationHistory?: Partial<Record<'register' | 'inspect' | 'provision' | 'deprovision', OperationTimes>>
  provisioningFailCount?: number
  lastAttemptedImage?: HostImageSpec
  lastUpdated?: string
  conditions?: Condition[]
}

export interface HostFirmwareSettings extends KubeObject<'HostFirmwareSettings'> {
  spec: { settings: Record<string, string | number> }
  status?: {
    settings: Record<string, string>
    /** The FirmwareSchema of the settings. */
    schema?: { name: string; namespace: string }
    /** `Valid`, `ChangeDetected`. */
    conditions?: Condition[]
    lastUpdated?: string
  }
}

export interface FirmwareComponent {
  component: string
  initialVersion: string
  currentVersion?: string
  lastVersionFlashed?: string
  updatedAt: string | null
}

export interface HostFirmwareComponents extends KubeObject<'HostFirmwareComponents'> {
  spec: { updates: { component: string; url: string }[] }
  status?: {
    updates?: { component: string; url: string }[]
    components?: FirmwareComponent[]
    lastUpdated?: string
    /** `Valid`, `ChangeDetected`. */
    conditions?: Condition[]
  }
}

/** Hardware of an inspected host, for as long as the host is there. */
export interface HardwareData extends KubeObject<'HardwareData'> {
  spec: { hardware?: object }
}

/** Values that a BIOS takes; hosts with the same BIOS share one. */
export interface FirmwareSchema extends KubeObject<'FirmwareSchema'> {
  spec: { hardwareVendor?: string; hardwareModel?: string; schema: Record<string, object> }
}

type UpdatePolicy = 'onPreparing' | 'onReboot'

/** True if a host that is provisioned is serviced when it is turned on again. */
export interface HostUpdatePolicy extends KubeObject<'HostUpdatePolicy'> {
  spec: { firmwareSettings?: UpdatePolicy; firmwareUpdates?: UpdatePolicy }
}

/** An image in the virtual drive of a host, beside the system that it runs. */
export interface DataImage extends KubeObject<'DataImage'> {
  spec: { url: string }
  status?: {
    lastReconciled?: string
    attachedImage?: { url: string }
    error?: { count: number; message: string }
  }
}

/** The deploy image of a host, which the image customization controller makes. */
export interface PreprovisioningImage extends KubeObject<'PreprovisioningImage'> {
  spec: { architecture?: string; networkDataName?: string; acceptFormats?: ('iso' | 'initrd')[] }
  status?: {
    architecture?: string
    format?: 'iso' | 'initrd'
    imageUrl?: string
    kernelUrl?: string
    extraKernelParams?: string
    networkData?: { name?: string; version?: string }
    /** `Ready`, `Error`. */
    conditions?: Condition[]
  }
}

/** Settings of the services that cluster-baremetal-operator runs. There is one, named `provisioning-configuration`. */
export interface Provisioning extends KubeObject<'Provisioning'> {
  spec: {
    provisioningNetwork?: 'Managed' | 'Unmanaged' | 'Disabled'
    provisioningOSDownloadURL?: string
    additionalNTPServers?: string[]
    bootIsoSource?: 'local' | 'http'
    preProvisioningOSDownloadURLs?: { isoURL?: string; kernelURL?: string; initramfsURL?: string; rootfsURL?: string }
    watchAllNamespaces?: boolean
  }
  status?: { conditions?: Condition[]; readyReplicas?: number }
}

/** An address to which the BMC of a host sends events. */
export interface BmcEventSubscription extends KubeObject<'BMCEventSubscription'> {
  spec?: {
    hostName?: string
    destination?: string
    context?: string
    httpHeadersRef?: { name?: string; namespace?: string }
  }
  status?: { subscriptionID?: string; error?: string }
}

/** A condition on the labels of a host, as `matchExpressions` of a HostClaim has it. */
export interface LabelExpression {
  key: string
  /** `in`, `notin`, `exists`, `!`, `=`, `==`, `!=`, in any case. */
  operator: string
  values?: string[]
}

/** A wish for a host of some labels, from a namespace that may have one. */
export interface HostClaim extends KubeObject<'HostClaim'> {
  spec: {
    poweredOn?: boolean
    image?: HostImageSpec
    hostSelector?: {
      matchLabels?: Record<string, string>
      matchExpressions?: LabelExpression[]
      inNamespace?: string
    }
    failureDomain?: string
    [field: string]: unknown
  }
  status?: {
    bareMetalHost?: { name: string; namespace: string }
    /** `Associated`, `Ready`. */
    conditions?: Condition[]
    [field: string]: unknown
  }
}

/** Namespaces whose claims may have a host of its namespace: all conditions that are there have to hold. */
export interface HostDeployPolicy extends KubeObject<'HostDeployPolicy'> {
  spec?: {
    hostClaimNamespaces?: {
      names?: string[]
      /** An expression of Go, anywhere in the name. */
      nameMatches?: string
      hasLabels?: { name: string; value?: string }[]
    }
  }
  status?: object
}

/** VLANs of a port of a switch; at this release only the webhooks read it. */
export interface HostNetworkAttachment extends KubeObject<'HostNetworkAttachment'> {
  spec: { mode?: string; allowedVLANs?: string[]; [field: string]: unknown }
  status?: object
}

/** A switch of Ironic's network service. */
export interface BareMetalSwitch extends KubeObject<'BareMetalSwitch'> {
  spec: {
    address: string
    macAddress: string
    driver?: string
    deviceType?: string
    port?: number
    disableCertificateVerification?: boolean
    credentials?: { name?: string; namespace?: string }
  }
  status?: {
    /** `Valid`. */
    conditions?: Condition[]
  }
}

/** Account, or certificate, of a Secret or ConfigMap. */
interface LinkedResource {
  name?: string
  kind?: string
}

/** Addresses of a standalone Ironic. */
export interface IronicNetworking {
  apiPort?: number
  ipAddress?: string
  externalIP?: string
  externalCallbackURL?: string
  imageServerExternalURL?: string
  ingress?: object
  interface?: string
  ipAddressManager?: string
  macAddresses?: string[]
  bindInterface?: boolean
  disableHostNetwork?: boolean
  keepalived?: { enabled: boolean }
  dhcp?: {
    networkCIDR?: string
    rangeBegin?: string
    rangeEnd?: string
    extraRanges?: object[]
    serveDNS?: boolean
    dnsAddress?: string
  }
}

/** An Ironic that the operator of standalone Ironics deploys. */
export interface IronicObject extends KubeObject<'Ironic'> {
  spec?: {
    apiCredentialsName?: string
    database?: { credentialsName: string; host: string; name: string }
    deployRamdisk?: { sshKey?: string; extraKernelParams?: string }
    extraConfig?: { group?: string; name?: string; value?: string }[]
    highAvailability?: boolean
    inspection?: { collectors?: string[]; vlanInterfaces?: string[] }
    networking?: IronicNetworking
    networkingService?: { enabled?: boolean; providerNetworks?: object[] }
    tls?: { certificateName?: string; bmcCA?: LinkedResource; trustedCA?: LinkedResource }
    version?: string
    [field: string]: unknown
  }
  status?: {
    /** `Ready`. */
    conditions?: Condition[]
    requestedVersion?: string
    installedVersion?: string
  }
}
