import type { HostStage } from '../hosts/host.js'
import type { ConsoleFinding, HostFailure, HostFacts, HostOutcome } from './run-state.js'

/** A row of the table that is shown before anything is written. */
export interface TableRow extends HostFacts {
  host: string
  ok: boolean
  /** The reason why nothing will be written there. */
  refused: string | null
}

/** Events of a run; without a terminal they are printed unchanged, one a line. */
export type RunEvent =
  | { event: 'run'; id: string; hosts: string[]; resumed: boolean; state_dir: string }
  | { event: 'dashboard'; url: string }
  | { event: 'stage'; host: string; stage: HostStage; status: 'started'; attempt: number }
  | { event: 'stage'; host: string; stage: HostStage; status: 'done' | 'skipped'; seconds: number }
  | {
      event: 'stage'
      host: string
      stage: HostStage
      status: 'failed'
      seconds: number
      failure: HostFailure
      again: boolean
    }
  | { event: 'progress'; host: string; stage: HostStage; percent?: number; text?: string }
  | { event: 'console'; host: string; kind: ConsoleFinding['kind']; line: string }
  | { event: 'table'; rows: TableRow[] }
  | { event: 'host'; host: string; outcome: HostOutcome; why: string | null }
