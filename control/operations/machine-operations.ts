import type { BmcAccount } from '../documents/machine-documents.js'
import type { MachineReport } from '../documents/machine-documents.js'
import { typedSchema, type ControlOperation } from './control-operation.js'
import { CABLE, NEW_DISK, MACHINES_TO_ADD, REIMAGING, POWER } from './control-schemas.js'
import { arraySchema, openObjectSchema } from './schema-forms.js'

export const MACHINE_SCHEMA = typedSchema<MachineReport>({
  type: 'object',
  required: ['id', 'power', 'boot', 'console', 'disks', 'nics', 'hardware'],
})

const TEXT = typedSchema<string>({ type: 'string' })

export const ACCOUNT = typedSchema<BmcAccount>({
  type: 'object',
  additionalProperties: false,
  required: ['username', 'password'],
  properties: { username: TEXT, password: TEXT },
})

/** Calls about machines, by their ids. */
export const MACHINE_OPERATIONS = [
  {
    id: 'machines',
    method: 'GET',
    path: '/machines',
    status: 200,
    summary: 'All machines',
    answer: openObjectSchema({ machines: arraySchema(MACHINE_SCHEMA) }),
  },
  {
    id: 'addMachines',
    method: 'POST',
    path: '/machines',
    status: 201,
    summary: 'Adds machines without a node',
    body: MACHINES_TO_ADD,
    answer: openObjectSchema({ machines: arraySchema(MACHINE_SCHEMA) }),
  },
  {
    id: 'reimageMachine',
    method: 'POST',
    path: '/machines/{machine}/reimage',
    status: 200,
    summary: 'Resets a machine to its state at delivery, or replaces its hardware',
    body: REIMAGING,
    answer: MACHINE_SCHEMA,
  },
  {
    id: 'bmcAccountOfMachine',
    method: 'PUT',
    path: '/machines/{machine}/bmc-account',
    status: 204,
    summary: "Changes the account of the machine's BMC",
    body: ACCOUNT,
  },
  {
    id: 'machine',
    method: 'GET',
    path: '/machines/{machine}',
    status: 200,
    summary: 'A machine',
    answer: MACHINE_SCHEMA,
  },
  {
    id: 'removeMachine',
    method: 'DELETE',
    path: '/machines/{machine}',
    status: 204,
    summary: 'Removes a machine from the lab; its node stays',
  },
  {
    id: 'powerOfMachine',
    method: 'PUT',
    path: '/machines/{machine}/power',
    status: 200,
    summary: "Presses a machine's power button",
    body: POWER,
    answer: MACHINE_SCHEMA,
  },
  {
    id: 'ejectFromMachine',
    method: 'POST',
    path: '/machines/{machine}/eject',
    status: 200,
    summary: 'Ejects all media',
    answer: MACHINE_SCHEMA,
  },
  {
    id: 'cable',
    method: 'PUT',
    path: '/machines/{machine}/nics/{nic}',
    status: 200,
    summary: 'Plugs the cable of a NIC in, or pulls it',
    body: CABLE,
    answer: MACHINE_SCHEMA,
  },
  {
    id: 'swapDisk',
    method: 'PUT',
    path: '/machines/{machine}/disks/{disk}',
    status: 200,
    summary: 'Replaces a disk while the machine is off: with a new disk, or with one that was removed before',
    body: NEW_DISK,
    answer: MACHINE_SCHEMA,
  },
] as const satisfies readonly ControlOperation[]
