import type { HardwareFleet } from '../../machine/index.js'
import type { PowerState, ProvisionState } from '../../base/wire/index.js'
import type { Fault } from '../faults/fault.js'
import type { JournalEntry } from '../journal/entry.js'
import type { FaultEffect } from '../faults/fault-effects.js'

/** A length of lab time: `31m`, `90s`, `1h30m`, or a number of milliseconds. */
export type LabDuration = string | number

/** The time of a lab as the control API shows it. */
export interface ClockReport {
  /** `manual`, `auto`, `real`, or a speed as in `x60`. */
  mode: string
  /** ISO 8601. */
  labTime: string
  /** Milliseconds of lab time since the lab began. */
  elapsed: number
}

/** Counts of a lab's parts, and its calls. */
export interface LabReport {
  /** Version of the control API. */
  version: number
  operations: { method: string; path: string; summary: string }[]
  clock: ClockReport
  nodes: number
  machines: number
  faults: number
  /** True if its machines are the hosts of `ironstage run`. */
  run: boolean
  /** The processes of its database; absent where it is of one process. */
  processes?: ProcessReport[]
  /** Ids of the first and the last entry of the process that is asked, and the place behind those of all processes. */
  journal: { first: number; last: number; cursor?: string }
}

/** A process of a database that several have. */
export interface ProcessReport {
  name: string
  role: 'all' | 'api' | 'conductor' | 'machines'
  /** False for one that has ended without a word. */
  alive: boolean
}

/** A process whose entries are not in an answer. */
export interface MissingProcess {
  process: string
  /** A sentence. */
  why: string
}

/** A page of the journal. */
export interface JournalPage {
  entries: JournalEntry[]
  /** URL of the next page; null at the end. */
  next: string | null
  /** Absent where none is missing. */
  missing?: MissingProcess[]
}

/** A node of Ironic as the control API shows it. */
export interface NodeReport {
  name: string | null
  uuid: string
  /** Id of its machine; null before its first power-on when its BMC address was never configured. */
  machine: string | null
  provision_state: ProvisionState
  power_state: PowerState | null
  last_error: string | null
  /** State that it goes to; null in a state that it stays in. */
  target: ProvisionState | null
  /** ISO 8601 in lab time: since when it has its state; null before it has changed. */
  since: string | null
  /** Step that is carried out, as in `deploy.install_coreos`. */
  step: string | null
  maintenance: boolean
  /** Known reason why its ramdisk cannot boot. */
  waitsFor: string | null
}

/** Asks for machines, each enrolled as a node. */
export interface EnrollRequest {
  /** Default 1. */
  count?: number
  /** Beginning of the nodes' names. Default `node-`. */
  prefix?: string
  /**
   * The same seed gives the same nodes in any lab: uuids, MAC addresses, serial numbers and WWNs. Default: those that follow
   * from the numbers of the machines and the seed of the lab.
   */
  seed?: number
  /** Hardware of the machines, as a document: docs/hardware.md. */
  hardware?: HardwareFleet | Readonly<Record<string, unknown>>
}

/** Asks for the cable of a NIC. */
export interface CableRequest {
  carrier: boolean
}

/** Asks for machines that no node is made for. */
export interface MachinesRequest {
  /** Default 1. */
  count?: number
  /** Hardware of the machines, as a document: docs/hardware.md. */
  hardware?: HardwareFleet | Readonly<Record<string, unknown>>
}

/** Asks for a machine's power button. */
export interface PowerRequest {
  power: 'on' | 'off' | 'reboot'
  /** Default false. */
  soft?: boolean
}

/** Asks for time to pass: by a length, until a node is in a state, or to the next event. */
export type AdvanceRequest =
  | { by: LabDuration }
  /** Lab time that it may take is `within`. Default 24 hours. */
  | { until: { node: string; state: ProvisionState }; within?: LabDuration }
  /** Until a node or a machine changes. */
  | { next: true; within?: LabDuration }

/** A {@link FaultEffect} in a document: its length of time is `for`. */
export type FaultEffectDocument = FaultEffect extends infer Effect
  ? Effect extends { ms: number }
    ? Omit<Effect, 'ms'> & { for: LabDuration }
    : Effect
  : never

/** A {@link Fault} in a document. */
export interface FaultDocument extends Omit<Fault, 'effect' | 'between'> {
  effect: FaultEffectDocument
  /** Lab time since the lab began, between which it strikes. */
  between?: readonly [from: LabDuration, to: LabDuration]
}
