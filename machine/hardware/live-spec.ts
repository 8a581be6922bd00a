import type { MachineSpec } from '../machine-spec.js'

/** The hardware of a machine as it is now: one object, also when cables are pulled and disks are swapped. */
export function liveSpec(now: () => MachineSpec): MachineSpec {
  const live = {}
  for (const name of Object.keys(now()) as (keyof MachineSpec)[])
    Object.defineProperty(live, name, { enumerable: true, get: () => now()[name] })
  return live as MachineSpec
}
