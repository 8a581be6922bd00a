import { useEffect, useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks'
import { oncePerFrame } from '../browser.js'
import { sinceText } from '../parts/clock-texts.js'
import { goToRoute } from '../parts/navigation.js'
import { colours } from '../parts/theme.js'
import { cellAfter, cellAt, gridLayout, scrolledTo, type CellSize } from '../state/grid-layout.js'
import { rows as allRows } from '../state/lab-state.js'
import type { FleetRow } from '../state/fleet-rows.js'
import { drawCells, paintBox } from './fleet-drawing.js'
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

/** Every machine as a cell of a drawing. A listbox over it has the names and the keys. */
export function FleetGrid({ rows, size, version }: { rows: readonly FleetRow[]; size: CellSize; version: number }) {
  const box = useRef<HTMLDivElement>(null)
  const canvas = useRef<HTMLCanvasElement>(null)
  const [width, setWidth] = useState(0)
  const [active, setActive] = useState(0)
  const [hasFocus, setHasFocus] = useState(false)
  const paints = useMemo(paintBox, [colours.value])
  const layout = useMemo(() => gridLayout(rows.length, width, size), [rows.length, width, size])
  const at = Math.max(0, Math.min(active, rows.length - 1))
  const chosen = selectedMachines.value

  const draw = useRef(() => {})
  draw.current = () => {
    if (!box.current || !canvas.current || width === 0) return
    const { scrollTop: top, clientHeight: height } = box.current
    drawCells(
      canvas.current,
      {
        rows,
        layout,
        selected: chosen,
        active: at,
        hasFocus,
        isStruck: (id) => allRows.struckBy(id).length > 0,
      },
      { top, width, height },
      paints,
    )
  }
  const drawSoon = useMemo(() => oncePerFrame(() => draw.current()), [])
  useLayoutEffect(() => {
    const observer = new ResizeObserver(() => {
      setWidth(box.current!.clientWidth)
      drawSoon()
    })
    observer.observe(box.current!)
    return () => observer.disconnect()
  }, [])
  useEffect(drawSoon, [rows, version, layout, chosen, at, hasFocus, paints])

  const moveTo = (index: number): void => {
    setActive(index)
    const top = Math.floor(index / layout.columns) * layout.cellHeight
    const { scrollTop, clientHeight } = box.current!
    box.current!.scrollTop = scrolledTo(scrollTop, clientHeight, top, top + layout.cellHeight)
  }
  const pressed = (event: KeyboardEvent): void => {
    if (event.ctrlKey || event.metaKey || event.altKey) return
    const next = cellAfter(event.key, layout, rows.length, at)
    const row = rows[at]
    if (next !== null) moveTo(next)
    else if (event.key === 'Enter' && row) openRow(row)
    else if (event.key === ' ' && row) toggleSelection(row.id)
    else return
    event.preventDefault()
    event.stopPropagation()
  }
  const cellOf = (event: MouseEvent): number | null => {
    const { left, top } = box.current!.getBoundingClientRect()
    return cellAt(layout, rows.length, event.clientX - left, event.clientY - top + box.current!.scrollTop)
  }
  const from = Math.max(0, at - NEIGHBOURS)
  const neighbours = rows.slice(from, at + NEIGHBOURS + 1)
  return (
    <div
      ref={box}
      class="grid"
      role="listbox"
      tabIndex={0}
      aria-multiselectable="true"
      aria-label={`${rows.length} machines`}
      aria-activedescendant={rows.length > 0 ? `cell-${at}` : undefined}
      onScroll={drawSoon}
      onKeyDown={pressed}
      onFocus={() => setHasFocus(true)}
      onBlur={() => setHasFocus(false)}
      onMouseMove={(event) => {
        const index = cellOf(event)
        const row = index === null ? undefined : rows[index]
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
      <canvas ref={canvas} aria-hidden="true" style={{ width: `${width}px` }} />
      <div role="presentation" class="cells" style={{ height: `${layout.height}px` }}>
        {width > 0 &&
          neighbours.map((row, offset) => {
            const index = from + offset
            return (
              <div
                key={row.id}
                id={`cell-${index}`}
                role="option"
                class="cell"
                aria-selected={chosen.has(row.id)}
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
      </div>
    </div>
  )
}
