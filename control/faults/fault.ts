import type { ProvisionState } from '../../base/wire/index.js'
import type { FaultEffect } from './fault-effects.js'

/** Where a {@link Fault} strikes: all conditions must hold. */
export interface FaultMatch {
  /** A node's uuid or name; `NAMESPACE~NAME`, the node of a BareMetalHost, may be one that is still to come. */
  node?: string
  /** A machine's id; one that is named by the address of its BMC may be still to come. */
  machine?: string
  /** Selects BareMetalHosts by their labels, as `kubectl -l` does: `rack=a,tier!=gold`. They may be still to come. */
  label?: string
  /** Provision state of the node, at the time of the strike. */
  state?: ProvisionState
  /** The step that the agent carries out: `install_coreos`. */
  step?: string
  phase?: 'inspect' | 'clean' | 'deploy' | 'install' | 'active'
  /**
   * An exchange whose path begins with these whole parts, as in `/v1/heartbeat`; with a method in front, `POST /v1/nodes`.
   * `:id` stands for any part: `PUT /v1/nodes/:id/states/provision`. Of a BMC it is a call at this resource alone:
   * `GET /redfish/v1/Systems/:id/SecureBoot`.
   */
  route?: string
  /**
   * The side that receives the request: `ironic`, `agent`, or `images`, the file servers from which machines, agents and Ironic
   * fetch images, live media, checksums and configs.
   */
  to?: 'ironic' | 'agent' | 'images'
  /** A command on a machine, by the name of its program. */
  program?: string
  /** Kernel name of a disk. */
  disk?: string
  /** Name, or a prefix of the name, of a container image that is pulled. */
  image?: string
  /** A call of a BMC: `read power`, `set power`, `set boot`, `read firmware`, `change firmware`, `read hardware` ... */
  bmc?: string
}

/** Something that goes wrong in a lab. */
export interface Fault {
  match: FaultMatch
  effect: FaultEffect
  /** How often it strikes; without, until it is lifted. */
  times?: number
  /** Matches that pass before it strikes. Default 0. */
  after?: number
  /** How likely it strikes, from 0 to 1; the lab's seed decides. Default 1. */
  probability?: number
  /** Milliseconds of lab time since the lab began, between which it strikes. */
  between?: readonly [from: number, to: number]
  /** Any text, to lift several faults at once. */
  label?: string
}

/** A fault of a lab as it stands. */
export interface FaultReport extends Fault {
  /** `fault-1`, in the order in which they were added. */
  id: string
  /** How often it has struck. */
  struck: number
  /** The node, machine or host that it waits for: `node lab~worker-0`. Absent once that is there. */
  waitsFor?: string
}

/** A fault that was added; disposing of it lifts it. */
export interface AddedFault extends Disposable {
  readonly id: string
}

/** A change that a caller makes to the faults of a lab. */
export type FaultChange =
  { readonly do: 'add fault'; readonly fault: Fault } | { readonly do: 'lift fault'; readonly id: string }

type MaybeLater<Method> = Method extends (...args: infer Args) => infer Result
  ? (...args: Args) => Result | Promise<Result>
  : never

/** {@link LabFaults}, which may be those of several processes, so that answers come later. */
export interface ControlledFaults {
  add: (fault: Fault) => { readonly id: string } | Promise<{ readonly id: string }>
  addAll: (faults: readonly Fault[]) => readonly { readonly id: string }[] | Promise<readonly { readonly id: string }[]>
  list: MaybeLater<LabFaults['list']>
  get: MaybeLater<LabFaults['get']>
  lift: MaybeLater<LabFaults['lift']>
  clear: MaybeLater<LabFaults['clear']>
}

/** The faults of a lab. Adding and lifting one takes effect at once. */
export interface LabFaults {
  /** @throws UserError `fault` for a fault that could never strike; one for a host that is still to come waits for it */
  add(fault: Fault): AddedFault
  /**
   * Adds all of them, or none.
   *
   * @throws UserError `fault` that says which of them could never strike
   */
  addAll(faults: readonly Fault[]): AddedFault[]
  /** Faults that were added and not lifted, also those that strike no more. */
  list(): FaultReport[]
  /** The fault with an id, as {@link list} has it. */
  get(id: string): FaultReport | undefined
  /** @returns whether there was such a fault */
  lift(id: string): boolean
  /** Lifts all faults, or those with a label. */
  clear(label?: string): void
}
