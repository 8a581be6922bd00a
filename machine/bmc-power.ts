import { errorChain, type Clock, type Logger } from '../base/runtime/index.js'
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
