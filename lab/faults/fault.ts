import type { ProvisionState } from '../../base/wire/index.js'

/** Where a {@link Fault} strikes: all conditions must hold. */
export interface FaultMatch {
  /** A node's uuid or name. */
  node?: string
  machine?: string
  /** Provision state of the node, at the time of the strike. */
  state?: ProvisionState
  /** The step that the agent carries out: `install_coreos`. */
  step?: string
  phase?: 'inspect' | 'clean' | 'deploy' | 'install' | 'active'
  /**
   * An exchange whose path begins with these whole parts, as in `/v1/heartbeat`; with a method in front, `POST /v1/nodes`.
   * `:id` stands for any part: `PUT /v1/nodes/:id/states/provision`.
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

/** How a {@link Fault} strikes. */
export type FaultEffect =
  /** Nothing gets through between the agent and Ironic, in either direction. */
  | { kind: 'agent-silent' }
  /** The agent is started again, on the same boot; what it began goes on where a restarted agent can follow it. */
  | { kind: 'agent-restart' }
  /** The machine loses its power. */
  | { kind: 'power-loss' }
  /** The BMC does not answer. */
  | { kind: 'bmc-silent' }
  /** The call is carried out; after it, the BMC does not answer for `ms` of lab time, as while it starts again. */
  | { kind: 'bmc-dark'; ms: number }
  /**
   * The BMC has too much to do: it answers 503, over Redfish with `Retry-After` in seconds, 30 by default, over IPMI with
   * the completion code C0h. On `sign in`
   * it has as many sessions as it takes.
   */
  | { kind: 'bmc-busy'; retryAfter?: number }
  /** The BMC reports success without carrying out the call. */
  | { kind: 'bmc-lies' }
  /** The program does not run; it ends with this exit code after printing `stderr`. */
  | { kind: 'exit-code'; code: number; stderr?: string }
  /** The disk's medium is broken at byte `at`: what touches it fails with EIO. */
  | { kind: 'disk-error'; at: number }
  /** Writing fails with ENOSPC. */
  | { kind: 'disk-full' }
  /** The disk reports a write as done without doing it. */
  | { kind: 'disk-lies' }
  /**
   * The kernel and udev show the partitions of a table that was written only after `ms` of lab time: until then programs find
   * none, though the bytes are there. A boot finds those that are on the disk.
   */
  | { kind: 'partitions-late'; ms: number }
  /** The exchange is not carried out; this is the answer. */
  | { kind: 'status'; status: number; body?: unknown }
  /** The connection is reset: before the request is carried out, or after it with the answer lost. Default `before`. */
  | { kind: 'connection-reset'; when?: 'before' | 'after' }
  /** No answer comes, until the fault is lifted. */
  | { kind: 'hang' }
  /** The connection is closed in the middle of the answer's body. */
  | { kind: 'truncated-body' }
  /** The answer's body is no whole document; of a file, it has wrong bytes and its right length. */
  | { kind: 'malformed-body' }
  /** The answer's body comes at this pace. */
  | { kind: 'slow-body'; bytesPerSecond: number }
  /** The request is carried out this often, as by a client that tries again too soon. Default 2. */
  | { kind: 'repeat'; times?: number }
  /** The agent shows a token that is not its own. */
  | { kind: 'wrong-token' }
  /** The agent names an address at which it does not listen. */
  | { kind: 'stale-agent-url' }
  /** Ironic's answers about nodes have an empty `last_error`. */
  | { kind: 'empty-last-error' }
  /** The container of the agent cannot be pulled. Default `not-found`; any other text is the registry's own sentence. */
  | { kind: 'pull-error'; reason?: 'not-found' | 'unauthorized' | 'timeout' | (string & {}) }
  /**
   * The SSH connection to a system is cut `ms` after a command on it began; the command goes on. Only the machines of
   * `ironstage run --rehearse` have such links.
   */
  | { kind: 'link-cut'; ms: number }
  /** Matching exchanges, calls of BMCs, commands, pulls and disk accesses take this much longer. */
  | { kind: 'delay'; ms: number }

export type FaultKind = FaultEffect['kind']

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
}

/** A fault that was added; disposing of it lifts it. */
export interface AddedFault extends Disposable {
  readonly id: string
}

/** A change that a caller makes to the faults of a lab. */
export type FaultChange =
  { readonly do: 'add fault'; readonly fault: Fault } | { readonly do: 'lift fault'; readonly id: string }

/** The faults of a lab. Adding and lifting one takes effect at once. */
export interface LabFaults {
  /** @throws UserError `fault` for a fault that could never strike */
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
