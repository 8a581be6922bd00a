import type { Machine } from '../../../machine/index.js'

/** The system that answers on a machine; undefined while there is none, as in an emergency shell. */
export function runningSystemOf(machine: Machine): 'live' | 'installed' | undefined {
  const outcome = machine.boot()?.outcome
  if (outcome === 'ramdisk') return 'live'
  // Ignition ends before sshd starts.
  return outcome === 'disk' && machine.firstBoot() && machine.firstBoot()!.failure === null ? 'installed' : undefined
}
