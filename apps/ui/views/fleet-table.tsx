import { useLayoutEffect, useRef, useState } from 'preact/hooks'
import { oncePerFrame } from '../browser.js'
import { sinceText } from '../parts/clock-texts.js'
import { Mark } from '../parts/shapes.js'
import { rows as allRows } from '../state/lab-state.js'
import { formatRoute } from '../state/page-route.js'
import type { FleetRow } from '../state/fleet-rows.js'
import { openRow } from './fleet-grid.js'
import { selectMachines, selectedMachines, toggleSelection } from './selection.js'

const ROW_HEIGHT = 36
/** Rows beyond the edge, so that a fast scroll shows no gap. */
const BEYOND = 8

const FLEET_COLUMNS = ['Name', 'State', 'For', 'Step', 'Power', 'Faults', 'Error']

/** Every machine as a row. Only the rows that are seen are in the document. */
export function FleetTable({ rows }: { rows: readonly FleetRow[] }) {
  const box = useRef<HTMLDivElement>(null)
  const [view, setView] = useState({ top: 0, height: 600 })
  const [active, setActive] = useState(0)
  const chosen = selectedMachines.value
  useLayoutEffect(() => {
    const see = oncePerFrame(() => {
      if (box.current) setView({ top: box.current.scrollTop, height: box.current.clientHeight })
    })
    const observer = new ResizeObserver(see)
    observer.observe(box.current!)
    box.current!.addEventListener('scroll', see, { passive: true })
    return () => observer.disconnect()
  }, [])
  const first = Math.max(0, Math.floor(view.top / ROW_HEIGHT) - BEYOND)
  const shown = rows.slice(first, Math.ceil((view.top + view.height) / ROW_HEIGHT) + BEYOND)
  const at = Math.min(active, rows.length - 1)
  const moveTo = (index: number): void => {
    setActive(index)
    const top = index * ROW_HEIGHT
    const { scrollTop, clientHeight } = box.current!
    const room = clientHeight - 2 * ROW_HEIGHT
    box.current!.scrollTop = top < scrollTop ? top : top > scrollTop + room ? top - room : scrollTop
  }
  const pressed = (event: KeyboardEvent): void => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.target !== box.current) return
    const row = rows[at]
    if (event.key === 'j' || event.key === 'ArrowDown') moveTo(Math.min(rows.length - 1, at + 1))
    else if (event.key === 'k' || event.key === 'ArrowUp') moveTo(Math.max(0, at - 1))
    else if (event.key === 'Enter' && row) openRow(row)
    else if (event.key === ' ' && row) toggleSelection(row.id)
    else return
    event.preventDefault()
  }
  const areAll = rows.length > 0 && rows.every(({ id }) => chosen.has(id))
  return (
    <div
      ref={box}
      class="table-box"
      role="table"
      aria-label="Machines"
      aria-rowcount={rows.length + 1}
      aria-colcount={FLEET_COLUMNS.length + 1}
      tabIndex={0}
      onKeyDown={pressed}
    >
      <div role="row" aria-rowindex={1} class="line head">
        <span role="columnheader">
          <input
            type="checkbox"
            aria-label="Select all"
            checked={areAll}
            onChange={() => selectMachines(areAll ? [] : rows.map(({ id }) => id))}
          />
        </span>
        {FLEET_COLUMNS.map((title) => (
          <span role="columnheader" key={title} class={`column-${title.toLowerCase()}`}>
            {title}
          </span>
        ))}
      </div>
      <div role="rowgroup" class="lines" style={{ height: `${rows.length * ROW_HEIGHT}px` }}>
        {shown.map((row, offset) => {
          const index = first + offset
          const faults = allRows.struckBy(row.id)
          return (
            <div
              key={row.id}
              role="row"
              aria-rowindex={index + 2}
              class={`line ${index === at ? 'at' : ''} ${chosen.has(row.id) ? 'chosen' : ''}`}
              style={{ top: `${index * ROW_HEIGHT}px` }}
            >
              <span role="cell">
                <input
                  type="checkbox"
                  aria-label={`Select ${row.name}`}
                  checked={chosen.has(row.id)}
                  onChange={() => toggleSelection(row.id)}
                />
              </span>
              <span role="cell" class="column-name">
                <a href={formatRoute({ view: row.isNode ? 'nodes' : 'machines', ident: row.name })}>{row.name}</a>
              </span>
              <span role="cell" class="column-state">
                <Mark look={row.look} /> {row.state}
                {row.isInMaintenance && <span class="tag">maintenance</span>}
              </span>
              <span role="cell" class="column-for">
                {sinceText(row.since)}
              </span>
              <span role="cell" class="column-step">
                {row.target === null ? '' : row.step}
              </span>
              <span role="cell" class="column-power">
                {row.power?.replace('power ', '')}
              </span>
              <span role="cell" class="column-faults">
                {faults.join(' ')}
              </span>
              <span role="cell" class="column-error" title={row.error ?? ''}>
                {row.error ?? row.waitsFor}
              </span>
            </div>
          )
        })}
      </div>
    </div>
  )
}
