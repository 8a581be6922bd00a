import type { ManifestKind } from '../../base/kubernetes/index.js'

/** A BareMetalHost that passed its schema: the fields that are read here. */
export interface BareMetalHostManifest {
  kind: 'BareMetalHost'
  metadata: ManifestMetadata
  spec: {
    architecture?: string
    automatedCleaningMode?: 'metadata' | 'disabled'
    bmc?: { address: string; credentialsName: string; disableCertificateVerification?: boolean }
    bootMACAddress?: string
    bootMode?: 'UEFI' | 'UEFISecureBoot' | 'legacy'
    consumerRef?: { kind?: string; name?: string }
    customDeploy?: { method: string }
    disablePowerOff?: boolean
    externallyProvisioned?: boolean
    firmware?: object
    hardwareProfile?: string
    image?: HostImageManifest
    inspectionMode?: 'disabled' | 'agent' | 'fast'
    metaData?: SecretReference
    networkData?: SecretReference
    userData?: SecretReference
    online: boolean
    preprovisioningNetworkDataName?: string
    preprovisioningExtraKernelParams?: string
    raid?: { hardwareRAIDVolumes?: HardwareVolume[] | null; softwareRAIDVolumes?: SoftwareVolume[] | null }
    rootDeviceHints?: DeviceHints
    networkInterfaces?: HostInterface[]
  }
}

interface HostInterface {
  name?: string
  macAddress?: string
  hostNetworkAttachment?: { name?: string; namespace?: string }
}

export interface HostImageManifest {
  url?: string
  checksum?: string
  checksumType?: 'md5' | 'sha256' | 'sha512' | 'auto'
  format?: 'raw' | 'qcow2' | 'vdi' | 'vmdk' | 'live-iso' | 'coreos'
  diskFormat?: 'coreos'
  ociAuthSecretName?: string
}

export interface HardwareVolume {
  level: string
  name?: string
  sizeGibibytes?: number
  rotational?: boolean
  numberOfPhysicalDisks?: number
  controller?: string
  physicalDisks?: string[]
}

export interface SoftwareVolume {
  level: string
  /** True if the system is installed on it. */
  rootVolume?: boolean
  sizeGibibytes?: number
  physicalDisks?: DeviceHints[]
}

export interface DeviceHints {
  deviceName?: string
  hctl?: string
  model?: string
  vendor?: string
  serialNumber?: string
  minSizeGigabytes?: number
  wwn?: string
  wwnWithExtension?: string
  wwnVendorExtension?: string
  rotational?: boolean
}

export interface ManifestMetadata {
  name: string
  namespace?: string
  uid?: string
  labels?: Record<string, string>
  annotations?: Record<string, string>
}

interface SecretReference {
  /** A reference without a name refers to nothing. */
  name?: string
  namespace?: string
}

export interface SecretManifest {
  kind: 'Secret'
  metadata: ManifestMetadata
  type?: string
  data?: Record<string, string>
  stringData?: Record<string, string>
}

interface FirmwareSettingsManifest {
  kind: 'HostFirmwareSettings'
  metadata: ManifestMetadata
  spec?: { settings?: Record<string, string | number> }
}

interface FirmwareComponentsManifest {
  kind: 'HostFirmwareComponents'
  metadata: ManifestMetadata
  spec?: { updates?: { component: string; url: string }[] }
}

/** A kind that goes with a host, and is applied as it is. */
export interface OtherManifest {
  kind: OtherKind
  metadata: ManifestMetadata
  spec?: Record<string, unknown>
}

/** Kinds of metal3 that a file may have beside hosts, their Secrets and their firmware. */
export type OtherKind = Exclude<
  ManifestKind,
  'BareMetalHost' | 'Secret' | 'HostFirmwareSettings' | 'HostFirmwareComponents'
>

export type Metal3Manifest =
  BareMetalHostManifest | SecretManifest | FirmwareSettingsManifest | FirmwareComponentsManifest | OtherManifest
