import { useState } from 'preact/hooks'
import { runWithNotice } from '../parts/notices.js'
import { makeLabClient } from '../state/page-connection.js'
import { faultText } from '../state/fault-form.js'
import { faults, readFaults } from '../state/lab-state.js'
import { formatRoute } from '../state/page-route.js'
import { ClockPanel } from './clock-panel.js'
import { FaultForm } from './fault-form.js'

/** Faults of the lab, and its time. */
export function FaultsView() {
  const [isAdding, setIsAdding] = useState(false)
  const all = faults.value
  const lift = (id: string) =>
    runWithNotice(async () => {
      await makeLabClient().liftFault(id)
      await readFaults()
    }, `Lifted ${id}.`)
  const liftAll = () =>
    runWithNotice(async () => {
      await makeLabClient().liftFaults()
      await readFaults()
    }, 'Lifted all faults.')
  return (
    <>
      <h1>Faults and clock</h1>
      <ClockPanel />
      <section class="panel" aria-label="Faults">
        <div class="tools">
          <h2>
            {all.length} {all.length === 1 ? 'fault' : 'faults'}
          </h2>
          <span class="space" />
          <button class="primary" aria-expanded={isAdding} onClick={() => setIsAdding(!isAdding)}>
            Add a fault
          </button>
          {all.length > 1 && <button onClick={() => void liftAll()}>Lift all</button>}
        </div>
        {isAdding && <FaultForm onDone={() => setIsAdding(false)} />}
        {all.length === 0 ? (
          <p class="quiet">Nothing goes wrong on purpose.</p>
        ) : (
          <ul class="faults">
            {all.map((fault) => (
              <li key={fault.id}>
                <span class="fault-id mono">{fault.id}</span>
                <span class="fault-words">
                  {faultText(fault)}
                  {fault.label !== undefined && <span class="tag">{fault.label}</span>}
                  <Limits fault={fault} />
                </span>
                <a
                  class={fault.struck > 0 ? 'struck' : 'struck quiet'}
                  href={formatRoute({ view: 'fleet', query: { fault: fault.id } })}
                >
                  struck {fault.struck}
                  {fault.times === undefined ? '' : ` of ${fault.times}`}
                </a>
                <button aria-label={`Lift ${fault.id}`} onClick={() => void lift(fault.id)}>
                  Lift
                </button>
              </li>
            ))}
          </ul>
        )}
      </section>
    </>
  )
}

/** When it strikes, beyond where. */
function Limits({ fault: { after, probability, between } }: { fault: (typeof faults.value)[number] }) {
  const words = [
    after === undefined ? '' : `after ${after} matches`,
    probability === undefined ? '' : `probability ${probability}`,
    between === undefined ? '' : `from ${between[0] / 1000} s to ${between[1] / 1000} s of lab time`,
  ].filter(Boolean)
  return words.length === 0 ? null : <span class="quiet"> ({words.join(', ')})</span>
}
