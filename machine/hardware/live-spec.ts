import type { MachineSpec } from '../machine-spec.js'

const NOW = Symbol('hardware as it is now')

interface Live {
  readonly [NOW]: () => MachineSpec
}

/** Getters that all machines share: with closures of their own, thousands of machines take megabytes more. */
const getters = new Map<string, (this: Live) => unknown>()

function getterOf(name: keyof MachineSpec): (this: Live) => unknown {
  let getter = getters.get(name)
  if (!getter) {
    getter = function (this: Live) {
      return this[NOW]()[name]
    }
    getters.set(name, getter)
  }
  return getter
}

/** The hardware of a machine as it is now: one object, also when cables are pulled and disks are swapped. */
export function liveSpec(now: () => MachineSpec): MachineSpec {
  const live = Object.defineProperty({}, NOW, { value: now })
  for (const name of Object.keys(now()) as (keyof MachineSpec)[])
    Object.defineProperty(live, name, { enumerable: true, get: getterOf(name) })
  return live as MachineSpec
}
