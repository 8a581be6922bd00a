/** Kinds of entries of a BMC's log. */
export type LogKind =
  | ('power on' | 'power off' | 'reset' | 'boot' | 'boot failed' | 'media inserted' | 'media ejected')
  | ('firmware updated' | 'bios applied' | 'bmc reset' | 'nmi' | 'cleared')

/** Something that happened to a machine, as its BMC has logged it. */
export interface LogEntry {
  /** Counts up from 1; not reused after the log is cleared. */
  readonly id: number
  /** Milliseconds since the Unix epoch, in lab time. */
  readonly at: number
  readonly kind: LogKind
  /** The URL, source, version or reason; without secrets. */
  readonly detail: string
}

/** Probe point after the BMC of a machine has made an entry in its log. */
export interface BmcLogPoint {
  readonly kind: 'bmc log'
  readonly machine: string
  readonly entry: LogEntry
}

export interface LogState {
  readonly last: number
  readonly entries: readonly LogEntry[]
}

/** Entries that a BMC stores; the oldest makes room for the newest. */
const MAX_BMC_LOG_ENTRIES = 100

/** The log of a BMC. */
export class BmcLog {
  readonly #firmware: { log?: LogState }
  readonly #now: () => number

  constructor(firmware: { log?: LogState }, now: () => number) {
    this.#firmware = firmware
    this.#now = now
  }

  /** The oldest first. */
  get entries(): readonly LogEntry[] {
    return this.#firmware.log?.entries ?? []
  }

  /** Adds an entry, which is stored with the next change of the machine. */
  add(kind: LogKind, detail = ''): LogEntry {
    const { last = 0, entries = [] } = this.#firmware.log ?? {}
    const entry = { id: last + 1, at: this.#now(), kind, detail }
    this.#firmware.log = { last: entry.id, entries: entries.slice(1 - MAX_BMC_LOG_ENTRIES).concat(entry) }
    return entry
  }

  /** Empties the log but for the entry that says so. */
  clear(): void {
    this.#firmware.log = { last: this.#firmware.log?.last ?? 0, entries: [] }
    this.add('cleared')
  }
}
