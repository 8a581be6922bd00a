import { readFileSync } from 'node:fs'

/** A row of docs/fidelity.md. */
interface FidelityRow {
  /** The heading above its table. */
  readonly section: string
  readonly cells: readonly string[]
  readonly upstream: string
  /** Path of the test that shows ours, and its title; undefined where the last cell has another form. */
  readonly test: string | undefined
  readonly title: string | undefined
}

const document = readFileSync(new URL('../../docs/fidelity.md', import.meta.url), 'utf8')

/** The rows of all tables of docs/fidelity.md, in their order. */
export const FIDELITY_ROWS: readonly FidelityRow[] = document.split(/^## /m).flatMap((part) => {
  const [section, ...lines] = part.split('\n')
  return lines.filter((line) => /^\| (?!Upstream|Real)/.test(line)).map((line) => rowOf(section!, line))
})

function rowOf(section: string, line: string): FidelityRow {
  const cells = line.slice(2, -2).split(' | ')
  const shown = /^`([^`]+)` "(.+)"$/.exec(cells[3] ?? '')
  return { section, cells, upstream: cells[0]!, test: shown?.[1], title: shown?.[2] }
}
