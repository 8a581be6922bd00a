import type { ProgramMachine } from '../machine-program.js'

/** systemd's `ActiveState` and `Result` of a unit. */
export interface UnitState {
  activeState: 'inactive' | 'activating' | 'active' | 'failed'
  result: string
}

const unitFile = (unit: string) => `/etc/systemd/system/${unit}.service`
const startFile = (unit: string) => `/run/systemd/started/${unit}`

/** True if a unit file was added to the live system, as an assisted installation's image adds `agent.service`. */
export const hasUnitFile = ({ files }: ProgramMachine, unit: string): boolean => files.exists(unitFile(unit))

export function setStarted({ files }: ProgramMachine, unit: string, at: number | null): void {
  if (at !== null) files.write(startFile(unit), Buffer.from(String(at)))
  else if (files.exists(startFile(unit))) files.remove(startFile(unit))
}

/**
 * State of an added unit. A section of its file, whose name systemd ignores, has the states after its start:
 *
 * ```ini
 * [X-Simulation]
 * States=activating:5 active:600 failed:exit-code
 * ```
 *
 * A number is the duration of a state in seconds; the last state stays, and `failed` has a result. Without the section a
 * unit is active from its start.
 */
export function unitState({ files }: ProgramMachine, unit: string, now: number): UnitState {
  const inactive: UnitState = { activeState: 'inactive', result: 'success' }
  if (!files.exists(startFile(unit))) return inactive
  const text = Buffer.from(files.read(unitFile(unit))).toString()
  const states = /^\[X-Simulation\][^[]*?^States=(.*)$/ms.exec(text)?.[1]?.split('\n')[0] ?? 'active'
  let left = now - Number(Buffer.from(files.read(startFile(unit))).toString())
  let current = inactive
  for (const word of states.trim().split(/\s+/)) {
    const [name, detail] = word.split(':')
    const activeState = (['inactive', 'activating', 'active', 'failed'] as const).find((known) => known === name)
    current = {
      activeState: activeState ?? 'inactive',
      result: name === 'failed' ? (detail ?? 'exit-code') : 'success',
    }
    left -= name === 'failed' || detail === undefined ? Infinity : Number(detail) * 1000
    if (left < 0) break
  }
  return current
}
