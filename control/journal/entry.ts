import type { ProvisionState, StepKind } from '../../base/wire/index.js'

/** The members of all entries. */
export interface EntryHead {
  /** Counts up from 1, in the order in which things ended. */
  id: number
  /** Node that it concerns, by uuid; null where it concerns none, or one that does not exist. */
  node: string | null
  /** Name of that node. */
  name: string | null
  machine: string | null
  /** ISO 8601 in lab time. */
  labTime: string
  /** ISO 8601. The only member that differs between two runs of one seed. */
  wallTime: string
  /** Id of the fault that struck. */
  fault: string | null
  /** Name of the process that noted it, which has counted its {@link id}. Absent where one process has its database to itself. */
  process?: string
  /**
   * The place after this entry in the journals of all processes: `after` and `Last-Event-ID` take it, of any of them. Absent
   * where one process has its database to itself, and the id is such a place.
   */
  cursor?: string
}

/** A message as the journal keeps it: secrets are masked. */
export interface JournalMessage {
  headers: Readonly<Record<string, string>>
  /** The JSON document, or the text where it is none; null without a body, and for one that is too large to keep. */
  body: unknown
  /** Bytes of the body. */
  size: number
}

/** The call that a call which led nowhere comes nearest to. */
export interface NearMiss {
  /** `PUT /v1/nodes/{node_ident}/states/provision`, or what the call names. */
  nearest: string
  /** `the method is GET and not PUT` */
  why: string
}

/** A request and its answer. */
export interface ExchangeEntry extends EntryHead {
  kind: 'exchange'
  /** `client`, `agent`, `ironic`, `machine`. */
  from: string
  /** `ironic`, `agent`, `images`. */
  to: string
  method: string
  /** Path with the query. */
  target: string
  /** Null where no answer came; {@link error} says why. */
  status: number | null
  error: string | null
  /** Ironic's `openstack-request-id`. */
  requestId: string | null
  /** Lab time from request to answer in milliseconds. */
  duration: number
  request: JournalMessage
  response: JournalMessage | null
  nearMiss: NearMiss | null
}

/** A command on a machine. */
export interface CommandEntry extends EntryHead {
  kind: 'command'
  argv: readonly string[]
  /** Null for one that was stopped. */
  exitCode: number | null
  error: string | null
  duration: number
}

/** A node's state that changed. */
export interface StateEntry extends EntryHead {
  kind: 'state'
  state: ProvisionState | 'deleted'
  was: ProvisionState | null
  target: ProvisionState | null
  power: string | null
  lastError: string | null
  /** Number of the commit among those of the node, by which processes of one database order theirs; null for its end. */
  revision?: number | null
}

/** A step of cleaning, a deployment or servicing that began, went on or ended. */
export interface StepEntry extends EntryHead {
  kind: 'step'
  flow: StepKind
  /** Ironic's interface that offers it: `deploy`, `raid` ... */
  interface: string
  step: string
  /** Position of the step in the node's plan, from 0. */
  index: number
  what: 'began' | 'stage' | 'percent' | 'ended' | 'failed'
  /** Name of the stage that began. */
  stage: string | null
  /** How much of the stage is done: noted at each tenth that takes more than a second. */
  percent: number | null
}

/** A call of a BMC. */
export interface BmcEntry extends EntryHead {
  kind: 'bmc'
  call: string
  /** Method and path of a call that came over Redfish, `IPMI` and the name of a command; null for one of this lab's Ironic. */
  method: string | null
  target: string | null
  /** Status of its answer. */
  status: number | null
  error: string | null
  duration: number
}

/** A change of a machine's power, a boot, a container or a node image that was pulled. */
export interface MachineEntry extends EntryHead {
  kind: 'power' | 'boot' | 'pull'
  /** `on` for power that has changed, `request: on` for a request that has ended; `ramdisk`; the image that was pulled. */
  what: string
  error: string | null
}

/** A fault that was added or lifted, or that struck; what it struck is the entry that names it. */
export interface FaultEntry extends EntryHead {
  kind: 'fault'
  what: 'added' | 'lifted' | 'struck'
  effect: string
}

/** A caller moved or set the clock, pulled a cable, swapped a disk, or changed the lab otherwise. */
export interface LabEntry extends EntryHead {
  kind: 'lab'
  what: string
}

/** Something that happened in a lab. */
export type JournalEntry =
  ExchangeEntry | CommandEntry | StateEntry | StepEntry | BmcEntry | MachineEntry | FaultEntry | LabEntry

/** Kind of a {@link JournalEntry}. */
export type JournalKind = JournalEntry['kind']

export const JOURNAL_KINDS: readonly JournalKind[] = [
  ...(['exchange', 'command', 'state', 'step', 'bmc', 'power', 'boot', 'pull', 'fault', 'lab'] as const),
]

/** An entry before it has its place in the journal. */
export type NewEntry = JournalEntry extends infer Entry
  ? Entry extends JournalEntry
    ? Omit<Entry, 'id' | 'labTime' | 'wallTime' | 'process' | 'cursor'>
    : never
  : never

/** Members of an exchange that are made when they are asked for. */
export type ExchangeMessages = Pick<ExchangeEntry, 'request' | 'response' | 'nearMiss'>

/** An exchange without its messages, which take longer to make than to note: bodies are parsed and masked. */
export type NewExchange = Omit<ExchangeEntry, 'id' | 'labTime' | 'wallTime' | keyof ExchangeMessages>
