import { useState } from 'preact/hooks'
import { saveFile } from '../browser.js'
import { clockText } from '../parts/clock-texts.js'
import { runWithNotice } from '../parts/notices.js'
import { keepMark, readMark, type RecordingMark } from '../parts/recording-mark.js'
import { isFleet, labTime } from '../state/lab-state.js'
import { makeLabClient } from '../state/page-connection.js'
import { ReplayPanel, type ReplayedFile } from './replay-panel.js'

const RECORDING_FILE = 'recording.ndjson'

/** Recordings of what the lab's clients, Ironic and agents exchanged: made, and replayed. */
export function RecordingsView() {
  const [file, setFile] = useState<ReplayedFile | null>(null)
  if (isFleet.value)
    return (
      <p class="empty">
        The Ironic of these machines is elsewhere: <code>ironstage record</code> records it.
      </p>
    )
  return (
    <>
      <h1>Recordings</h1>
      <RecordPanel replay={setFile} />
      <ReplayPanel file={file} choose={setFile} />
    </>
  )
}

/** Begins and ends a recording, and saves it. */
function RecordPanel({ replay }: { replay: (file: ReplayedFile) => void }) {
  const [mark, setMark] = useState(readMark)
  const begin = (): Promise<boolean> =>
    runWithNotice(async () => {
      const { journal } = await makeLabClient().index()
      const begun = { after: journal.cursor ?? journal.last, since: labTime() }
      keepMark(begun)
      setMark(begun)
    })
  const end = (): Promise<boolean> =>
    runWithNotice(async () => {
      const text = await recordingAfter(mark)
      saveFile(RECORDING_FILE, text, 'application/x-ndjson')
      replay({ name: RECORDING_FILE, text })
      keepMark(null)
      setMark(null)
    }, `Saved ${RECORDING_FILE}: ironstage replay reads it.`)
  return (
    <section class="panel" aria-label="Record">
      <h2>Record</h2>
      <p class="quiet">
        The journal keeps what clients, Ironic and agents exchange, with secrets masked. A recording is a part of it.
      </p>
      <div class="tools">
        {mark === null ? (
          <button class="primary" onClick={() => void begin()}>
            Start a recording
          </button>
        ) : (
          <>
            <span role="status">
              <span aria-hidden="true">●</span> Recording since <span class="mono">{clockText(mark.since)}</span>
            </span>
            <button class="primary" onClick={() => void end()}>
              Stop and save
            </button>
          </>
        )}
        <button onClick={() => void saveAll()}>Save all so far</button>
        <button onClick={() => void saveHar()}>Save all as HAR</button>
      </div>
    </section>
  )
}

const recordingAfter = (mark: RecordingMark | null): Promise<string> =>
  mark === null ? makeLabClient().recording({}) : makeLabClient().recording({ after: mark.after })

const saveAll = (): Promise<boolean> =>
  runWithNotice(
    async () => saveFile(RECORDING_FILE, await recordingAfter(null), 'application/x-ndjson'),
    `Saved ${RECORDING_FILE}: ironstage replay reads it.`,
  )

/** Calls of BMCs are no part of a recording; the archive has all exchanges of the journal. */
const saveHar = (): Promise<boolean> =>
  runWithNotice(
    async () => saveFile('ironstage.har', JSON.stringify(await makeLabClient().journalHar()), 'application/json'),
    'Saved ironstage.har: the network panel of a browser opens it.',
  )
