import { useState } from 'preact/hooks'
import { copyText, readFile, saveFile } from '../browser.js'
import { countText } from '../parts/count-text.js'
import { runWithNotice, showNotice } from '../parts/notices.js'
import { readFaults } from '../state/lab-state.js'
import { makeLabClient, sentenceOf } from '../state/page-connection.js'

const FAULTS_FILE = 'faults.yaml'

/** Saves the faults as the file that `ironstage up --faults` reads. */
const saveFaults = (): Promise<boolean> =>
  runWithNotice(
    async () => saveFile(FAULTS_FILE, await makeLabClient().exportFaults(), 'application/yaml'),
    `Saved ${FAULTS_FILE}: ironstage up --faults ${FAULTS_FILE} reads it.`,
  )

const copyFaults = (): Promise<boolean> =>
  runWithNotice(async () => copyText(await makeLabClient().exportFaults()), 'Copied the faults as YAML.')

/** Buttons that take the faults out of the page. */
export function FaultExport() {
  return (
    <>
      <button onClick={() => void saveFaults()}>Download YAML</button>
      <button onClick={() => void copyFaults()}>Copy YAML</button>
    </>
  )
}

/** A text of a file, and the name that errors call it by. */
interface ChosenFile {
  readonly name: string
  readonly text: string
}

const PASTED: ChosenFile = { name: 'the text', text: '' }

/** Adds the faults of a file that is chosen, or of a text that is pasted. */
export function FaultImport({ onDone }: { onDone: () => void }) {
  const [chosen, setChosen] = useState(PASTED)
  const [problem, setProblem] = useState<string | null>(null)
  const choose = async (file: File | undefined): Promise<void> => {
    if (!file) return
    try {
      setChosen({ name: file.name, text: await readFile(file) })
      setProblem(null)
    } catch (error) {
      setProblem(sentenceOf(error))
    }
  }
  const add = async (event: Event): Promise<void> => {
    event.preventDefault()
    try {
      const { faults } = await makeLabClient().importFaults({ file: chosen.text, name: chosen.name })
      await readFaults()
      showNotice(`Added ${countText(faults.length, 'fault')}.`)
      onDone()
    } catch (error) {
      setProblem(sentenceOf(error))
    }
  }
  return (
    <form class="fault-form" aria-label="Import faults" onSubmit={(event) => void add(event)}>
      <label>
        File of faults, YAML or JSON
        <input
          type="file"
          accept=".yaml,.yml,.json"
          onChange={({ currentTarget }) => void choose(currentTarget.files?.[0])}
        />
      </label>
      <label>
        Its text, or paste one
        <textarea
          rows={8}
          spellcheck={false}
          placeholder={'- match: { node: node-3 }\n  effect: { kind: bmc-dark, for: 90s }'}
          value={chosen.text}
          onInput={({ currentTarget }) => setChosen({ ...chosen, text: currentTarget.value })}
        />
      </label>
      {problem !== null && (
        <p role="alert" class="error-text">
          {problem}
        </p>
      )}
      <div class="tools">
        <button class="primary" disabled={chosen.text.trim() === ''}>
          Add these faults
        </button>
        <button type="button" onClick={onDone}>
          Cancel
        </button>
      </div>
    </form>
  )
}
