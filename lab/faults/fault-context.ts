import type { Clock } from '../../base/runtime/index.js'
import type { NodeRecord } from '../../base/wire/index.js'
import type { MachinePhase } from './phase.js'

/** BareMetalHosts by their labels, as the nodes that BareMetal Operator makes of them: `NAMESPACE~NAME`. */
export interface HostLabels {
  /** Why a text selects nothing in any API; undefined for a selector. */
  problemOf(selector: string): string | undefined
  /** Names of the nodes of the hosts that a selector selects now. */
  selected(selector: string): readonly string[]
  selects(selector: string, node: string): boolean
}

/** The lab's knowledge of machines that a probe point lacks, and what a fault can do to them. */
export interface FaultContext {
  clock: Clock
  /** The seed of the lab, for faults with a probability. */
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
  /** Absent where there are no BareMetalHosts. */
  readonly hosts?: HostLabels
  /** Names of the steps that agents have; absent where they are not known. */
  readonly steps?: readonly string[]
  /** True if machines are reached by SSH. Default false. */
  readonly links?: boolean
  /** True if machines have agents. Default true. */
  readonly hasAgents?: boolean
  /** True if the Ironic of the machines is of this process, so that its nodes and calls are known. Default true. */
  readonly hasNodes?: boolean
  /** True if faults of other processes come from a database. Default false. */
  readonly isShared?: boolean
  restartAgent(machine: string): void
  cutPower(machine: string): void
}
