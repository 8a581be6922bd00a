import {
  defaultMachineSpec,
  hardwareOf,
  identityIn,
  withHardware,
  type HardwareFleet,
  type MachineSpec,
} from '../../machine/index.js'
import { REHEARSAL_IMAGE } from '../paths.js'

/** A machine by its number, or by an id and further fields. */
export type WantedMachine = Parameters<typeof defaultMachineSpec>[0]

/** Creates the specifications of a stage's machines. */
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
 * A machine with a number gets the hardware of its place in the fleet. Any number of machines may have an id, so they get
 * the first entry without a serial number, MAC address or WWN, which must be unique.
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
