import { errorChain, onAbort, seconds, systemClock } from '../../base/runtime/index.js'
import { answerOfStream, type WireResponse } from '../../base/wire/index.js'
import type { JournalEntry, LabClient } from '../../control/index.js'
import type { MemberRow } from '../../ironic-mock/index.js'
import { queryFrom } from '../control/journal-handlers.js'
import { TooSlow } from '../journal/journal.js'
import { cursorText, type EntryCursor } from './entry-cursor.js'
import type { EntryConditions, JoinedJournal } from './joined-journal.js'

/** Milliseconds between looks at which processes there are. */
const MEMBERS_POLL = 200
/** Pause before a process is asked again whose stream has ended. */
const STREAM_RETRY = seconds(1)
/** After this without an entry the reader gets a sign of life. */
const QUIET_INTERVAL = seconds(15)

/** Entries that one process has brought. */
interface BroughtEntries {
  readonly process: string
  readonly stream: number
  readonly entries: readonly JournalEntry[]
  /** Lets the process bring more. */
  readonly taken: () => void
}

/** A process whose entries are followed. */
interface FollowedProcess {
  isOpen: boolean
  /** Milliseconds of wall time at which it is asked again. */
  retryAt: number
  /** True once the reader knows that entries of it may be missing. */
  isMissed: boolean
}

/**
 * The entries of all processes as server-sent events, as they come: those of one process in its order. The id of an event is
 * the place behind it in all journals, so that another process goes on there. Each process brings a batch, and the next
 * when that was read: a slow reader costs one of each.
 *
 * @param now lab time
 */
export function joinedEvents(
  joined: JoinedJournal,
  conditions: EntryConditions,
  start: EntryCursor,
  now: () => number,
): WireResponse {
  const headers = { 'content-type': 'text/event-stream', 'cache-control': 'no-store' }
  return answerOfStream(200, headers, async function* (signal, isOverSocket) {
    yield ': entries of the journals of all processes\n\n'
    const follow = new JoinedFollow(joined, conditions, start, { now, signal, isOverSocket: isOverSocket ?? false })
    yield* follow.frames()
  })
}

interface FollowSurroundings {
  readonly now: () => number
  readonly signal: AbortSignal
  readonly isOverSocket: boolean
}

class JoinedFollow {
  readonly #joined: JoinedJournal
  readonly #conditions: EntryConditions
  readonly #around: FollowSurroundings
  readonly #wall = systemClock()
  readonly #cursor: Map<number, number>
  readonly #processes = new Map<number, FollowedProcess>()
  /** One batch of each process at most. */
  readonly #brought: BroughtEntries[] = []
  readonly #notes: string[] = []
  #lost: string | undefined
  #wake = (): void => {}
  readonly #over = new AbortController()

  constructor(joined: JoinedJournal, conditions: EntryConditions, start: EntryCursor, around: FollowSurroundings) {
    this.#joined = joined
    this.#conditions = conditions
    this.#around = around
    this.#cursor = new Map(start)
  }

  async *frames(): AsyncGenerator<string> {
    using _ = onAbort(this.#around.signal, () => this.#end())
    try {
      yield* this.#framesAsTheyCome()
    } finally {
      this.#end()
    }
  }

  /** Lets go of the processes. */
  #end(): void {
    this.#over.abort()
    this.#wake()
    for (const { taken } of this.#brought.splice(0)) taken()
  }

  async *#framesAsTheyCome(): AsyncGenerator<string> {
    const { signal } = this.#over
    const { process, stream } = this.#joined.own
    void this.#bring(process, stream, this.#ownEntries())
    for (let quietSince = this.#wall.now(); !signal.aborted;) {
      this.#reconcile()
      const frame = this.#nextFrame()
      if (frame !== undefined) {
        quietSince = this.#wall.now()
        yield frame
        continue
      }
      if (this.#lost !== undefined) return yield lostFrame(this.#lost)
      if (this.#wall.now() - quietSince >= QUIET_INTERVAL) {
        quietSince = this.#wall.now()
        yield ': nothing new\n\n'
      }
      await this.#pause()
    }
  }

  #nextFrame(): string | undefined {
    const note = this.#notes.shift()
    if (note !== undefined) return this.#frameOf(this.#noteEntry(note))
    const brought = this.#brought.shift()
    if (!brought) return undefined
    const { process, stream, entries, taken } = brought
    const frames = entries.map((entry) => {
      this.#cursor.set(stream, entry.id)
      return this.#frameOf({ ...entry, process })
    })
    taken()
    return frames.join('')
  }

  #frameOf(entry: JournalEntry): string {
    const cursor = cursorText(this.#cursor)
    return `id: ${cursor}\nevent: ${entry.kind}\ndata: ${JSON.stringify({ ...entry, cursor })}\n\n`
  }

  /** Opens the streams of processes that are new, and names those that give none. */
  #reconcile(): void {
    for (const { row, isAlive } of this.#joined.others) {
      const { stream, host } = row
      const known = this.#processes.get(stream) ?? { isOpen: false, retryAt: 0, isMissed: false }
      this.#processes.set(stream, known)
      if (!isAlive) this.#miss(known, `${host} has ended: what it noted last may be missing`)
      else if (!known.isOpen && row.control && this.#wall.now() >= known.retryAt) {
        known.isOpen = true
        void this.#follow(row, known)
      }
    }
  }

  #miss(process: FollowedProcess, note: string): void {
    if (process.isMissed) return
    process.isMissed = true
    this.#notes.push(note)
    this.#wake()
  }

  async #follow(row: MemberRow, known: FollowedProcess): Promise<void> {
    const { signal } = this.#over
    try {
      const after = this.#cursor.get(row.stream) ?? (await this.#joined.index(row)).journal.first - 1
      if (signal.aborted) return
      const params = { ...this.#conditions, after } as NonNullable<Parameters<LabClient['events']>[0]>
      await this.#bring(row.host, row.stream, oneByOne(this.#joined.streamOf(row, signal).events(params), known))
      known.isMissed = false
    } catch (error) {
      if (isLost(error)) this.#lose(`${row.host}: ${errorChain(error).join(': ')}`)
      else if (!signal.aborted) this.#miss(known, `${row.host} does not answer: ${errorChain(error).join(': ')}`)
    } finally {
      known.isOpen = false
      known.retryAt = this.#wall.now() + STREAM_RETRY
    }
  }

  #ownEntries(): AsyncIterable<readonly JournalEntry[]> {
    const { journal, stream } = this.#joined.own
    const after = this.#cursor.get(stream) ?? journal.first - 1
    return journal.follow({ ...queryFrom(this.#conditions), after }, this.#over.signal, {
      isPatient: this.#around.isOverSocket,
    })
  }

  async #bring(process: string, stream: number, batches: AsyncIterable<readonly JournalEntry[]>): Promise<void> {
    try {
      for await (const entries of batches) {
        if (this.#over.signal.aborted) return
        if (entries.length === 0) continue
        await new Promise<void>((taken) => {
          this.#brought.push({ process, stream, entries, taken })
          this.#wake()
        })
      }
    } catch (error) {
      if (!(error instanceof TooSlow)) throw error
      this.#lose(`${process}: ${error.message}`)
    }
  }

  #lose(message: string): void {
    this.#lost ??= message
    this.#wake()
  }

  /** Waits until there is something, and looks at the processes now and then. */
  async #pause(): Promise<void> {
    if (this.#notes.length > 0 || this.#brought.length > 0) return
    const woken = new AbortController()
    this.#wake = () => woken.abort()
    await this.#wall.sleep(MEMBERS_POLL, { signal: woken.signal, weak: true }).catch(() => {})
    this.#wake = () => {}
  }

  /** A sentence about a process that is no entry of a journal. */
  #noteEntry(what: string): JournalEntry {
    return {
      id: 0,
      kind: 'lab',
      node: null,
      name: null,
      machine: null,
      labTime: new Date(this.#around.now()).toISOString(),
      wallTime: new Date(this.#wall.now()).toISOString(),
      fault: null,
      what,
      process: this.#joined.own.process,
    }
  }
}

/** The first entry shows that the process answers again. */
async function* oneByOne(
  entries: AsyncIterable<JournalEntry>,
  known: FollowedProcess,
): AsyncGenerator<readonly JournalEntry[]> {
  for await (const entry of entries) {
    known.isMissed = false
    yield [entry]
  }
}

const isLost = (error: unknown): boolean => error instanceof Error && 'code' in error && error.code === 'lost'

const lostFrame = (message: string): string => `event: lost\ndata: ${JSON.stringify({ message })}\n\n`
