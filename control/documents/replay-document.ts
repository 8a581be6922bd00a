import type { JournalEntry } from '../journal/entry.js'

/** Asks for a replay of a recording against the lab's own Ironic. */
export interface ReplayRequest {
  /** Text of the file. */
  recording: string
  /** Name of the file, for messages. */
  name?: string
  /** Seconds to wait for the states of the recording. Default: three times as long as recorded, plus a minute. */
  wait?: number
}

/** A replay as it stands. */
export interface ReplayReport {
  name: string
  state: 'running' | 'ended' | 'failed' | 'stopped'
  /** Calls that were made again. */
  done: number
  /** Calls of the recording's clients. */
  calls: number
  differences: number
  /** Lines as `ironstage replay` prints them; those of calls that are still to come are not there yet. */
  lines: string[]
  /** Reason of a failure. */
  problem: string | null
}

/** Makes recordings of a lab and replays them against its Ironic, one at a time. */
export interface LabRecordings {
  /** The exchanges of entries as a recording. */
  write(entries: readonly JournalEntry[]): string
  /**
   * @param credentials headers of the requests that were recorded with credentials
   * @throws UserError `replay-running`, or one of a recording that cannot be read
   */
  begin(request: ReplayRequest, credentials: Readonly<Record<string, string>>): Promise<ReplayReport>
  /** The replay that began last. */
  report(): ReplayReport | undefined
  stop(): void
}
