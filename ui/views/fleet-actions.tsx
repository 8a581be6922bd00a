import { useState } from 'preact/hooks'
import { doing, notice } from '../parts/notices.js'
import { callIronic, lab } from '../state/connection.js'
import { readRows, rows } from '../state/lab-state.js'
import type { Row } from '../state/rows.js'
import { askAll, outcomeText, verbsFor, type Verb } from '../state/verbs.js'
import { select, selected } from './selection.js'

/** Verbs for the machines that are selected. */
export function FleetActions() {
  const chosen = [...selected.value].flatMap((id) => rows.get(id) ?? [])
  const [asked, setAsked] = useState<Verb | null>(null)
  const [isBusy, setIsBusy] = useState(false)
  if (chosen.length === 0) return null
  const ask = async (verb: Verb): Promise<void> => {
    setAsked(null)
    setIsBusy(true)
    const outcome = await askAll(verb, chosen, callIronic)
    setIsBusy(false)
    notice(outcomeText(verb, outcome), outcome.refused.size > 0)
    if (!chosen.every(({ isNode }) => isNode)) await readRows().catch(() => {})
  }
  return (
    <section class="selection" aria-label="Selection">
      <strong>{chosen.length} selected</strong>
      {asked ? (
        <>
          <span>
            {asked.title} {chosen.filter(asked.fits).length}: {asked.does}. Go on?
          </span>
          <button class="danger" onClick={() => void ask(asked)}>
            {asked.title}
          </button>
          <button onClick={() => setAsked(null)}>Cancel</button>
        </>
      ) : (
        verbsFor(chosen).map(({ verb, count }) => (
          <button
            key={verb.id}
            disabled={isBusy}
            title={`${verb.does}: ${count} of ${chosen.length}`}
            onClick={() => (verb.destroys ? setAsked(verb) : void ask(verb))}
          >
            {verb.title}
            {count < chosen.length && <span class="count">{count}</span>}
          </button>
        ))
      )}
      <button class="plain" onClick={() => select([])}>
        Clear
      </button>
    </section>
  )
}

/** Adds machines to a lab that has none. */
export function EmptyFleet({ onAdded }: { onAdded: (rows: readonly Row[]) => void }) {
  const [count, setCount] = useState(3)
  const add = () =>
    doing(async () => {
      await lab().enroll({ count })
      await readRows()
      onAdded(rows.list())
    }, `Added ${count} machines.`)
  return (
    <section class="empty">
      <h2>This lab has no machines yet</h2>
      <p>
        <label>
          Machines{' '}
          <input
            type="number"
            min={1}
            max={10000}
            value={count}
            onInput={({ currentTarget }) => setCount(Number(currentTarget.value))}
          />
        </label>{' '}
        <button class="primary" onClick={() => void add()}>
          Add and enroll
        </button>
      </p>
    </section>
  )
}
