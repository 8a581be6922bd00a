import type { RefObject } from 'preact'
import { useMemo, useRef } from 'preact/hooks'
import { countText } from '../parts/count-text.js'
import { browserSettings } from '../browser.js'
import { useKeys, type Key } from '../parts/page-keys.js'
import { goToRoute, currentRoute } from '../parts/navigation.js'
import { saveReport } from '../parts/save-report.js'
import { Mark } from '../parts/shapes.js'
import { countsOf, EVERYTHING, filterRows, isEverything, type Filter } from '../state/filter.js'
import type { CellSize } from '../state/grid-layout.js'
import { faults, isFleet, isRun, rows, rowsVersion } from '../state/lab-state.js'
import { connectionState } from '../state/page-connection.js'
import { FLEET_ORDERS, fleetOrderIn, orderRows, type FleetOrder } from '../state/fleet-order.js'
import { filterIn, filterQueryOf, type PageRoute } from '../state/page-route.js'
import { EmptyFleet, FleetActions } from './fleet-actions.js'
import { FleetOverview, Processes } from './fleet-overview.js'
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
  const { query } = currentRoute.value
  const form = fleetFormIn(query)
  const size = cellSizeIn(query)
  const order = fleetOrderIn(query['order'])
  const ordered = useMemo(() => orderRows(shown, order), [shown, order])
  const text = useRef<HTMLInputElement>(null)
  const refine = (change: Partial<Filter>): void => showAs(filterQueryOf({ ...filter, ...change }))
  useKeys(() => fleetKeys(text), [])
  if (all.length === 0) return <NoMachines />
  return (
    <div class="fleet">
      <div class="title">
        <h1>{isFleet.value ? 'Machines' : 'Fleet'}</h1>
        {!isFleet.value && <button onClick={() => void saveReport()}>Save report</button>}
      </div>
      <Processes />
      <FleetOverview all={all} />
      <Problems all={all} />
      <Counts all={all} filter={filter} refine={refine} />
      <div class="tools">
        <FilterInputs filter={filter} refine={refine} text={text} />
        <span class="quiet" role="status">
          {shown.length === all.length ? countText(all.length, 'machine') : `${shown.length} of ${all.length}`}
        </span>
        {!isEverything(filter) && <button onClick={() => refine(EVERYTHING)}>Show all</button>}
        <button onClick={() => selectMachines(selectedMachines.value.size > 0 ? [] : shown.map(({ id }) => id))}>
          {selectedMachines.value.size > 0 ? 'Select none' : 'Select all'}
        </button>
        <span class="space" />
        <OrderChoice order={order} />
        <FormChoice form={form} choose={chooseForm} />
        {form === 'grid' && <CellSizes size={size} choose={(cells) => showAs({ cells })} />}
      </div>
      <FleetActions />
      {shown.length === 0 ? (
        <p class="empty">No machine matches this filter.</p>
      ) : form === 'grid' ? (
        <FleetGrid rows={ordered} size={size} version={version} />
      ) : (
        <FleetTable rows={ordered} />
      )}
    </div>
  )
}

/** Changes what the address says of the fleet; the rest of it stays. */
const showAs = (change: Readonly<Record<string, string>>): void =>
  goToRoute({ view: 'fleet', query: { ...currentRoute.peek().query, ...change } }, { replace: true })

/** The form that the address names, or the one that was chosen last. */
const fleetFormIn = ({ as = browserSettings.get('fleet') ?? '' }: PageRoute['query']): FleetForm =>
  as === 'table' ? 'table' : 'grid'

const cellSizeIn = ({ cells = '' }: PageRoute['query']): CellSize =>
  CELL_SIZES.find(({ size }) => size === cells)?.size ?? 'auto'

function chooseForm(form: FleetForm): void {
  browserSettings.set('fleet', form)
  showAs({ as: form })
}

const switchForm = (): void => chooseForm(fleetFormIn(currentRoute.peek().query) === 'grid' ? 'table' : 'grid')

const fleetKeys = (text: RefObject<HTMLInputElement | null>): readonly Key[] => [
  { key: '/', does: 'filter by text', act: () => text.current?.focus() },
  { key: 'g', does: 'grid or table', act: switchForm },
  { key: 'f', does: 'only machines with an error', act: () => goToRoute({ view: 'fleet', query: { error: 'any' } }) },
  {
    key: 'j',
    does: 'next machine; k: previous machine',
    act: () => document.querySelector<HTMLElement>('.grid, .table-box')?.focus(),
  },
  { key: 'a', does: 'select all shown machines', act: () => selectMachines(filteredNow().map(({ id }) => id)) },
  { key: 'Escape', does: 'select nothing', act: () => selectMachines([]) },
]

/** In place of a fleet that has no machines, or none yet. */
function NoMachines() {
  if (isRun.value)
    return (
      <p class="empty">
        The hosts of <a href="#/run">the run</a> are real, so this page shows no details of them.
      </p>
    )
  if (connectionState.value.kind === 'live') return <EmptyFleet onAdded={() => {}} />
  return <p class="empty">Loading …</p>
}

interface FilterProps {
  filter: Filter
  refine: (change: Partial<Filter>) => void
}

function FilterInputs({ filter, refine, text }: FilterProps & { text: RefObject<HTMLInputElement | null> }) {
  return (
    <>
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
      <label class="fault-filter">
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
    </>
  )
}

function FormChoice({ form, choose }: { form: FleetForm; choose: (form: FleetForm) => void }) {
  return (
    <div class="choice" role="group" aria-label="Shown as">
      <button aria-pressed={form === 'grid'} onClick={() => choose('grid')}>
        Grid
      </button>
      <button aria-pressed={form === 'table'} onClick={() => choose('table')}>
        Table
      </button>
    </div>
  )
}

const CELL_SIZES = [
  { size: 'auto', words: 'by number' },
  { size: 'small', words: 'small' },
  { size: 'medium', words: 'medium' },
  { size: 'large', words: 'large' },
] as const

function OrderChoice({ order }: { order: FleetOrder }) {
  return (
    <label class="order-choice">
      Order{' '}
      <select value={order} onChange={({ currentTarget }) => showAs({ order: currentTarget.value })}>
        {Object.entries(FLEET_ORDERS).map(([each, words]) => (
          <option key={each} value={each}>
            {words}
          </option>
        ))}
      </select>
    </label>
  )
}

function CellSizes({ size, choose }: { size: CellSize; choose: (size: CellSize) => void }) {
  return (
    <label>
      Cells{' '}
      <select value={size} onChange={({ currentTarget }) => choose(currentTarget.value as CellSize)}>
        {CELL_SIZES.map(({ size: each, words }) => (
          <option key={each} value={each}>
            {words}
          </option>
        ))}
      </select>
    </label>
  )
}

const filteredNow = () => filterRows(rows.list(), filterIn(currentRoute.peek()), (id) => rows.struckBy(id))

/** The states that there are; each is a filter. */
function Counts({ all, filter, refine }: FilterProps & { all: Parameters<typeof countsOf>[0] }) {
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
