import { UserError } from '../../base/runtime/index.js'
import type { MachineHardware } from './machine-hardware.js'

/** Consecutive machines with the same hardware. */
interface FleetEntry {
  /** Default 1. */
  count?: number
  /** BareMetalHost whose machine it is, as `NAME` or `NAMESPACE/NAME`; by default any machine is. */
  host?: string
  hardware: MachineHardware
}

/** Hardware of many machines: the entries in order, each for `count` machines, repeated from the first. */
export type HardwareFleet = readonly [FleetEntry, ...FleetEntry[]]

/**
 * The hardware of one machine of a fleet.
 *
 * @param n the machine, from 1
 * @throws UserError when the machine would have a MAC address, serial number or WWN that an earlier machine has
 */
export function hardwareOf(fleet: HardwareFleet, n: number): MachineHardware {
  const shared = fleet.filter(({ host }) => host === undefined)
  if (shared.length === 0) return {}
  const round = shared.reduce((sum, { count = 1 }) => sum + count, 0)
  let position = (n - 1) % round
  const { hardware } = shared.find(({ count = 1 }) => {
    if (position < count) return true
    position -= count
    return false
  })!
  if (n > round || position > 0) refuseSharedIdentity(hardware, n)
  return hardware
}

/** The hardware that a fleet has for a BareMetalHost. @param name `NAMESPACE/NAME` */
export const hardwareOfHost = (fleet: HardwareFleet, name: string): MachineHardware | undefined =>
  fleet.find(({ host }) => host !== undefined && (host === name || host === name.split('/').at(-1)))?.hardware

/**
 * The first serial number, MAC address or WWN of hardware, which no two machines may share, as `key value`.
 *
 * @example identityIn({ nics: [{ mac: '52:54:00:00:00:01' }] }) // 'nics.0.mac 52:54:00:00:00:01'
 */
export function identityIn({ serial, nics = [], disks = [] }: MachineHardware): string | undefined {
  if (serial !== undefined) return `serial ${serial}`
  for (const [index, { mac, ipv4 }] of nics.entries()) {
    if (mac !== undefined) return `nics.${index}.mac ${mac}`
    if (typeof ipv4 === 'string') return `nics.${index}.ipv4 ${ipv4}`
  }
  for (const [index, disk] of disks.entries())
    for (const key of ['serial', 'wwn'] as const)
      if (disk[key] !== undefined) return `disks.${index}.${key} ${disk[key]}`
  return undefined
}

function refuseSharedIdentity(hardware: MachineHardware, n: number): void {
  const identity = identityIn(hardware)
  if (identity === undefined) return
  throw new UserError('shared-identity', `machine ${n} would have the same ${identity} as an earlier machine`, {
    kind: 'usage',
    remedy: 'leave the value out, so that each machine gets its own, or list a machine for each value under machines:',
  })
}
