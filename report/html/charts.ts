import { markup, type Html } from './html.js'
import type { Tone } from './html-page.js'

/** A span of time of a chart, in milliseconds. */
export interface Bar {
  from: number
  to: number
  tone: Tone
  /** Shown where a pointer rests. */
  title: string
}

/** A line of a chart. */
export interface ChartLane {
  label: string
  bars?: readonly Bar[]
  /** Moments: bars without a length. */
  marks?: readonly Omit<Bar, 'to'>[]
}

const CHART_WIDTH = 1000

/** Widths below this are drawn with it, so that a short time can be seen. */
const MIN_BAR_WIDTH = 2.5

/** A chart of lanes over one axis of time. */
export function timeChart(
  lanes: readonly ChartLane[],
  { from, to, axis }: { from: number; to: number; axis: readonly string[] },
): Html {
  const length = Math.max(to - from, 1)
  const x = (at: number): number => ((Math.min(Math.max(at, from), to) - from) / length) * CHART_WIDTH
  const rect = (left: number, width: number, tone: Tone, title: string, isMark: boolean): Html =>
    markup`<rect class="${tone}${isMark ? ' mark' : ''}" x="${Math.min(left, CHART_WIDTH - MIN_BAR_WIDTH).toFixed(2)}" y="${isMark ? 3 : 1}" width="${Math.max(width, MIN_BAR_WIDTH).toFixed(2)}" height="${isMark ? 14 : 18}"><title>${title}</title></rect>`
  return markup`<div class="chart">
${lanes.map(
  ({
    label,
    bars = [],
    marks = [],
  }) => markup`<div class="lane"><span title="${label}">${label}</span><svg viewBox="0 0 ${CHART_WIDTH} 20" preserveAspectRatio="none" role="img" aria-label="${laneText(label, bars, marks)}">${bars.map(({ from: left, to: right, tone, title }) => rect(x(left), x(right) - x(left), tone, title, false))}${marks.map(({ from: at, tone, title }) => rect(x(at), 0, tone, title, true))}</svg></div>
`,
)}<div class="axis">${axis.map((text) => markup`<span>${text}</span>`)}</div>
</div>`
}

/** The lane in words, for those who do not see it. */
function laneText(label: string, bars: ChartLane['bars'] = [], marks: ChartLane['marks'] = []): string {
  const shown = [...bars, ...marks].slice(0, 12).map(({ title }) => title)
  const more = bars.length + marks.length - shown.length
  return `${label}: ${shown.join('; ')}${more > 0 ? `; and ${more} more` : ''}`
}

/** A part of a disk. Bytes. */
export interface DiskPart {
  offset: number
  length: number
  tone: Tone
  title: string
}

/**
 * A disk as a bar to scale. Parts that would be too thin to be seen have a least width; the others share what is left.
 */
export function diskBar(size: number, parts: readonly DiskPart[], kind: 'partitions' | 'writes', label: string): Html {
  const boxes = kind === 'partitions' ? layOutParts(size, parts) : parts.map((part) => exact(size, part))
  return markup`<svg viewBox="0 0 ${CHART_WIDTH} 20" preserveAspectRatio="none" role="img" aria-label="${label}"${kind === 'writes' ? markup` class="writes"` : ''}>${boxes.map(({ left, width, part }) => markup`<rect class="${part.tone}" x="${left.toFixed(2)}" y="0" width="${width.toFixed(2)}" height="20"><title>${part.title}</title></rect>`)}</svg>`
}

interface Box {
  left: number
  width: number
  part: DiskPart
}

const exact = (size: number, part: DiskPart): Box => ({
  left: (part.offset / size) * CHART_WIDTH,
  width: Math.max(1, (part.length / size) * CHART_WIDTH),
  part,
})

/** Width of the smallest partition of a drawing. */
const MIN_PARTITION_WIDTH = 18

function layOutParts(size: number, parts: readonly DiskPart[]): Box[] {
  const sorted = [...parts].sort((a, b) => a.offset - b.offset)
  const wanted = sorted.map(({ length }) => Math.max(MIN_PARTITION_WIDTH, (length / size) * CHART_WIDTH))
  const sum = wanted.reduce((total, width) => total + width, 0)
  const scale = Math.min(1, CHART_WIDTH / Math.max(sum, 1))
  let left = 0
  return sorted.map((part, index) => {
    const width = wanted[index]! * scale
    // A partition stands where it is, unless those before it needed more room than they have.
    left = Math.max(
      left,
      Math.min(
        (part.offset / size) * CHART_WIDTH,
        CHART_WIDTH - wanted.slice(index).reduce((a, b) => a + b, 0) * scale,
      ),
    )
    const box = { left, width, part }
    left += width
    return box
  })
}
