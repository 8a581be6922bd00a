import type { Clock } from '../../base/runtime/index.js'
import type { NodeRecord } from '../../base/wire/index.js'
import type { MachinePhase } from './phase.js'

/** The lab's knowledge of machines that a probe point lacks, and what a fault can do to them. */
export interface FaultContext {
  clock: Clock
  /** The seed of the lab: it decides when a fault of some probability strikes. */
  seed: number
  /** Finds a node by uuid or name. */
  node(ident: string): Readonly<NodeRecord> | undefined
  /** The node that a machine belongs to. */
  nodeOf(machine: string): Readonly<NodeRecord> | undefined
  /** Kernel names of the disks of a machine; undefined for none of the lab. */
  disksOf(machine: string): readonly string[] | undefined
  /** Machine behind a node, once there is one. */
  machineOf(node: string): string | undefined
  /** Address of the BMC of a machine, or of a node whose machine is still to come. */
  bmcAddress(of: { machine: string | undefined; node: string | undefined }): string | undefined
  /** Phase of a machine for a node, by default the one that uses it. */
  phaseOf(machine: string, node?: Readonly<NodeRecord>): MachinePhase | undefined
  /** The step that the agent of a machine carries out. */
  stepOf(machine: string): string | undefined
  /** Names of the steps that agents have; absent where they are not known. */
  readonly steps?: readonly string[]
  /** True if machines are reached by SSH. Default false. */
  readonly links?: boolean
  /** True if machines have agents. Default true. */
  readonly hasAgents?: boolean
  /** True if the Ironic of the machines is of this process, so that its nodes and calls are known. Default true. */
  readonly hasNodes?: boolean
  restartAgent(machine: string): void
  cutPower(machine: string): void
}
