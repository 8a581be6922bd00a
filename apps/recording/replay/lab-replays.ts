import { defined, errorChain, LateBound, seconds, type Clock } from '../../../base/runtime/index.js'
import { HttpTransport, type ClientTls } from '../../../base/wire/index.js'
import type { JournalEntry, LabRecordings, ReplayReport, ReplayRequest } from '../../../control/index.js'
import { groupDifferences, type SeenDifference } from '../comparison/difference.js'
import { differenceLine, sumLine } from '../comparison/difference-lines.js'
import { IdMap } from '../comparison/ids.js'
import { journalRecording } from '../format/journal-recording.js'
import { parseRecording } from '../format/read-recording.js'
import type { Recording } from '../format/recording-exchange.js'
import { recordingError } from '../recording-error.js'
import { clientCallsOf, replayClient } from './replay-client.js'

/** An answer may take as long as the slowest command that Ironic waits for. */
const LAB_ANSWER_TIMEOUT = seconds(300)
/** Lines of a report: pages show them all. */
const MAX_REPORT_LINES = 1000

/** The Ironic of a lab, as its clients reach it. */
interface ReplayedIronic {
  readonly url: string
  readonly tls: ClientTls
  /** The last entry of the journal before its first caller: what the lab did by itself, as enrolling its nodes, is no client's. */
  readonly after: number
}

/** A replay, and what it has found so far. */
interface ReplayRun {
  readonly name: string
  readonly calls: number
  readonly stopping: AbortController
  readonly differences: SeenDifference[]
  done: number
  state: ReplayReport['state']
  problem: string | null
  /** Resolves when it is over. */
  ended: Promise<void>
}

/** Recordings and replays of a lab that is opened later. */
export class LabReplays implements LabRecordings, AsyncDisposable {
  /** Real time: calls take as long as they take. */
  readonly #clock: Clock
  readonly #ironic = new LateBound<ReplayedIronic>('the Ironic of this lab')
  #run: ReplayRun | undefined

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** Gives it the Ironic. */
  open(ironic: ReplayedIronic): void {
    this.#ironic.bind(ironic)
  }

  write(entries: readonly JournalEntry[]): string {
    const { url, after } = this.#ironic.get()
    return journalRecording(
      entries.filter(({ id }) => id > after),
      url,
    )
  }

  async begin(
    { recording: text, name = 'the recording', wait }: ReplayRequest,
    credentials: Readonly<Record<string, string>>,
  ): Promise<ReplayReport> {
    this.#refuseSecond()
    const recording = await parseRecording(text, name)
    const calls = clientCallsOf(recording).length
    // Another may have begun meanwhile.
    this.#refuseSecond()
    const run: ReplayRun = {
      name,
      calls,
      stopping: new AbortController(),
      differences: [],
      done: 0,
      state: 'running',
      problem: null,
      ended: Promise.resolve(),
    }
    this.#run = run
    run.ended = this.#play(run, recording, { credentials, wait })
    return reportOf(run)
  }

  report(): ReplayReport | undefined {
    return this.#run && reportOf(this.#run)
  }

  stop(): void {
    this.#run?.stopping.abort(new Error('the replay was stopped'))
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.stop()
    await this.#run?.ended
  }

  #refuseSecond(): void {
    if (this.#run?.state !== 'running') return
    const { name, done, calls } = this.#run
    throw recordingError('replay-running', `${name} is being replayed: ${done} of ${calls} calls are done`)
  }

  async #play(
    run: ReplayRun,
    recording: Recording,
    { credentials, wait }: { credentials: Readonly<Record<string, string>>; wait: number | undefined },
  ): Promise<void> {
    const { url, tls } = this.#ironic.get()
    const clock = this.#clock
    const { signal } = run.stopping
    try {
      await using transport = new HttpTransport({ clock, tls, timeoutMs: LAB_ANSWER_TIMEOUT })
      await replayClient({
        recording,
        url,
        transport,
        credentials,
        clock,
        signal,
        secrets: new Map(),
        ids: new IdMap(),
        onCall: ({ differences }) => {
          run.done += 1
          run.differences.push(...differences)
        },
        ...defined({ wait: wait === undefined ? undefined : seconds(wait) }),
      })
      run.state = 'ended'
    } catch (error) {
      run.state = signal.aborted ? 'stopped' : 'failed'
      run.problem = signal.aborted ? null : errorChain(error).join(': ')
    }
  }
}

function reportOf({ name, calls, done, state, problem, differences }: ReplayRun): ReplayReport {
  const groups = groupDifferences(differences)
  const lines = groups.slice(0, MAX_REPORT_LINES).map(differenceLine)
  const left = groups.length - lines.length
  return {
    name,
    state,
    done,
    calls,
    differences: groups.length,
    lines: [
      ...lines,
      ...(left > 0 ? [`and ${left} more`] : []),
      ...(state === 'ended' ? [sumLine(calls, groups.length, 0)] : []),
    ],
    problem,
  }
}
