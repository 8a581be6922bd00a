import { fileURLToPath } from 'node:url'
import { parseArguments, USAGE, WrongArgument, type Arguments } from './arguments.js'
import { BENCHMARKS } from './benchmarks.js'
import { keep, lastOnThisMachine, readHistory, runOf } from './history.js'
import type { Cells, Measured } from './measure.js'
import { described, isBusy, runsOn } from './runs-on.js'
import { asMarkdown, asText, tableOf } from './table.js'

const HISTORY = fileURLToPath(new URL('../../bench/history.ndjson', import.meta.url.replace('/dist/test/', '/test/')))

/** Runs the benchmarks that are named, and prints what they measured. Judges nothing. */
async function main({ names, history, markdown }: Arguments): Promise<void> {
  const on = await runsOn()
  const before = lastOnThisMachine(await readHistory(HISTORY), on)
  const print = (cells: Cells): void => void process.stdout.write(`${(markdown ? asMarkdown : asText)(cells)}\n\n`)
  process.stdout.write(`${described(on)}\n\n`)
  if (isBusy(on)) warn('the machine is busy: times are longer than on an idle one')
  const rows: Measured[] = []
  const more: Cells[] = []
  for (const name of names) {
    process.stderr.write(`${name} ...\n`)
    try {
      const measured = await BENCHMARKS[name]()
      rows.push(...measured.rows)
      more.push(...(measured.more ?? []))
    } catch (error) {
      // Hours of the others must not be lost with one that lacks its peer.
      process.exitCode = 1
      warn(`${name} failed: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`)
    }
  }
  if (rows.length > 0) [tableOf(rows, before), ...more].forEach(print)
  if (history && rows.length > 0) {
    await keep(HISTORY, runOf(on, rows))
    process.stdout.write(`kept in ${HISTORY}\n`)
  }
}

const warn = (text: string): void => void process.stderr.write(`${text}\n`)

try {
  if (process.argv.includes('--help')) process.stdout.write(USAGE)
  else await main(parseArguments(process.argv.slice(2)))
} catch (error) {
  if (!(error instanceof WrongArgument)) throw error
  warn(`bench: ${error.message}`)
  process.exitCode = 2
}
