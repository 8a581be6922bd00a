import type { DiskDrawing } from '../machine/index.js'
import { userError } from '../base/runtime/index.js'
import {
  type MachineReport,
  type SystemJournalLine,
  type JournalEntry,
  maskValue,
  type NodeTimeline,
} from '../control/index.js'

/** Everything that a report shows of a node, secrets masked. */
export interface NodeDetails {
  timeline: NodeTimeline
  /** The last entries of its journal. */
  entries: readonly JournalEntry[]
  /** Null for a node without a machine of the lab. */
  machine: Pick<MachineReport, 'id' | 'power' | 'boot' | 'console' | 'nics' | 'hardware' | 'firstBoot' | 'os'> | null
  disks: readonly DiskDrawing[]
  systemJournal: readonly SystemJournalLine[]
}

/** Calls of the control API that a report is made of, in this process or over HTTP. */
export interface ReportSource {
  timeline(node: string): Promise<NodeTimeline>
  journal(query: { node: string; last: number }): Promise<{ entries: JournalEntry[] }>
  machine(machine: string): Promise<MachineReport>
  disks(machine: string): Promise<{ disks: DiskDrawing[] }>
  journalOfMachine(machine: string): Promise<{ journal: readonly SystemJournalLine[] }>
}

/** Entries of a node that a report has. */
const MAX_REPORT_ENTRIES = 1000

export async function nodeDetails(source: ReportSource, node: string): Promise<NodeDetails> {
  const timeline = await source.timeline(node)
  const { entries } = await source.journal({ node: timeline.node.uuid, last: MAX_REPORT_ENTRIES })
  const id = timeline.node.machine
  const machine = id === null ? null : (maskValue(await source.machine(id).catch(unlessGone)) as MachineReport | null)
  if (!machine) return { timeline, entries, machine: null, disks: [], systemJournal: [] }
  const { disks } = await source.disks(machine.id)
  const { journal } = await source.journalOfMachine(machine.id)
  return { timeline, entries, machine, disks, systemJournal: journal }
}

/** A machine may be removed while a report is made. */
function unlessGone(error: unknown): null {
  const code = userError(error)?.code ?? (error as { code?: unknown }).code
  if (code === 'no-such-machine') return null
  throw error
}
