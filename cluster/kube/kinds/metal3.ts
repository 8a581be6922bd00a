import type { Condition, KubeObject } from '../object.js'

/** A host, as BareMetal Operator has it. `metal3/` has the schema of its spec. */
export interface BareMetalHost extends KubeObject<'BareMetalHost'> {
  spec: {
    online: boolean
    bmc?: { address: string; credentialsName: string; disableCertificateVerification?: boolean }
    bootMACAddress?: string
    consumerRef?: { apiVersion?: string; kind?: string; name?: string; namespace?: string }
    customDeploy?: { method: string }
    image?: { url?: string; checksum?: string; checksumType?: string; format?: string }
    userData?: { name?: string; namespace?: string }
    [field: string]: unknown
  }
  status?: {
    errorMessage: string
    errorType?: string
    errorCount: number
    operationalStatus: '' | 'OK' | 'discovered' | 'error' | 'delayed' | 'detached' | 'servicing'
    poweredOn: boolean
    provisioning: {
      ID: string
      state: string
      image?: { url?: string; checksum?: string; checksumType?: string; format?: string }
      customDeploy?: { method: string }
    }
    hardware?: object
    [field: string]: unknown
  }
}

export interface HostFirmwareSettings extends KubeObject<'HostFirmwareSettings'> {
  spec: { settings: Record<string, string | number> }
  status?: { settings: Record<string, string>; conditions?: Condition[] }
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
    preProvisioningOSDownloadURLs?: { isoURL?: string; kernelURL?: string; initramfsURL?: string; rootfsURL?: string }
    watchAllNamespaces?: boolean
  }
  status?: { conditions?: Condition[]; readyReplicas?: number }
}
