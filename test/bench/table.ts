import type { Cells, Measured } from './measure.js'
import type { Row } from './rows.js'

/** Figure of an earlier run, if there is one. */
export type Before = (row: Row) => number | undefined

/** Measured rows beside their peers, their reaches, and the run before. */
export function tableOf(rows: readonly Measured[], before: Before): Cells {
  return [
    ['what', 'ours', 'peer', 'ours/peer', 'reach', 'before', 'change', 'runs'],
    ...rows.map(({ what, ours, peer, reach, unit, runs }) => {
      const earlier = before(what)
      return [
        what,
        withUnit(ours, unit),
        peer === null ? '-' : `${withUnit(peer.value, unit)} (${peer.name})`,
        peer === null ? '-' : (ours / peer.value).toFixed(2),
        reach === null ? '-' : reach === 'peer' ? 'as the peer' : withUnit(reach, unit),
        earlier === undefined ? '-' : withUnit(earlier, unit),
        earlier === undefined ? '-' : changeOf(earlier, ours),
        String(runs),
      ]
    }),
  ]
}

export function withUnit(value: number, unit: string): string {
  return `${value >= 100 || unit === '' ? Math.round(value).toLocaleString('en') : value.toFixed(1)} ${unit}`.trim()
}

function changeOf(before: number, now: number): string {
  if (before === now) return 'same'
  if (before === 0) return 'from 0'
  const percent = Math.round((now / before - 1) * 100)
  return `${percent > 0 ? '+' : ''}${percent} %`
}

/** Columns of equal width, for a terminal. */
export function asText(cells: Cells): string {
  const widths = widthsOf(cells)
  return cells.map((line) => padded(line, widths).join('  ').trimEnd()).join('\n')
}

/** A Markdown table, for a document. */
export function asMarkdown(cells: Cells): string {
  const escaped = cells.map((line) => line.map((cell) => cell.replaceAll('|', '\\|')))
  const widths = widthsOf(escaped)
  const [head, ...body] = escaped.map((line) => `| ${padded(line, widths).join(' | ')} |`)
  return [head, `| ${widths.map((width) => '-'.repeat(Math.max(3, width))).join(' | ')} |`, ...body].join('\n')
}

const widthsOf = (cells: Cells): number[] =>
  cells[0]!.map((_, column) => Math.max(...cells.map((line) => line[column]!.length)))

const padded = (line: readonly string[], widths: readonly number[]): string[] =>
  line.map((cell, column) => cell.padEnd(widths[column]!))
