import { defaultMachineSpec, type DiskSpec, type Machine, type MachineSpec, type Machines } from '../machine/index.js'
import type { NicSpec } from '../machine/index.js'
import { UserError } from '../runtime/index.js'
import { REHEARSAL_IMAGE } from './paths.js'
import type { StateFolder } from './state-folder.js'

/** What a new machine is made of, as far as it shall differ from {@link defaultMachineSpec}. */
export interface MachineHardware extends Partial<
  Pick<MachineSpec, 'firmware' | 'architecture' | 'cpus' | 'memoryMib' | 'manufacturer' | 'product' | 'serial'>
> {
  /** All of them, in order; the first boots unless another says that it does. */
  nics?: readonly Partial<NicSpec>[]
  /** All of them, in order. */
  disks?: readonly Partial<DiskSpec>[]
}

/** A machine that nobody keeps. */
export interface NewMachine {
  /** Of the NIC that it boots from. */
  mac?: string
  liveImage?: string
  hardware?: MachineHardware
}

/** @throws UserError when the folder has no such machine */
export function machineOfFolder(machines: Machines, { folder, id }: { folder: StateFolder; id: string }): Machine {
  const machine = machines.get(id)
  if (machine) return machine
  const known = machines.list().map(({ spec }) => spec.id)
  throw new UserError('no-machine', `the state folder ${folder.path} has no machine ${id}`, {
    remedy: known.length === 0 ? 'it has none: make some with ironstage up --nodes' : `it has ${known.join(', ')}`,
    kind: 'usage',
  })
}

/**
 * Makes one, without a BMC: there is nobody to reach it.
 *
 * @param id the same one always gives the same machine; null for the first that is counted
 */
export function newMachine(
  machines: Machines,
  id: string | null,
  { mac, liveImage = REHEARSAL_IMAGE, hardware = {} }: NewMachine = {},
): Promise<Machine> {
  const spec = madeOf(defaultMachineSpec(id === null ? 1 : { id }), hardware)
  const nics = spec.nics.map((nic) => (nic.pxe && mac !== undefined ? { ...nic, mac } : nic))
  return machines.create({ ...spec, bmc: null, nics, liveImage })
}

function madeOf(spec: MachineSpec, { nics, disks, ...rest }: MachineHardware): MachineSpec {
  const boots = Math.max(0, nics?.findIndex(({ pxe }) => pxe) ?? 0)
  return {
    ...{ ...spec, ...rest },
    ...(nics && {
      nics: nics.map((nic, index) => ({ ...nicOf(spec, index), carrier: true, ...nic, pxe: index === boots })),
    }),
    ...(disks && { disks: disks.map((disk, index) => ({ ...diskOf(spec, index, disk), ...disk })) }),
  }
}

/** Any number of them, each with an address of its own. */
function nicOf({ nics: [first, second] }: MachineSpec, index: number): NicSpec {
  const mac =
    index === 1 ? second!.mac : first!.mac.replace(/^52:54:00/, `52:54:${index.toString(16).padStart(2, '0')}`)
  return { ...(index === 0 ? first! : second!), name: `eno${index + 1}`, mac }
}

/** Any number of them, each with an identity of its own; those that follow are like the second. */
function diskOf({ disks: [first, second] }: MachineSpec, index: number, { transport }: Partial<DiskSpec>): DiskSpec {
  const wwn = `0x${(BigInt(first!.wwn) + BigInt(index)).toString(16)}`
  const serial = first!.serial.replace(/.$/, String.fromCharCode('A'.charCodeAt(0) + index))
  const name = transport === 'nvme' ? `nvme${index}n1` : `sd${String.fromCharCode('a'.charCodeAt(0) + index)}`
  return { ...(index === 0 ? first! : { ...second!, serial }), name, wwn }
}
