import { defined } from '../../base/runtime/index.js'
import type { NodeReport } from '../documents/documents.js'
import type { JournalEntry } from '../journal/entry.js'
import { beginsFlow, isFailure, isHeartbeatEntry } from '../journal/journal-flow.js'
import { entryPlace, type EntryPlace } from './entry-place.js'
import { marksOf, type TimelineMark } from './marks.js'
import { retryText } from './retry-verbs.js'

/** A sentence of a chain of causes. */
export interface TimelineCause extends Pick<EntryPlace, 'process'> {
  text: string
  /** Lab time, where it is known. */
  at: string | null
  /** Id of the entry of the journal that shows it. */
  entry: number | null
  /** Id of the fault that it is about. */
  fault: string | null
}

/**
 * Explains the last error of a node by what the journal has of the same flow: the step that failed, what went wrong during it, the
 * last heartbeat before a time limit passed, the faults that struck.
 *
 * @param entries of the node, the oldest first
 * @param fault text of a fault by its id; undefined for one that was lifted
 */
export function whyFailed(
  node: NodeReport,
  entries: readonly JournalEntry[],
  fault: (id: string) => string | undefined,
): { causes: TimelineCause[]; remedy: string | null } {
  if (node.last_error === null) return { causes: [], remedy: null }
  const end = entries.findLastIndex((entry) => entry.kind === 'state' && entry.lastError === node.last_error)
  const flow = entries.slice(beginOfFlow(entries, end), end < 0 ? undefined : end + 1)
  const last = flow.at(-1)
  const shown = end < 0 ? { entry: null } : entryPlace(last!)
  const causes: TimelineCause[] = [
    { text: node.last_error, at: last?.labTime ?? null, ...shown, fault: null },
    ...failedStep(flow),
    ...silence(node.last_error, flow),
    ...lastFailure(node.last_error, flow),
    ...strikes(flow, fault),
  ]
  return { causes, remedy: remedyFor(node, causes, fault) }
}

/** The entry after which the flow of the state at `end` began: the last client's request of a verb before it. */
function beginOfFlow(entries: readonly JournalEntry[], end: number): number {
  const before = end < 0 ? entries.length : end
  for (let at = before - 1; at >= 0; at--) {
    const entry = entries[at]!
    if (entry.kind === 'state' && beginsFlow(entry)) return at
  }
  return 0
}

function failedStep(flow: readonly JournalEntry[]): TimelineCause[] {
  const steps = flow.filter((entry) => entry.kind === 'step')
  const last = steps.at(-1)
  if (!last || last.what === 'ended') return []
  const stage = steps.findLast(({ what }) => what === 'stage' || what === 'began')
  const at = stage?.what === 'stage' ? `, in its stage ${stage.stage}` : ''
  const verb = last.what === 'failed' ? 'failed' : 'did not end'
  const text = `the ${last.flow} step ${last.interface}.${last.step} ${verb}${at}`
  return [{ text, at: last.labTime, ...entryPlace(last), fault: null }]
}

/** Sign of life of the agent before a time limit passed. */
function silence(error: string, flow: readonly JournalEntry[]): TimelineCause[] {
  if (!/timeout|timed out/i.test(error)) return []
  const beat = flow.findLast((entry) => entry.kind === 'exchange' && isHeartbeatEntry(entry) && !isFailure(entry))
  if (!beat) return [{ text: 'no heartbeat of the agent came', at: null, entry: null, fault: null }]
  return [{ text: "the agent's last heartbeat came before", at: beat.labTime, ...entryPlace(beat), fault: null }]
}

/** The last thing that went wrong below the conductor and bears on the error: a command, a boot, a BMC, a download. */
function lastFailure(error: string, flow: readonly JournalEntry[]): TimelineCause[] {
  const all = firstOfSilence(marksOf(flow)).filter(({ kind, isBad }) => isBad && BELOW.has(kind))
  // After a failure the agent's logs are collected, by programs that a ramdisk need not have.
  const bad =
    all.findLast(({ kind, text }) => kind === 'command' && error.includes(programIn(text))) ??
    all.findLast(({ fault }) => fault !== null) ??
    all.findLast(({ text }) => !text.endsWith(': exit code 127'))
  if (!bad) return []
  const { kind, text, at, entry, process, fault } = bad
  return [{ text: `${WORDS[kind] ?? kind} ${text}`, at, entry, ...defined({ process }), fault }]
}

/** Without the retries of an agent whose heartbeats are not taken: the first one shows the cause. */
function firstOfSilence(marks: readonly TimelineMark[]): TimelineMark[] {
  let isSilent = false
  return marks.filter(({ kind, isBad }) => {
    if (kind !== 'heartbeat') return true
    const isFirst = !(isSilent && isBad)
    isSilent = isBad
    return isFirst
  })
}

const programIn = (text: string): string => text.split(' ', 1)[0]!.split('/').at(-1)!

const BELOW: ReadonlySet<string> = new Set(['command', 'boot', 'bmc', 'download', 'pull', 'power', 'heartbeat'])
const WORDS: Readonly<Record<string, string>> = {
  command: 'on the machine:',
  boot: 'the machine booted to',
  bmc: 'a call of the BMC:',
  download: 'a download:',
  pull: 'a pull:',
  power: 'power',
  heartbeat: 'a heartbeat was not taken:',
}

/** The faults that struck, each once. */
function strikes(flow: readonly JournalEntry[], fault: (id: string) => string | undefined): TimelineCause[] {
  const seen = new Map<string, TimelineCause>()
  for (const entry of flow)
    if (entry.kind === 'fault' && entry.what === 'struck' && entry.fault !== null && !seen.has(entry.fault))
      seen.set(entry.fault, {
        text: `${entry.fault} struck: ${fault(entry.fault) ?? `${entry.effect}, which was lifted since`}`,
        at: entry.labTime,
        ...entryPlace(entry),
        fault: entry.fault,
      })
  return [...seen.values()]
}

function remedyFor(
  { provision_state: state, waitsFor }: NodeReport,
  causes: readonly TimelineCause[],
  fault: (id: string) => string | undefined,
): string {
  const again = retryText(state)
  const present = causes.flatMap(({ fault: id }) => (id !== null && fault(id) !== undefined ? [id] : []))
  if (present.length > 0) return `lift ${[...new Set(present)].join(', ')}, then ${again}`
  if (waitsFor !== null) return `${waitsFor}; then ${again}`
  return again
}
