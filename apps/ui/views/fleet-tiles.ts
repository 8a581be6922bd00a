import { drawCells, type FleetDrawing, type paintBox } from './fleet-drawing.js'

/** Least height of a tile in CSS pixels: whole rows of cells fill it. */
const MIN_TILE_HEIGHT = 300

interface Tile {
  readonly canvas: HTMLCanvasElement
  /** True if its cells have not changed since it was drawn. */
  isDrawn: boolean
}

/**
 * The drawing of a grid, in tiles that scroll with it. A tile is drawn when it comes near the visible part and when its
 * cells change, so the browser moves finished pictures while a user scrolls.
 */
export class FleetTiles {
  /** By index from the top. */
  private readonly tiles = new Map<number, Tile>()

  /** The cells have changed: every tile is drawn again when it is shown. */
  forget(): void {
    for (const tile of this.tiles.values()) tile.isDrawn = false
  }

  /** Draws what is missing of the visible part and of one tile before and after it; removes the other tiles. */
  show(
    box: HTMLElement,
    cells: FleetDrawing,
    { top, width, height }: { top: number; width: number; height: number },
    paints: ReturnType<typeof paintBox>,
  ): void {
    const { cellHeight, height: fullHeight } = cells.layout
    const tileHeight = Math.ceil(MIN_TILE_HEIGHT / cellHeight) * cellHeight
    const first = Math.max(0, Math.floor(top / tileHeight) - 1)
    const last = Math.min(Math.ceil(fullHeight / tileHeight) - 1, Math.floor((top + height) / tileHeight) + 1)
    const unused = this.takeUnused(first, last)
    for (let index = first; index <= last; index++) {
      const tile = this.tiles.get(index) ?? { canvas: unused.pop() ?? newCanvas(box), isDrawn: false }
      this.tiles.set(index, tile)
      if (tile.isDrawn) continue
      const part = { top: index * tileHeight, width, height: Math.min(tileHeight, fullHeight - index * tileHeight) }
      const { style } = tile.canvas
      style.top = `${part.top}px`
      style.width = `${part.width}px`
      style.height = `${part.height}px`
      drawCells(tile.canvas, cells, part, paints)
      tile.isDrawn = true
    }
    for (const canvas of unused) canvas.remove()
  }

  /** Takes the tiles outside a range away; their canvases serve again. */
  private takeUnused(first: number, last: number): HTMLCanvasElement[] {
    const unused: HTMLCanvasElement[] = []
    for (const [index, { canvas }] of this.tiles) {
      if (index >= first && index <= last) continue
      this.tiles.delete(index)
      unused.push(canvas)
    }
    return unused
  }
}

function newCanvas(box: HTMLElement): HTMLCanvasElement {
  return box.appendChild(document.createElement('canvas'))
}
