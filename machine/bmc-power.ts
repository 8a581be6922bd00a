import { errorChain, type Clock, type Logger } from '../base/runtime/index.js'
import type { LogEntry } from './hardware/bmc-log.js'
import type { Machine, MachinePower } from './machine.js'

/** Power commands of a BMC that may be under way at a time: one that is carried out, and one that waits for its end. */
const MAX_POWER_COMMANDS = 2

const commands = new WeakMap<Machine, number>()

/**
 * Changes a machine's power as BMCs do: they answer before a slow machine has reached its state, and refuse commands that
 * they cannot keep.
 *
 * @param timeout milliseconds after which the command is answered in any case
 * @returns whether the BMC took the command
 */
export async function commandPower(
  machine: Machine,
  target: MachinePower | 'reboot',
  { soft, timeout, clock, logger }: { soft: boolean; timeout: number; clock: Clock; logger: Logger },
): Promise<boolean> {
  const others = commands.get(machine) ?? 0
  if (others >= MAX_POWER_COMMANDS) return false
  commands.set(machine, others + 1)
  const done = machine
    .setPower(target, { soft })
    .catch((error: unknown) =>
      logger('warn', `${machine.spec.id} did not change its power: ${errorChain(error).join(': ')}`),
    )
    .finally(() => commands.set(machine, commands.get(machine)! - 1))
  const waited = new AbortController()
  const over = clock.sleep(timeout, { weak: true, signal: waited.signal }).catch(() => {})
  await Promise.race([done, over])
  waited.abort()
  return true
}

/** The change of a machine's power that came last, as the log of its BMC has it. */
export const latestPowerChange = ({ firmware }: Machine): LogEntry | undefined =>
  firmware.log.entries.findLast(({ kind }) => kind === 'power on' || kind === 'power off')

/**
 * The power of a machine as a BMC shows it that notices a change late.
 *
 * @param delay milliseconds for which the older power is shown
 */
export function delayedPower(machine: Machine, now: number, delay: number): MachinePower {
  const power = machine.power()
  const changed = delay === 0 ? undefined : latestPowerChange(machine)
  if (!changed || now - changed.at >= delay) return power
  return power === 'on' ? 'off' : 'on'
}
