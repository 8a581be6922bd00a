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

/** The part of a fleet that a box shows, in CSS pixels. */
interface SeenPart {
  readonly top: number
  readonly width: number
  readonly height: number
}

interface CellColours {
  readonly look: Readonly<Record<Look, string>>
  readonly text: string
  readonly quiet: string
  readonly cell: string
  readonly line: string
  readonly chosen: string
  readonly focus: string
  readonly fault: string
}

/** Side of a mark in CSS pixels. */
const MARK_SIZE = 16
const CELL_ROUNDING = 5

/** Colours and shapes, read once for each theme. */
export function paintBox() {
  const colours: CellColours = {
    look: Object.fromEntries(LOOKS.map((look) => [look, colourOf(`look-${look}`)])) as Record<Look, string>,
    text: colourOf('text'),
    quiet: colourOf('quiet'),
    cell: colourOf('cell'),
    line: colourOf('line'),
    chosen: colourOf('chosen'),
    focus: colourOf('focus'),
    fault: colourOf('fault'),
  }
  return { colours, marks: markPictures(colours) }
}

type Paints = ReturnType<typeof paintBox>

/** Draws the visible cells. Names are drawn as text, never parsed as HTML. */
export function drawCells(
  canvas: HTMLCanvasElement,
  drawing: FleetDrawing,
  { top, width, height }: SeenPart,
  paints: Paints,
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
  const marks = paints.marks(scale)
  const [first, end] = visibleCells(drawing.layout, drawing.rows.length, top, height)
  for (let index = first; index < end; index++) drawCell(pen, drawing, index, top, { colours: paints.colours, marks })
}

interface CellPaints {
  readonly colours: CellColours
  readonly marks: MarkPictures
}

function drawCell(
  pen: CanvasRenderingContext2D,
  { rows, layout, selected, active, hasFocus, isStruck }: FleetDrawing,
  index: number,
  top: number,
  { colours, marks }: CellPaints,
): void {
  const { columns, cellWidth, cellHeight, detail } = layout
  const row = rows[index]!
  const x = (index % columns) * cellWidth
  const y = Math.floor(index / columns) * cellHeight - top
  const isMark = detail === 'mark'
  const isSelected = selected.has(row.id)
  if (!isMark) drawGround(pen, row, { x, y, layout, isSelected, colours })
  else if (isSelected) {
    pen.fillStyle = colours.chosen
    pen.fillRect(x + 1, y + 1, cellWidth - 3, cellHeight - 3)
  }
  const markTop = detail === 'state' ? 10 : (cellHeight - MARK_SIZE - 1) / 2
  pen.drawImage(marks[row.look], x + (isMark ? 3 : 12), y + markTop, MARK_SIZE, MARK_SIZE)
  if (!isMark) drawText(pen, row, { x: x + 34, y, layout, colours })
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

interface CellPlace {
  readonly x: number
  readonly y: number
  readonly layout: GridLayout
  readonly colours: CellColours
}

/** A card with an edge in the colour of the state. */
function drawGround(
  pen: CanvasRenderingContext2D,
  row: FleetRow,
  { x, y, layout, isSelected, colours }: CellPlace & { isSelected: boolean },
): void {
  pen.fillStyle = isSelected ? colours.chosen : colours.cell
  pen.strokeStyle = colours.line
  pen.lineWidth = 1
  pen.beginPath()
  pen.roundRect(x + 1.5, y + 1.5, layout.cellWidth - 4, layout.cellHeight - 4, CELL_ROUNDING)
  pen.fill()
  pen.stroke()
  pen.fillStyle = colours.look[row.look]
  pen.beginPath()
  pen.roundRect(x + 1, y + 1, 4, layout.cellHeight - 3, [CELL_ROUNDING, 0, 0, CELL_ROUNDING])
  pen.fill()
}

type MarkPictures = Readonly<Record<Look, HTMLCanvasElement>>

/** A picture of each mark, for a number of dots a pixel: a copy of it costs a fraction of a path that is filled. */
function markPictures(colours: CellColours): (scale: number) => MarkPictures {
  const paths = markPaths()
  let made: { scale: number; pictures: MarkPictures } | undefined
  return (scale) => {
    if (made?.scale !== scale) {
      const entries = LOOKS.map((look) => [look, pictureOf(paths[look], colours.look[look], scale)])
      made = { scale, pictures: Object.fromEntries(entries) as MarkPictures }
    }
    return made.pictures
  }
}

function pictureOf(path: Path2D, colour: string, scale: number): HTMLCanvasElement {
  const picture = document.createElement('canvas')
  picture.width = Math.ceil(MARK_SIZE * scale)
  picture.height = picture.width
  const pen = picture.getContext('2d')!
  pen.scale(picture.width / MARK_SIZE, picture.width / MARK_SIZE)
  pen.fillStyle = colour
  pen.fill(path, 'evenodd')
  return picture
}

function drawText(pen: CanvasRenderingContext2D, row: FleetRow, { x, y, layout, colours }: CellPlace): void {
  const room = layout.cellWidth - 46
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
