import { visibleLine } from '../../base/runtime/index.js'
import { entryLine, type LabJournal } from '../../control/index.js'

/** Columns of a terminal. */
const TERMINAL_WIDTH = 80
/** Lines for one entry; the rest of an error of a page is left out. */
const MAX_ENTRY_LINES = 6
const INDENT = '    '

/** The last entries of a journal for people, in lines of 80 columns. */
export function journalText(journal: LabJournal, { title, most }: { title: string; most: number }): string {
  const all = journal.entries()
  const shown = most > 0 ? all.slice(-most) : []
  const count = shown.length < all.length ? `the last ${shown.length} of ${all.length} entries` : 'all entries'
  const head = wrapIndented(`Journal of the lab of "${title}", ${count}, in lab time:`, '')
  return [...head, ...shown.flatMap((entry) => wrapIndented(entryLine(entry), INDENT).slice(0, MAX_ENTRY_LINES))].join(
    '\n',
  )
}

/** Lines of at most {@link TERMINAL_WIDTH} columns, broken between words where there are any. */
function wrapIndented(text: string, indent: string): string[] {
  const lines: string[] = []
  let rest = visibleLine(text)
  for (let room = TERMINAL_WIDTH; rest.length > room; room = TERMINAL_WIDTH - indent.length) {
    const space = rest.lastIndexOf(' ', room)
    const end = space > room / 2 ? space : room
    lines.push((lines.length > 0 ? indent : '') + rest.slice(0, end).trimEnd())
    rest = rest.slice(end).trimStart()
  }
  return [...lines, (lines.length > 0 ? indent : '') + rest]
}
