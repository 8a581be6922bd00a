import { useMemo, useRef, useState } from 'preact/hooks'
import { browserSettings } from '../browser.js'
import { useKeys } from '../parts/page-keys.js'
import { goToRoute, currentRoute } from '../parts/navigation.js'
import { saveReport } from '../parts/save-report.js'
import { Mark } from '../parts/shapes.js'
import { countsOf, EVERYTHING, filterRows, isEverything, type Filter } from '../state/filter.js'
import type { CellSize } from '../state/grid-layout.js'
import { faults, isFleet, isRun, rows, rowsVersion } from '../state/lab-state.js'
import { connectionState } from '../state/page-connection.js'
import { filterIn, filterQueryOf } from '../state/page-route.js'
import { EmptyFleet, FleetActions } from './fleet-actions.js'
import { FleetGrid } from './fleet-grid.js'
import { FleetTable } from './fleet-table.js'
import { Problems } from './problems.js'
import { selectMachines, selectedMachines } from './selection.js'

type FleetForm = 'grid' | 'table'

/** Every machine, as a grid or a table. */
export function FleetView() {
  const version = rowsVersion.value
  const filter = filterIn(currentRoute.value)
  const all = rows.list()
  const shown = useMemo(
    () => (isEverything(filter) ? all : filterRows(all, filter, (id) => rows.struckBy(id))),
    [version, all, JSON.stringify(filter)],
  )
  const [form, setForm] = useState<FleetForm>(browserSettings.get('fleet') === 'table' ? 'table' : 'grid')
  const [size, setSize] = useState<CellSize>('auto')
  const text = useRef<HTMLInputElement>(null)
  const refine = (change: Partial<Filter>): void =>
    goToRoute({ view: 'fleet', query: filterQueryOf({ ...filter, ...change }) }, { replace: true })
  const choose = (next: FleetForm): void => {
    browserSettings.set('fleet', next)
    setForm(next)
  }
  useKeys(
    () => [
      { key: '/', does: 'filter by text', act: () => text.current?.focus() },
      { key: 'g', does: 'grid or table', act: () => setForm((now) => (now === 'grid' ? 'table' : 'grid')) },
      { key: 'f', does: 'only what has an error', act: () => goToRoute({ view: 'fleet', query: { error: 'any' } }) },
      {
        key: 'j',
        does: 'next machine; k the one before',
        act: () => document.querySelector<HTMLElement>('.grid, .table-box')?.focus(),
      },
      { key: 'a', does: 'select all that are shown', act: () => selectMachines(filteredNow().map(({ id }) => id)) },
      { key: 'Escape', does: 'select nothing', act: () => selectMachines([]) },
    ],
    [],
  )
  if (all.length === 0 && isRun.value)
    return (
      <p class="empty">
        The hosts of <a href="#/run">the run</a> are real: nothing is known of their inside.
      </p>
    )
  if (all.length === 0)
    return connectionState.value.kind === 'live' ? (
      <EmptyFleet onAdded={() => {}} />
    ) : (
      <p class="empty">Asking the lab …</p>
    )
  return (
    <div class="fleet">
      <h1>{isFleet.value ? 'Machines' : 'Fleet'}</h1>
      <Problems all={all} />
      <Counts all={all} filter={filter} refine={refine} />
      <div class="tools">
        <input
          ref={text}
          type="search"
          aria-label="Filter by text"
          placeholder="Name, state, step, error"
          value={filter.text}
          onInput={({ currentTarget }) => refine({ text: currentTarget.value })}
        />
        <label class="check">
          <input
            type="checkbox"
            checked={filter.error !== ''}
            onChange={({ currentTarget }) => refine({ error: currentTarget.checked ? 'any' : '' })}
          />
          with an error
        </label>
        <label>
          Fault{' '}
          <select value={filter.fault} onChange={({ currentTarget }) => refine({ fault: currentTarget.value })}>
            <option value="">any or none</option>
            <option value="any">struck by any</option>
            {faults.value.map(({ id, label, effect }) => (
              <option key={id} value={id}>
                {id}: {label ?? effect.kind}
              </option>
            ))}
          </select>
        </label>
        <span class="quiet" role="status">
          {shown.length === all.length ? `${all.length} machines` : `${shown.length} of ${all.length}`}
        </span>
        {!isEverything(filter) && <button onClick={() => refine(EVERYTHING)}>Show all</button>}
        <button onClick={() => selectMachines(selectedMachines.value.size > 0 ? [] : shown.map(({ id }) => id))}>
          {selectedMachines.value.size > 0 ? 'Select none' : 'Select all'}
        </button>
        <span class="space" />
        {!isFleet.value && <button onClick={() => void saveReport()}>Save report</button>}
        <div class="choice" role="group" aria-label="Shown as">
          <button aria-pressed={form === 'grid'} onClick={() => choose('grid')}>
            Grid
          </button>
          <button aria-pressed={form === 'table'} onClick={() => choose('table')}>
            Table
          </button>
        </div>
        {form === 'grid' && (
          <label>
            Cells{' '}
            <select value={size} onChange={({ currentTarget }) => setSize(currentTarget.value as CellSize)}>
              <option value="auto">by number</option>
              <option value="small">small</option>
              <option value="medium">medium</option>
              <option value="large">large</option>
            </select>
          </label>
        )}
      </div>
      <FleetActions />
      {shown.length === 0 ? (
        <p class="empty">No machine is so.</p>
      ) : form === 'grid' ? (
        <FleetGrid rows={shown} size={size} version={version} />
      ) : (
        <FleetTable rows={shown} />
      )}
    </div>
  )
}

const filteredNow = () => filterRows(rows.list(), filterIn(currentRoute.peek()), (id) => rows.struckBy(id))

/** The states that there are; each is a filter. */
function Counts({
  all,
  filter,
  refine,
}: {
  all: Parameters<typeof countsOf>[0]
  filter: Filter
  refine: (change: Partial<Filter>) => void
}) {
  return (
    <div class="counts" role="group" aria-label="States">
      {countsOf(all).map(({ state, count, look }) => {
        const isOn = filter.states.includes(state)
        return (
          <button
            key={state}
            class="state"
            aria-pressed={isOn}
            onClick={() =>
              refine({ states: isOn ? filter.states.filter((one) => one !== state) : [...filter.states, state] })
            }
          >
            <Mark look={look} /> {state} <strong>{count}</strong>
          </button>
        )
      })}
    </div>
  )
}
