import type { Condition, KubeObject } from '../object.js'

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

/** Settings of the machine config operator. There is one, named `cluster`. */
export interface MachineConfiguration extends KubeObject<'MachineConfiguration'> {
  spec: {
    managementState?: string
    managedBootImages?: object
    bootImageSkewEnforcement?: { mode: 'Manual' | 'None'; manual?: BootImageVersion }
    [member: string]: unknown
  }
  status?: {
    observedGeneration?: number
    bootImageSkewEnforcementStatus?: {
      mode: 'Automatic' | 'Manual' | 'None'
      automatic?: Omit<BootImageVersion, 'mode'>
      manual?: BootImageVersion
    }
    conditions?: Condition[]
    [member: string]: unknown
  }
}

export interface MachineConfigPool extends KubeObject<'MachineConfigPool'> {
  spec: {
    configuration?: { name?: string }
    machineConfigSelector?: { matchLabels?: Record<string, string> }
    nodeSelector?: { matchLabels?: Record<string, string> }
    maxUnavailable?: number
    paused?: boolean
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
  }
}
