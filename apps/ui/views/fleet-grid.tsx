import { useEffect, useMemo, useRef, useState } from 'preact/hooks'
import { countText } from '../parts/count-text.js'
import { oncePerFrame } from '../browser.js'
import { sinceText } from '../parts/clock-texts.js'
import { goToRoute } from '../parts/navigation.js'
import { colours } from '../parts/theme.js'
import { useWidth } from '../parts/width.js'
import { cellAfter, cellAt, gridLayout, scrolledTo, type CellSize, type GridLayout } from '../state/grid-layout.js'
import { rows as allRows } from '../state/lab-state.js'
import type { FleetRow } from '../state/fleet-rows.js'
import { paintBox } from './fleet-drawing.js'
import { FleetTiles } from './fleet-tiles.js'
import { selectedMachines, toggleSelection } from './selection.js'

/** Cells around the active one that assistive technology finds. */
const NEIGHBOURS = 12

export const openRow = ({ name, isNode }: FleetRow): void =>
  goToRoute({ view: isNode ? 'nodes' : 'machines', ident: name })

/** Words for a cell: all that its drawing shows. */
function labelOf(row: FleetRow, faults: readonly string[]): string {
  const words = [
    `${row.name}: ${row.state}`,
    row.since === null ? null : `for ${sinceText(row.since)}`,
    row.step && row.target ? `step ${row.step}` : null,
    row.isInMaintenance ? 'in maintenance' : null,
    row.error,
    faults.length > 0 ? `struck by ${faults.join(', ')}` : null,
  ]
  return words.filter((word) => word !== null && word !== '').join(', ')
}

interface FleetGridProps {
  rows: readonly FleetRow[]
  size: CellSize
  version: number
}

/** Every machine as a cell of a drawing. A listbox over it has the names and the keys. */
export function FleetGrid({ rows, size, version }: FleetGridProps) {
  const box = useRef<HTMLDivElement>(null)
  const tileBox = useRef<HTMLDivElement>(null)
  const tiles = useMemo(() => new FleetTiles(), [])
  const [active, setActive] = useState(0)
  const [hasFocus, setHasFocus] = useState(false)
  const paints = useMemo(paintBox, [colours.value])
  const chosen = selectedMachines.value
  const show = useRef(() => {})
  const showSoon = useMemo(() => oncePerFrame(() => show.current()), [])
  const width = useWidth(box, showSoon)
  const layout = useMemo(() => gridLayout(rows.length, width, size), [rows.length, width, size])
  const at = Math.max(0, Math.min(active, rows.length - 1))
  show.current = () => {
    if (!box.current || !tileBox.current || width === 0) return
    const { scrollTop: top, clientHeight: height } = box.current
    const isStruck = (id: string): boolean => allRows.isStruck(id)
    const cells = { rows, layout, selected: chosen, active: at, hasFocus, isStruck }
    tiles.show(tileBox.current, cells, { top, width, height }, paints)
  }
  useEffect(() => {
    tiles.forget()
    showSoon()
  }, [rows, version, layout, chosen, at, hasFocus, paints])
  const cellOf = (event: MouseEvent): number | null => {
    const { left, top } = box.current!.getBoundingClientRect()
    return cellAt(layout, rows.length, event.clientX - left, event.clientY - top + box.current!.scrollTop)
  }
  return (
    <div
      ref={box}
      class="grid"
      role="listbox"
      tabIndex={0}
      aria-multiselectable="true"
      aria-label={countText(rows.length, 'machine')}
      aria-activedescendant={rows.length > 0 ? `cell-${at}` : undefined}
      onScroll={showSoon}
      onKeyDown={(event) => pressInGrid(event, { box: box.current!, layout, rows, at, setActive })}
      onFocus={() => setHasFocus(true)}
      onBlur={() => setHasFocus(false)}
      onMouseMove={(event) => {
        const row = rows[cellOf(event) ?? -1]
        box.current!.title = row ? labelOf(row, allRows.struckBy(row.id)) : ''
      }}
      onClick={(event) => {
        const index = cellOf(event)
        if (index === null) return
        setActive(index)
        if (event.ctrlKey || event.metaKey || event.shiftKey) toggleSelection(rows[index]!.id)
        else openRow(rows[index]!)
      }}
    >
      <div ref={tileBox} class="tiles" aria-hidden="true" />
      <div role="presentation" class="cells" style={{ height: `${layout.height}px` }}>
        {width > 0 && <CellOptions rows={rows} layout={layout} at={at} />}
      </div>
    </div>
  )
}

interface ActiveCell {
  box: HTMLElement
  layout: GridLayout
  rows: readonly FleetRow[]
  /** Index of the active cell. */
  at: number
  setActive: (index: number) => void
}

/** Moves the active cell, opens or selects its machine. */
function pressInGrid(event: KeyboardEvent, { box, layout, rows, at, setActive }: ActiveCell): void {
  if (event.ctrlKey || event.metaKey || event.altKey) return
  const next = cellAfter(event.key, layout, rows.length, at)
  const row = rows[at]
  if (next !== null) {
    setActive(next)
    const top = Math.floor(next / layout.columns) * layout.cellHeight
    box.scrollTop = scrolledTo(box.scrollTop, box.clientHeight, top, top + layout.cellHeight)
  } else if (event.key === 'Enter' && row) openRow(row)
  else if (event.key === ' ' && row) toggleSelection(row.id)
  else return
  event.preventDefault()
  event.stopPropagation()
}

/** The cells around the active one, as options of the listbox. */
function CellOptions({ rows, layout, at }: { rows: readonly FleetRow[]; layout: GridLayout; at: number }) {
  const from = Math.max(0, at - NEIGHBOURS)
  return (
    <>
      {rows.slice(from, at + NEIGHBOURS + 1).map((row, offset) => {
        const index = from + offset
        return (
          <div
            key={row.id}
            id={`cell-${index}`}
            role="option"
            class="cell"
            aria-selected={selectedMachines.value.has(row.id)}
            aria-setsize={rows.length}
            aria-posinset={index + 1}
            aria-label={labelOf(row, allRows.struckBy(row.id))}
            style={{
              left: `${(index % layout.columns) * layout.cellWidth}px`,
              top: `${Math.floor(index / layout.columns) * layout.cellHeight}px`,
              width: `${layout.cellWidth}px`,
              height: `${layout.cellHeight}px`,
            }}
          />
        )
      })}
    </>
  )
}
