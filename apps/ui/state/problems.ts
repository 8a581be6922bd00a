import type { FaultReport } from '../../../control/index.js'
import { adviceFor, type Advice } from './advice.js'
import { commonError } from './filter.js'
import type { FleetRow } from './fleet-rows.js'

/** Machines that fail or hang alike. */
export interface MachineProblem {
  readonly key: string
  readonly kind: 'failed' | 'error' | 'blocked' | 'slow'
  /** State of its machines, and their error without names. */
  readonly state: string
  readonly error: string
  readonly rows: readonly FleetRow[]
  /** Faults that struck any of them and are still there. */
  readonly faults: readonly FaultReport[]
  readonly advice: Advice
}

/** Lab time after which a state that should pass is worth a look. */
export const SLOW_STATE_TIMEOUT = 10 * 60_000

/** Everything that goes wrong in a lab: what fails, then what cannot go on, then what takes long; the most frequent first. */
export function problemsOf(
  rows: readonly FleetRow[],
  faults: readonly FaultReport[],
  struckBy: (id: string) => readonly string[],
  now: number,
): MachineProblem[] {
  const groups = new Map<
    string,
    { kind: MachineProblem['kind']; row: FleetRow; error: string; rows: FleetRow[]; ids: Set<string> }
  >()
  for (const row of rows) {
    const kind = problemKindOf(row, now)
    if (!kind) continue
    const error = kind === 'blocked' ? commonError({ ...row, error: row.waitsFor }) : commonError(row)
    const key = `${kind}\n${row.state}\n${error}`
    const group = groups.get(key) ?? { kind, row, error, rows: [], ids: new Set<string>() }
    if (group.rows.length === 0) groups.set(key, group)
    group.rows.push(row)
    for (const id of struckBy(row.id)) group.ids.add(id)
  }
  return [...groups]
    .map(([key, { kind, row, error, rows: alike, ids }]): MachineProblem => {
      const active = faults.filter(({ id }) => ids.has(id))
      const about = { kind, state: row.state, error, faults: active, isInMaintenance: row.isInMaintenance }
      return { key, kind, state: row.state, error, rows: alike, faults: active, advice: adviceFor(about) }
    })
    .sort(
      (a, b) =>
        PROBLEM_ORDER[a.kind] - PROBLEM_ORDER[b.kind] || b.rows.length - a.rows.length || a.key.localeCompare(b.key),
    )
}

const PROBLEM_ORDER: Readonly<Record<MachineProblem['kind'], number>> = { failed: 0, error: 1, blocked: 2, slow: 3 }

function problemKindOf(row: FleetRow, now: number): MachineProblem['kind'] | null {
  if (row.look === 'failed') return 'failed'
  if (row.waitsFor !== null) return 'blocked'
  if (row.error !== null && row.error !== '') return 'error'
  const isPassing = row.look === 'working' || row.look === 'waiting'
  return isPassing && row.since !== null && now - row.since > SLOW_STATE_TIMEOUT ? 'slow' : null
}
