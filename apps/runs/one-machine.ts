import {
  defaultMachineSpec,
  withHardware,
  type Machine,
  type MachineHardware,
  type Machines,
} from '../../machine/index.js'
import { UserError } from '../../base/runtime/index.js'
import { REHEARSAL_IMAGE } from '../../lab/index.js'
import type { StateFolder } from '../../lab/index.js'

/** Options of a machine that exists only as long as its process. */
export interface NewMachine {
  /** MAC address of the NIC that the machine boots from. */
  mac?: string
  metalImage?: string
  hardware?: MachineHardware
}

/** @throws UserError when the folder has no such machine */
export function machineOfFolder(machines: Machines, { folder, id }: { folder: StateFolder; id: string }): Machine {
  const machine = machines.get(id)
  if (machine) return machine
  const known = machines.list().map(({ spec }) => spec.id)
  throw new UserError('no-machine', `the state folder ${folder.path} has no machine ${id}`, {
    remedy:
      known.length === 0 ? 'it has no machines: create some with ironstage up --nodes' : `it has ${known.join(', ')}`,
    kind: 'usage',
  })
}

/**
 * Creates a machine without a BMC, since no driver needs one.
 *
 * @param id the same id always gives the same machine; null gives the first numbered one
 */
export function newMachine(
  machines: Machines,
  id: string | null,
  { mac, metalImage = REHEARSAL_IMAGE, hardware = {} }: NewMachine,
): Promise<Machine> {
  const spec = withHardware(defaultMachineSpec(id === null ? 1 : { id }), hardware)
  const nics = spec.nics.map((nic) => (nic.pxe && mac !== undefined ? { ...nic, mac } : nic))
  return machines.create({ ...spec, bmc: null, nics, metalImage })
}
