import { appendFile, mkdir, readFile } from 'node:fs/promises'
import { dirname } from 'node:path'
import type { Measured } from './measure.js'
import type { RunsOn } from './runs-on.js'
import type { Before } from './table.js'

/** One run: a line of `bench/history.ndjson`. */
export interface Run extends RunsOn {
  rows: Readonly<Record<string, Pick<Measured, 'ours' | 'unit' | 'peer'>>>
}

export function runOf(on: RunsOn, rows: readonly Measured[]): Run {
  return { ...on, rows: Object.fromEntries(rows.map(({ what, ours, unit, peer }) => [what, { ours, unit, peer }])) }
}

/**
 * Reads the kept runs, the oldest first; there are none without a file.
 *
 * @throws for a line that is not a run, with its number
 */
export async function readHistory(path: string): Promise<Run[]> {
  const text = await readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return ''
    throw error
  })
  return text.split('\n').flatMap((line, index) => {
    if (line === '') return []
    const run = parsed(line)
    if (!isRun(run))
      throw new Error(`line ${index + 1} of ${path} is not a run of the benchmarks: correct or remove it`)
    return [run]
  })
}

export async function keep(path: string, run: Run): Promise<void> {
  await mkdir(dirname(path), { recursive: true })
  await appendFile(path, `${JSON.stringify(run)}\n`)
}

/** The last figure of each row on the same machine: the last run may have been of other rows. */
export function lastOnThisMachine(history: readonly Run[], { machine }: Pick<RunsOn, 'machine'>): Before {
  const same = history.filter(
    ({ machine: other }) =>
      other.cpu === machine.cpu && other.cores === machine.cores && other.memory_gib === machine.memory_gib,
  )
  return (what) => same.findLast(({ rows }) => Object.hasOwn(rows, what))?.rows[what]!.ours
}

function parsed(line: string): unknown {
  try {
    return JSON.parse(line)
  } catch {
    return undefined
  }
}

function isRun(run: unknown): run is Run {
  const { machine, rows } = (run ?? {}) as Partial<Run>
  return (
    typeof machine === 'object' &&
    typeof rows === 'object' &&
    Object.values(rows ?? { none: null }).every((row) => typeof (row as { ours?: unknown } | null)?.ours === 'number')
  )
}
