import {
  defaultMachineSpec,
  hardwareOf,
  identityIn,
  withHardware,
  type HardwareFleet,
  type MachineSpec,
} from '../../machine/index.js'
import { REHEARSAL_IMAGE } from '../paths.js'

/** A machine by its number, or by an id and what else of it is wanted. */
export type WantedMachine = Parameters<typeof defaultMachineSpec>[0]

/** Makes the specifications of a stage's machines. */
export function machineSpecs(options: {
  hardware?: HardwareFleet
  disks?: 'file' | 'described'
  liveImage?: string
}): (wanted: WantedMachine) => MachineSpec {
  const { hardware, disks = 'file', liveImage } = options
  return (wanted) => ({
    ...withDisks(made(wanted, hardware), disks),
    liveImage: (typeof wanted === 'object' ? wanted.liveImage : undefined) ?? liveImage ?? REHEARSAL_IMAGE,
  })
}

/**
 * A machine by its number gets the hardware of its place in the fleet. Any number of machines may come by an id, so they
 * get that of the first entry that names no serial number, MAC address or WWN.
 */
function made(n: WantedMachine, fleet: HardwareFleet | undefined): MachineSpec {
  if (!fleet) return defaultMachineSpec(n)
  if (typeof n === 'number') return withHardware(defaultMachineSpec(n), hardwareOf(fleet, n))
  const shared = fleet.find(({ hardware }) => identityIn(hardware) === undefined)
  return { ...withHardware(defaultMachineSpec({ id: n.id }), shared?.hardware ?? {}), ...n }
}

function withDisks(spec: MachineSpec, kind: 'file' | 'described'): MachineSpec {
  if (kind === 'file') return spec
  return { ...spec, disks: spec.disks.map((disk) => ({ ...disk, backing: { kind: 'described' } })) }
}
