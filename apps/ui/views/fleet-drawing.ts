import { colourOf } from '../parts/theme.js'
import { markPaths } from '../parts/shapes.js'
import { visibleCells, type GridLayout } from '../state/grid-layout.js'
import { LOOKS, type Look } from '../state/looks.js'
import type { FleetRow } from '../state/fleet-rows.js'

export interface FleetDrawing {
  readonly rows: readonly FleetRow[]
  readonly layout: GridLayout
  readonly selected: ReadonlySet<string>
  readonly active: number
  readonly hasFocus: boolean
  readonly isStruck: (id: string) => boolean
}

interface Colours {
  readonly look: Readonly<Record<Look, string>>
  readonly text: string
  readonly quiet: string
  readonly cell: string
  readonly chosen: string
  readonly focus: string
  readonly fault: string
}

/** Colours and shapes, read once for each theme. */
export function paintBox() {
  const colours: Colours = {
    look: Object.fromEntries(LOOKS.map((look) => [look, colourOf(`look-${look}`)])) as Record<Look, string>,
    text: colourOf('text'),
    quiet: colourOf('quiet'),
    cell: colourOf('cell'),
    chosen: colourOf('chosen'),
    focus: colourOf('focus'),
    fault: colourOf('fault'),
  }
  return { colours, paths: markPaths() }
}

/** Draws the cells that are seen. Text is drawn, so nothing of a name is ever markup. */
export function drawCells(
  canvas: HTMLCanvasElement,
  { rows, layout, selected, active, hasFocus, isStruck }: FleetDrawing,
  { top, width, height }: { top: number; width: number; height: number },
  { colours, paths }: ReturnType<typeof paintBox>,
): void {
  const scale = devicePixelRatio || 1
  const wide = Math.round(width * scale)
  const high = Math.round(height * scale)
  if (canvas.width !== wide) canvas.width = wide
  if (canvas.height !== high) canvas.height = high
  const pen = canvas.getContext('2d')!
  pen.setTransform(scale, 0, 0, scale, 0, 0)
  pen.clearRect(0, 0, width, height)
  pen.textBaseline = 'middle'
  const { columns, cellWidth, cellHeight, detail } = layout
  const [first, end] = visibleCells(layout, rows.length, top, height)
  for (let index = first; index < end; index++) {
    const row = rows[index]!
    const x = (index % columns) * cellWidth
    const y = Math.floor(index / columns) * cellHeight - top
    const isSelected = selected.has(row.id)
    if (detail !== 'mark' || isSelected) {
      pen.fillStyle = isSelected ? colours.chosen : colours.cell
      pen.fillRect(x + 1, y + 1, cellWidth - 3, cellHeight - 3)
    }
    if (detail !== 'mark') {
      pen.fillStyle = colours.look[row.look]
      pen.fillRect(x + 1, y + 1, 3, cellHeight - 3)
    }
    pen.save()
    pen.translate(x + (detail === 'mark' ? 3 : 10), y + (detail === 'state' ? 10 : (cellHeight - 17) / 2))
    pen.fillStyle = colours.look[row.look]
    pen.fill(paths[row.look], 'evenodd')
    pen.restore()
    if (detail !== 'mark') drawText(pen, row, { x: x + 32, y, layout, colours })
    if (isStruck(row.id)) {
      pen.fillStyle = colours.fault
      pen.beginPath()
      pen.moveTo(x + cellWidth - 11, y + 1)
      pen.lineTo(x + cellWidth - 2, y + 1)
      pen.lineTo(x + cellWidth - 2, y + 10)
      pen.fill()
    }
    if (index === active && hasFocus) {
      pen.strokeStyle = colours.focus
      pen.lineWidth = 2
      pen.strokeRect(x + 1, y + 1, cellWidth - 3, cellHeight - 3)
    }
  }
}

function drawText(
  pen: CanvasRenderingContext2D,
  row: FleetRow,
  { x, y, layout, colours }: { x: number; y: number; layout: GridLayout; colours: Colours },
): void {
  const room = layout.cellWidth - 42
  pen.fillStyle = colours.text
  pen.font = '600 13px system-ui, sans-serif'
  pen.fillText(fitted(pen, row.name, room), x, y + (layout.detail === 'state' ? 18 : layout.cellHeight / 2))
  if (layout.detail !== 'state') return
  pen.fillStyle = colours.quiet
  pen.font = '12px system-ui, sans-serif'
  const words = row.isInMaintenance ? `${row.state}, maintenance` : row.step && row.target ? row.step : row.state
  pen.fillText(fitted(pen, words, room), x, y + 39)
}

/** A text that is cut to a width. */
function fitted(pen: CanvasRenderingContext2D, text: string, width: number): string {
  // Control characters have no shape.
  const plain = text.replace(/\p{C}/gu, '�').slice(0, 60)
  if (pen.measureText(plain).width <= width) return plain
  let length = plain.length
  while (length > 1 && pen.measureText(`${plain.slice(0, length)}…`).width > width) length--
  return `${plain.slice(0, length)}…`
}
