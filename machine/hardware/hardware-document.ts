import { isIP } from 'node:net'
import type { ErrorObject } from 'ajv'
import { defined, parseSize, pointerParts, UserError } from '../../base/runtime/index.js'
import { SchemaCompiler } from '../../base/schemas/index.js'
import { identityIn, type HardwareFleet } from './hardware-fleet.js'
import { HARDWARE_SCHEMA } from './hardware-schema.js'
import type { MachineHardware } from './machine-hardware.js'

/** One machine as a document describes it: sizes may have units. */
type WrittenMachine = Omit<MachineHardware, 'disks'> & {
  disks?: (Omit<NonNullable<MachineHardware['disks']>[number], 'size'> & { size?: string | number })[]
}

type WrittenHardware = WrittenMachine & { machines?: [WrittenEntry, ...WrittenEntry[]] }
type WrittenEntry = WrittenMachine & { count?: number; host?: string }

/**
 * Reads the hardware of simulated machines from a JSON value, as docs/hardware.md describes it.
 *
 * @param name of the document, for errors: `the hardware file rack.yaml`
 * @throws UserError `hardware-file` (usage) naming the document, the key and what is wrong with it
 */
export function readFleet(document: unknown, name: string): HardwareFleet {
  if (!hardwareCheck.accepts(document)) throw unusableHardware(name, mostSpecific(hardwareCheck.errors()))
  const { machines, ...machine } = document
  for (const written of machines ?? [machine]) {
    const problem = neighbourProblem(written)
    if (problem !== undefined) throw unusableHardware(name, problem)
  }
  if (!machines) return [{ hardware: hardwareOf(machine) }]
  if (Object.keys(machine).length > 0)
    throw unusableHardware(
      name,
      `${Object.keys(machine)[0]} stands beside machines: move it into the entries of machines`,
    )
  const entries = machines.map(({ count, host, ...entry }, index) => {
    const hardware = hardwareOf(entry)
    const identity = identityIn(hardware)
    if ((count ?? 1) > 1 && identity !== undefined)
      throw unusableHardware(name, `machines.${index} gives ${count} machines the same ${identity}`)
    return { hardware, ...defined({ count, host }) }
  })
  return entries as [HardwareFleet[0], ...HardwareFleet[0][]]
}

const hardwareCheck = new SchemaCompiler({ stopsAtFirst: true }).check<WrittenHardware>(HARDWARE_SCHEMA)

function hardwareOf({ disks, ...rest }: WrittenMachine): MachineHardware {
  return {
    ...rest,
    ...defined({
      disks: disks
        ? disks.map(({ size, ...disk }) => ({
            ...disk,
            ...defined({ size: size === undefined ? undefined : sizeInBytes(size, disk.sectorSize) }),
          }))
        : undefined,
    }),
  }
}

/** A number counts bytes, of which whole sectors are used; sizes with a unit are rounded down to MiB. */
const sizeInBytes = (size: string | number, sectorSize = 512): number =>
  typeof size === 'number' ? size - (size % sectorSize) : parseSize(size)

/** The first rule about neighbours that a machine breaks and the schema cannot express; undefined if none. */
function neighbourProblem({ nics = [] }: WrittenMachine): string | undefined {
  for (const [index, { lldp }] of nics.entries()) {
    const wrong = lldp?.managementAddresses?.find((address) => isIP(address) === 0)
    if (wrong !== undefined) return `nics.${index}.lldp has a management address ${wrong}, which is no IP address`
    const long = lldp?.vlans?.find(({ name = '' }) => Buffer.byteLength(name) > MAX_VLAN_NAME)
    if (long) return `nics.${index}.lldp has a VLAN whose name ${long.name} is longer than ${MAX_VLAN_NAME} bytes`
  }
  return undefined
}

/** Bytes of a VLAN's name (IEEE 802.1Q, D.2.3). */
const MAX_VLAN_NAME = 32

function mostSpecific([error]: readonly ErrorObject[]): string {
  const { instancePath, message, params } = error!
  const { additionalProperty: unknown, allowedValues } = params as {
    additionalProperty?: string
    allowedValues?: unknown[]
  }
  const where = pointerParts(instancePath).join('.')
  if (unknown !== undefined) return `${where === '' ? 'it' : where} has an unknown key ${JSON.stringify(unknown)}`
  const allowed = allowedValues ? `: ${allowedValues.join(', ')}` : ''
  return `${where === '' ? 'it' : where} ${message}${allowed}`
}

export const unusableHardware = (name: string, what: string): UserError =>
  new UserError('hardware-file', `${name} cannot be used: ${what}`, {
    kind: 'usage',
    remedy: 'docs/hardware.md lists the keys and their values',
  })
