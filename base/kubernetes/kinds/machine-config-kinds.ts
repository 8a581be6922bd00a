import type { Condition, KubeObject } from '../object.js'
import type { LabelSelector } from '../selectors.js'

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

export interface MachineConfigPool extends KubeObject<'MachineConfigPool'> {
  spec: {
    configuration?: { name?: string }
    machineConfigSelector?: LabelSelector
    nodeSelector?: LabelSelector
    /** A number of nodes, or a share of the pool's: `25%`. */
    maxUnavailable?: number | string
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
