import { runWithNotice } from '../parts/notices.js'
import { usePanel } from '../parts/open-panels.js'
import { makeLabClient } from '../state/page-connection.js'
import { faultWords } from '../state/fault-words.js'
import { faults, readFaults } from '../state/lab-state.js'
import { formatRoute } from '../state/page-route.js'
import { ClockPanel } from './clock-panel.js'
import { FaultForm } from './fault-form.js'
import { FaultExport, FaultImport } from './faults-file.js'

/** Faults of the lab, and its time. */
export function FaultsView() {
  const [isAdding, setIsAdding] = usePanel('add')
  const [isImporting, setIsImporting] = usePanel('import')
  const all = faults.value
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
          <button aria-expanded={isImporting} onClick={() => setIsImporting(!isImporting)}>
            Import
          </button>
          {all.length > 0 && <FaultExport />}
          {all.length > 1 && <button onClick={() => void liftAll()}>Lift all</button>}
        </div>
        {isAdding && <FaultForm onDone={() => setIsAdding(false)} />}
        {isImporting && <FaultImport onDone={() => setIsImporting(false)} />}
        {all.length === 0 ? (
          <p class="quiet">No faults are injected. Add one, or import a file as for --faults.</p>
        ) : (
          <FaultList all={all} />
        )}
      </section>
    </>
  )
}

const liftFault = (id: string): Promise<boolean> =>
  runWithNotice(async () => {
    await makeLabClient().liftFault(id)
    await readFaults()
  }, `Lifted ${id}.`)

function FaultList({ all }: { all: typeof faults.value }) {
  return (
    <ul class="faults">
      {all.map((fault) => (
        <li key={fault.id}>
          <span class="fault-id mono" title={fault.effect.kind}>
            {fault.id}
          </span>
          <span class="fault-words">
            {faultWords(fault)}
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
          <button aria-label={`Lift ${fault.id}`} onClick={() => void liftFault(fault.id)}>
            Lift
          </button>
        </li>
      ))}
    </ul>
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
