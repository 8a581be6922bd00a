import { readdir, readFile } from 'node:fs/promises'
import { systemClock } from '../../base/runtime/index.js'
import type { Row } from './rows.js'

export const clock = systemClock()

/** Milliseconds without requests after which a server counts as idle; V8 returns memory after 45 s. */
export const REST = 60_000

/** One line of the table. */
export interface Measured {
  what: Row
  /** As `unit` says. */
  ours: number
  /** The same done by something else, in the same run on the same machine; null where there is nothing like it. */
  peer: { name: string; value: number } | null
  /** The project's target. */
  reach: number | 'peer' | null
  /** Nothing where things are counted. */
  unit: 'ms' | 'KiB' | 'MiB' | '%' | ''
  /** How often it was measured; what is printed is the median. */
  runs: number
}

/** Lines of cells; the first line names the columns. */
export type Cells = readonly (readonly string[])[]

/** Rows of a benchmark, and tables that it prints besides. */
export interface Outcome {
  rows: Measured[]
  more?: Cells[]
}

/** Milliseconds that something takes. */
export async function timed(work: () => Promise<unknown>): Promise<number> {
  const since = performance.now()
  await work()
  return performance.now() - since
}

/** The median of several measurements, one after another. */
export async function median(runs: number, measure: () => Promise<number>): Promise<number> {
  const values: number[] = []
  for (let run = 0; run < runs; run++) values.push(await measure())
  return values.sort((a, b) => a - b)[Math.floor(runs / 2)]!
}

/** The value that so many of a hundred do not exceed. */
export function percentile(values: readonly number[], percent: number): number {
  const sorted = [...values].sort((a, b) => a - b)
  return sorted[Math.min(sorted.length - 1, Math.ceil((percent / 100) * sorted.length) - 1)]!
}

/** MiB of physical memory that a process and all that it has started take; what they share is counted once. */
export async function memoryOf(pid: number): Promise<number> {
  let mib = await pssOf(pid)
  for (const child of await childrenOf(pid)) mib += await memoryOf(child)
  return mib
}

/** MiB of physical memory of a process, with its share of what it has in common with others; 0 once it is gone. */
export async function pssOf(pid: number): Promise<number> {
  const rollup = await readFile(`/proc/${pid}/smaps_rollup`, 'utf8').catch(() => '')
  return Number(/^Pss:\s+(\d+)/m.exec(rollup)?.[1] ?? 0) / 1024
}

export async function childrenOf(pid: number): Promise<number[]> {
  const tasks = await readdir(`/proc/${pid}/task`).catch(() => [])
  const children = tasks.map((task) => readFile(`/proc/${pid}/task/${task}/children`, 'utf8').catch(() => ''))
  return (await Promise.all(children)).join(' ').split(' ').filter(Boolean).map(Number)
}

/** Milliseconds of processor time of a process and all that it has started, so far; the kernel counts in hundredths of a second. */
export async function processorTime(pid: number): Promise<number> {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '')
  // The name may have blanks; the times of user and kernel are the 14th and 15th field.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  let used = (Number(fields[11] ?? 0) + Number(fields[12] ?? 0)) * 10
  for (const child of await childrenOf(pid)) used += await processorTime(child)
  return used
}
