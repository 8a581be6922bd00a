import { defined } from '../../base/runtime/index.js'
import {
  defaultMachineSpec,
  hardwareOf,
  identityIn,
  withHardware,
  type HardwareFleet,
  type MachineSpec,
} from '../../machine/index.js'
import { REHEARSAL_IMAGE } from '../images/packaged-images.js'
import type { MachineIdentity } from './identities.js'
import type { StageOptions } from './stage-options.js'

/** A machine by its number, or by an id and further fields. */
export type WantedMachine = Parameters<typeof defaultMachineSpec>[0]

interface SpecOptions {
  hardware?: HardwareFleet
  disks?: 'file' | 'described'
  metalImage?: string
}

/** Creates the specifications of machines by their numbers, with other hardware than the stage's, or identities of their own. */
export function specsOnDemand(options: SpecOptions) {
  const plain = machineSpecs(options)
  return (number: number, hardware: HardwareFleet | undefined, own?: MachineIdentity): MachineSpec =>
    hardware || own ? machineSpecs({ ...options, ...defined({ hardware }) }, own)(number) : plain(number)
}

/**
 * Creates the specifications of a stage's machines.
 *
 * @param own serial numbers and addresses of machines with a number; default: those that follow from it
 */
export function machineSpecs(options: SpecOptions, own?: MachineIdentity): (wanted: WantedMachine) => MachineSpec {
  const { hardware, disks = 'file', metalImage } = options
  return (wanted) => ({
    ...withDisks(makeMachineSpec(wanted, hardware, own), disks),
    metalImage: (typeof wanted === 'object' ? wanted.metalImage : undefined) ?? metalImage ?? REHEARSAL_IMAGE,
  })
}

/** Specifications of machines that nodes find behind their BMCs, with the hardware that the name of the node stands for. */
export function nodeMachineSpecs(options: SpecOptions & Pick<StageOptions, 'hardwareOfNode'>) {
  const plain = machineSpecs(options)
  return (wanted: WantedMachine, node: string | null): MachineSpec => {
    const hardware = node === null ? undefined : options.hardwareOfNode?.(node)
    if (!hardware) return plain(wanted)
    const spec = withHardware(plain(wanted), hardware)
    return withDisks(spec, options.disks ?? 'file')
  }
}

/**
 * A machine with a number gets the hardware of its place in the fleet. Any number of machines may have an id, so they get
 * the first entry without a serial number, MAC address or WWN, which must be unique.
 */
function makeMachineSpec(
  n: WantedMachine,
  fleet: HardwareFleet | undefined,
  identity: MachineIdentity | undefined,
): MachineSpec {
  const plain = defaultMachineSpec(n)
  const own = identity ? identity.applied(plain) : plain
  if (!fleet) return own
  if (typeof n === 'number') return withHardware(own, hardwareOf(fleet, n))
  const shared = fleet.find(({ hardware }) => identityIn(hardware) === undefined)
  return { ...withHardware(defaultMachineSpec({ id: n.id }), shared?.hardware ?? {}), ...n }
}

function withDisks(spec: MachineSpec, kind: 'file' | 'described'): MachineSpec {
  if (kind === 'file') return spec
  return { ...spec, disks: spec.disks.map((disk) => ({ ...disk, backing: { kind: 'described' } })) }
}
