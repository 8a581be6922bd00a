import { readdir, readFile } from 'node:fs/promises'
import { systemClock } from '../../runtime/index.js'

export const clock = systemClock()

/** One line of what is printed. */
export interface Measured {
  what: string
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

export function table(rows: readonly Measured[]): string {
  const shown = (value: number, unit: string) =>
    `${value >= 100 || unit === '' ? Math.round(value) : value.toFixed(1)} ${unit}`.trim()
  const cells = rows.map(({ what, ours, peer, reach, unit, runs }) => [
    what,
    shown(ours, unit),
    peer === null ? '-' : `${shown(peer.value, unit)} (${peer.name})`,
    peer === null ? '-' : (ours / peer.value).toFixed(2),
    reach === null ? '-' : reach === 'peer' ? 'as the peer' : shown(reach, unit),
    String(runs),
  ])
  const all = [['what', 'ours', 'peer', 'ours/peer', 'reach', 'runs'], ...cells]
  const widths = all[0]!.map((_, column) => Math.max(...all.map((row) => row[column]!.length)))
  return all
    .map((row) =>
      row
        .map((cell, column) => cell.padEnd(widths[column]!))
        .join('  ')
        .trimEnd(),
    )
    .join('\n')
}

/** The value that so many of a hundred do not exceed. */
export function percentile(values: readonly number[], percent: number): number {
  const sorted = [...values].sort((a, b) => a - b)
  return sorted[Math.min(sorted.length - 1, Math.ceil((percent / 100) * sorted.length) - 1)]!
}

/** MiB of physical memory that a process and all that it has started take; what they share is counted once. */
export async function memoryOf(pid: number): Promise<number> {
  const rollup = await readFile(`/proc/${pid}/smaps_rollup`, 'utf8').catch(() => '')
  let kib = Number(/^Pss:\s+(\d+)/m.exec(rollup)?.[1] ?? 0)
  for (const task of await readdir(`/proc/${pid}/task`).catch(() => [])) {
    const children = await readFile(`/proc/${pid}/task/${task}/children`, 'utf8').catch(() => '')
    for (const child of children.split(' ').filter(Boolean)) kib += (await memoryOf(Number(child))) * 1024
  }
  return kib / 1024
}
