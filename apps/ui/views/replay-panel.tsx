import { useEffect, useState } from 'preact/hooks'
import type { ReplayReport } from '../../../control/index.js'
import { pauseFor, readFile } from '../browser.js'
import { runWithNotice } from '../parts/notices.js'
import { connectionState, makeLabClient } from '../state/page-connection.js'

/** Characters of a recording that the server takes. */
const MAX_RECORDING_FILE = 32 * 2 ** 20
/** Pause between two looks at a replay that runs. */
const REPLAY_POLL_INTERVAL = 500

/** A recording that can be replayed. */
export interface ReplayedFile {
  readonly name: string
  readonly text: string
}

interface ReplayProps {
  readonly file: ReplayedFile | null
  readonly choose: (file: ReplayedFile) => void
}

/** Replays a recording against the lab's own Ironic, and shows what differs. */
export function ReplayPanel({ file, choose }: ReplayProps) {
  const [report, setReport] = useReplay()
  const [isFresh, setIsFresh] = useState(false)
  const isRunning = report?.state === 'running'
  const begin = (chosen: ReplayedFile): Promise<boolean> =>
    runWithNotice(async () => {
      if (isFresh) await makeLabClient().reset()
      setReport(await makeLabClient().beginReplay({ recording: chosen.text, name: chosen.name }))
    })
  return (
    <section class="panel" aria-label="Replay">
      <h2>Replay</h2>
      <p class="quiet">
        Makes the clients' calls of a recording again, against this lab's Ironic, and lists where its answers differ.
        The nodes should be in the states of the recording's beginning.
      </p>
      <div class="tools">
        <label>
          Recording{' '}
          <input
            type="file"
            accept=".ndjson"
            onChange={({ currentTarget }) => void chooseFile(currentTarget.files?.[0], choose)}
          />
        </label>
        <label class="check">
          <input
            type="checkbox"
            checked={isFresh}
            onChange={({ currentTarget }) => setIsFresh(currentTarget.checked)}
          />
          reset the lab first
        </label>
        <button class="primary" disabled={file === null || isRunning} onClick={() => file && void begin(file)}>
          {file === null ? 'Replay' : `Replay ${file.name}`}
        </button>
        {isRunning && (
          <button onClick={() => void runWithNotice(() => makeLabClient().stopReplay())}>Stop the replay</button>
        )}
      </div>
      {report && <ReplayResult report={report} />}
    </section>
  )
}

const chooseFile = (file: File | undefined, choose: ReplayProps['choose']): Promise<boolean> =>
  runWithNotice(async () => {
    if (file) choose({ name: file.name, text: await readFile(file, MAX_RECORDING_FILE) })
  })

const STATE_WORDS = { running: 'runs', ended: 'has ended', failed: 'failed', stopped: 'was stopped' } as const

function ReplayResult({ report }: { report: ReplayReport }) {
  const { name, state, done, calls, lines, problem } = report
  return (
    <>
      <p role="status">
        The replay of {name} {STATE_WORDS[state]}: {done} of {calls} calls
      </p>
      <progress aria-label="Calls of the replay" value={done} max={calls} />
      {problem !== null && <p class="error-text">{problem}</p>}
      {lines.length > 0 && (
        <pre class="replay-lines" tabIndex={0} aria-label="Differences">
          {lines.join('\n')}
        </pre>
      )}
    </>
  )
}

/** The replay of the lab that began last, also one that another page began. */
function useReplay(): readonly [ReplayReport | null, (report: ReplayReport) => void] {
  const [report, setReport] = useState<ReplayReport | null>(null)
  const isLive = connectionState.value.kind === 'live'
  const isOver = report !== null && report.state !== 'running'
  useEffect(() => {
    if (!isLive || isOver) return undefined
    const controller = new AbortController()
    void followReplay(controller.signal, setReport)
    return () => controller.abort()
  }, [isLive, isOver, report === null])
  return [report, setReport]
}

/** Looks again while a replay runs. */
async function followReplay(signal: AbortSignal, show: (report: ReplayReport) => void): Promise<void> {
  while (!signal.aborted) {
    // The page says itself that the server is lost.
    const { replay } = await makeLabClient(signal)
      .replay()
      .catch(() => ({ replay: null }))
    if (signal.aborted || replay === null) return
    show(replay)
    if (replay.state !== 'running') return
    await pauseFor(REPLAY_POLL_INTERVAL, signal)
  }
}
