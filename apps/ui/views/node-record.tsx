import { useEffect, useState } from 'preact/hooks'
import { usePanel } from '../parts/open-panels.js'
import { callIronic, sentenceOf } from '../state/page-connection.js'
import { jsonLines } from '../state/changes.js'

interface FieldChange {
  readonly now: unknown
  readonly before: unknown
}

/** The record of a node as Ironic shows it; lines that changed since it was read before are marked. */
export function NodeRecordPanel({ id, version, state }: { id: string; version: number; state: string }) {
  const [isOpen, setIsOpen] = usePanel('record')
  const [shown, setShown] = useState<FieldChange | null>(null)
  const [problem, setProblem] = useState<string | null>(null)
  const [onlyChanged, setOnlyChanged] = useState(false)
  useEffect(() => {
    if (!isOpen) return undefined
    const controller = new AbortController()
    callIronic({ method: 'GET', path: `/v1/nodes/${id}` }, controller.signal).then(
      (now) => {
        setProblem(null)
        setShown((old) => ({ now, before: old?.now }))
      },
      (error: unknown) => controller.signal.aborted || setProblem(sentenceOf(error)),
    )
    return () => controller.abort()
  }, [id, isOpen, version, state])
  const lines = shown ? jsonLines(shown.now, shown.before) : []
  const changed = lines.filter(({ isChanged }) => isChanged)
  return (
    <details class="panel record" open={isOpen} onToggle={({ currentTarget }) => setIsOpen(currentTarget.open)}>
      <summary>Record</summary>
      {problem !== null && <p class="error-text">{problem}</p>}
      {shown?.before !== undefined && (
        <label class="check">
          <input
            type="checkbox"
            checked={onlyChanged}
            onChange={({ currentTarget }) => setOnlyChanged(currentTarget.checked)}
          />
          only the {changed.length} lines that changed
        </label>
      )}
      <pre class="json" tabIndex={0} aria-label="Record as JSON">
        {(onlyChanged ? changed : lines).map(({ depth, text, isChanged }, index) => (
          <div key={index} class={isChanged ? 'changed' : ''} style={{ paddingLeft: `${depth * 16}px` }}>
            {isChanged ? <mark>{text}</mark> : text}
          </div>
        ))}
      </pre>
    </details>
  )
}
