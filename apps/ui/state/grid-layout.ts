/** A grid of equal cells in a box that scrolls. Lengths are in CSS pixels. */
export interface GridLayout {
  readonly columns: number
  readonly rows: number
  readonly cellWidth: number
  readonly cellHeight: number
  /** Height of all rows. */
  readonly height: number
  /** Level of detail for which a cell has room. */
  readonly detail: 'mark' | 'name' | 'state'
}

export type CellSize = 'auto' | 'small' | 'medium' | 'large'

const SIZES = {
  small: { width: 22, height: 22, detail: 'mark' },
  medium: { width: 112, height: 32, detail: 'name' },
  large: { width: 190, height: 58, detail: 'state' },
} as const

/** The largest size of which all cells are seen in few screens. */
function sizeFor(count: number): keyof typeof SIZES {
  return count <= 60 ? 'large' : count <= 400 ? 'medium' : 'small'
}

export function gridLayout(count: number, width: number, size: CellSize): GridLayout {
  const { width: wanted, height: cellHeight, detail } = SIZES[size === 'auto' ? sizeFor(count) : size]
  const columns = Math.max(1, Math.floor(width / wanted))
  const rows = Math.ceil(count / columns)
  // Marks stay squares; wider cells share the room that is left.
  const cellWidth = detail === 'mark' ? wanted : Math.floor(width / columns)
  return { columns, rows, cellWidth, cellHeight, height: rows * cellHeight, detail }
}

/** The cells that are seen: from the first to before the last. */
export function visibleCells(layout: GridLayout, count: number, top: number, height: number): [number, number] {
  const first = Math.max(0, Math.floor(top / layout.cellHeight)) * layout.columns
  const end = Math.ceil((top + height) / layout.cellHeight) * layout.columns
  return [Math.min(first, count), Math.min(end, count)]
}

/** The cell at a point; null beside all cells. */
export function cellAt(layout: GridLayout, count: number, x: number, y: number): number | null {
  const column = Math.floor(x / layout.cellWidth)
  if (x < 0 || y < 0 || column >= layout.columns) return null
  const index = Math.floor(y / layout.cellHeight) * layout.columns + column
  return index < count ? index : null
}

const KEY_STEPS: Readonly<Record<string, (layout: GridLayout) => number>> = {
  ArrowRight: () => 1,
  ArrowLeft: () => -1,
  j: () => 1,
  k: () => -1,
  ArrowDown: ({ columns }) => columns,
  ArrowUp: ({ columns }) => -columns,
  Home: () => Number.NEGATIVE_INFINITY,
  End: () => Number.POSITIVE_INFINITY,
}

/** The cell that a key leads to; null for a key that leads nowhere. */
export function cellAfter(key: string, layout: GridLayout, count: number, at: number): number | null {
  const step = KEY_STEPS[key]?.(layout)
  return step === undefined || count === 0 ? null : Math.min(count - 1, Math.max(0, at + step))
}

/** Where a box has to be scrolled to show a span. */
export function scrolledTo(top: number, height: number, from: number, to: number): number {
  if (from < top) return from
  return to > top + height ? to - height : top
}
