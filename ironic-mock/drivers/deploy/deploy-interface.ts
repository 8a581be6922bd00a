import type { NodeRecord, RequestedStep } from '../../../base/wire/index.js'
import type { BootSource } from '../bmc.js'

/** A deploy interface: one file in this folder and one row in `deploy-interfaces.ts`. */
export interface DeployInterface {
  readonly name: string
  /** Nodes that name none get the one with the lowest number (ironic common/driver_factory.py default_interface). */
  readonly preference: number
  /** Hardware types that have it. */
  readonly supportedBy: 'every type' | 'types without a BMC' | 'the type for tests'
  /**
   * Runs the steps: an agent in a ramdisk; the instance itself, from an image in memory; or nothing, as the conductor
   * alone has all there is to do.
   */
  readonly runs: 'agent' | 'live image' | 'nothing'
  /** Steps that the conductor carries out, as a real Ironic lists them. */
  readonly steps: readonly DeployInterfaceStep[]
  /** Reason why a node cannot be deployed, in upstream's words; absent when every node can be. */
  problem?(candidate: DeployCandidate): string | undefined
  /** Reason why a node in use cannot be adopted; absent when the interface does not look at its boot. */
  adoptionProblem?(candidate: DeployCandidate): string | undefined
  /** True if `autodetect` may choose it for an instance (ironic supports_deploy); absent when it supports every one. */
  supports?(instance: Readonly<NodeRecord['instance_info']>): boolean
  /** The conductor checks the image, and computes the digest that it lacks, before the deployment. */
  readonly checksImage?: true
  /** Boot source of the instance; absent when it boots from its disk. */
  instanceSource?(node: Readonly<NodeRecord>, options: { fetchesImages: boolean }): BootSource
  /** Sentence for a boot device that could not be set. */
  bootDeviceFailed(uuid: string, error: string): string
}

/** A node, with what a deploy interface needs to know of its boot interface. */
export interface DeployCandidate {
  readonly node: Readonly<NodeRecord>
  /** Reason why the node cannot boot. */
  readonly bootProblem: string | undefined
  /** The boot interface boots instances without a disk. */
  readonly bootsRamdisks: boolean
}

export interface DeployInterfaceStep {
  readonly step: string
  readonly priority: number
  readonly action: DeployAction
}

/** Work of the conductor in a step. */
type DeployAction =
  /** Boots what the interface runs. */
  | { readonly kind: 'boot ramdisk' }
  /** Sends the agent a step of its own. */
  | { readonly kind: 'agent step'; request(node: Readonly<NodeRecord>): RequestedStep }
  /** Makes the written partitions bootable, and the disk the boot device. */
  | { readonly kind: 'make bootable' }
  | { readonly kind: 'boot from disk' }
  | { readonly kind: 'tear down agent' }
  | { readonly kind: 'switch to tenant network' }
  | { readonly kind: 'boot instance' }

/** The only step of interfaces without an agent. */
export const DEPLOY_STEP: DeployInterfaceStep = { step: 'deploy', priority: 100, action: { kind: 'boot ramdisk' } }

/** Steps from the ramdisk to the instance (ironic drivers/modules/agent_base.py). */
export const BOOT_INSTANCE_STEPS: readonly DeployInterfaceStep[] = [
  { step: 'tear_down_agent', priority: 40, action: { kind: 'tear down agent' } },
  { step: 'switch_to_tenant_network', priority: 30, action: { kind: 'switch to tenant network' } },
  { step: 'boot_instance', priority: 20, action: { kind: 'boot instance' } },
]

export const bootPreparationFailed = (_: string, error: string): string =>
  `Failed to prepare instance for booting: ${error}`
