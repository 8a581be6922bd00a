import { useState } from 'preact/hooks'
import { countText } from '../parts/count-text.js'
import { runWithNotice, showNotice } from '../parts/notices.js'
import { callIronic, makeLabClient } from '../state/page-connection.js'
import { readRows, rows } from '../state/lab-state.js'
import type { FleetRow } from '../state/fleet-rows.js'
import { askAll, outcomeText, verbsFor, type NodeVerb } from '../state/provision-verbs.js'
import { selectMachines, selectedMachines } from './selection.js'

/** Verbs for the machines that are selected. */
export function FleetActions() {
  const chosen = [...selectedMachines.value].flatMap((id) => rows.get(id) ?? [])
  const [asked, setAsked] = useState<NodeVerb | null>(null)
  const [isBusy, setIsBusy] = useState(false)
  if (chosen.length === 0) return null
  const ask = async (verb: NodeVerb): Promise<void> => {
    setAsked(null)
    setIsBusy(true)
    const outcome = await askAll(verb, chosen, callIronic)
    setIsBusy(false)
    showNotice(outcomeText(verb, outcome), outcome.refused.size > 0)
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
      <button class="plain" onClick={() => selectMachines([])}>
        Clear
      </button>
    </section>
  )
}

/** Adds machines to a lab that has none. */
export function EmptyFleet({ onAdded }: { onAdded: (rows: readonly FleetRow[]) => void }) {
  const [count, setCount] = useState(3)
  const add = () =>
    runWithNotice(
      async () => {
        await makeLabClient().enroll({ count })
        await readRows()
        onAdded(rows.list())
      },
      `Added ${countText(count, 'machine')}.`,
    )
  return (
    <section class="empty">
      <h2>This lab has no machines yet</h2>
      <p>Each is a simulated computer with a BMC, enrolled as a node of Ironic. Here you see it deployed.</p>
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
      <p>
        Or start with a fleet that deploys by itself: <code>ironstage up --nodes 40 --begin deploy --open</code>
      </p>
    </section>
  )
}
