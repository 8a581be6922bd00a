import { isIP } from 'node:net'
import type { ErrorObject } from 'ajv'
import { BMC_DIALECTS, isDialectName, readOwnDialect, type DialectChoice } from '../../bmc/dialects/index.js'
import { defined, didYouMean, parseSize, pointerParts, UserError } from '../../base/runtime/index.js'
import { SchemaCompiler } from '../../base/schemas/index.js'
import { identityIn, type HardwareFleet } from './hardware-fleet.js'
import { HARDWARE_SCHEMA } from './hardware-schema.js'
import { bmcOfProduct, type MachineHardware } from './machine-hardware.js'

/** One machine as a document describes it: sizes may have units, a BMC is a name or an object. */
type WrittenMachine = Omit<MachineHardware, 'disks' | 'bmc'> & {
  bmc?: string | object
  disks?: (Omit<NonNullable<MachineHardware['disks']>[number], 'size'> & { size?: string | number })[]
}

type WrittenHardware = WrittenMachine & { machines?: [WrittenEntry, ...WrittenEntry[]] }
type WrittenEntry = WrittenMachine & { count?: number; host?: string }

/**
 * Reads the hardware of simulated machines from a JSON value, as docs/hardware.md describes it.
 *
 * @param name of the document, for errors: `the hardware file rack.yaml`
 * @param lineOf ends the sentence of an error with the line of a key: `, in line 7: cpu: 3`
 * @throws UserError `hardware-file` (usage) naming the document, the key and what is wrong with it
 */
export function readFleet(
  document: unknown,
  name: string,
  lineOf: (path: readonly string[]) => string = () => '',
): HardwareFleet {
  if (!hardwareCheck.accepts(document)) throw wrongHardware(hardwareCheck.errors(), name, lineOf)
  const { machines, ...machine } = document
  for (const [index, written] of (machines ?? [machine]).entries()) {
    const problem = neighbourProblem(written, machines ? ['machines', `${index}`] : [])
    if (problem) throw unusableHardware(name, `${problem.path.join('.')} ${problem.message}${lineOf(problem.path)}`)
  }
  if (!machines) return [{ hardware: hardwareOf(machine, name, () => lineOf(['bmc'])) }]
  const [outside] = Object.keys(machine)
  if (outside !== undefined)
    throw unusableHardware(
      name,
      `${outside} stands beside machines: move it into the entries of machines${lineOf([outside])}`,
    )
  const entries = machines.map(({ count, host, ...entry }, index) => {
    const hardware = hardwareOf(entry, name, () => lineOf(['machines', `${index}`, 'bmc']))
    const identity = identityIn(hardware)
    if ((count ?? 1) > 1 && identity !== undefined)
      throw unusableHardware(
        name,
        `machines.${index} gives ${count} machines the same ${identity}${lineOf(['machines', `${index}`])}`,
      )
    return { hardware, ...defined({ count, host }) }
  })
  return entries as [HardwareFleet[0], ...HardwareFleet[0][]]
}

const hardwareCheck = new SchemaCompiler({ stopsAtFirst: true }).check<WrittenHardware>(HARDWARE_SCHEMA)

function hardwareOf({ disks, bmc, ...rest }: WrittenMachine, name: string, line: () => string): MachineHardware {
  return {
    ...rest,
    ...defined({
      bmc: bmc === undefined ? bmcOfProduct(rest) : writtenBmc(bmc, name, line),
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
function neighbourProblem(
  { nics = [] }: WrittenMachine,
  machine: readonly string[],
): { path: readonly string[]; message: string } | undefined {
  for (const [index, { lldp }] of nics.entries()) {
    const path = [...machine, 'nics', `${index}`, 'lldp']
    const wrong = lldp?.managementAddresses?.find((address) => isIP(address) === 0)
    if (wrong !== undefined) return { path, message: `has a management address ${wrong}, which is no IP address` }
    const long = lldp?.vlans?.find(({ name = '' }) => Buffer.byteLength(name) > MAX_VLAN_NAME)
    if (long) return { path, message: `has a VLAN whose name ${long.name} is longer than ${MAX_VLAN_NAME} bytes` }
  }
  return undefined
}

/** Bytes of a VLAN's name (IEEE 802.1Q, D.2.3). */
const MAX_VLAN_NAME = 32

/** @throws UserError for a name that no BMC has, and for a record with a mistake */
function writtenBmc(bmc: string | object, name: string, line: () => string): DialectChoice {
  if (typeof bmc === 'object') return readOwnDialect(bmc, `bmc of ${name}`)
  if (isDialectName(bmc)) return bmc
  const names = Object.keys(BMC_DIALECTS)
  throw unusableHardware(name, `there is no BMC ${JSON.stringify(bmc)}${didYouMean(bmc, names)}${line()}`)
}

function wrongHardware(
  [error]: readonly ErrorObject[],
  name: string,
  lineOf: (path: readonly string[]) => string,
): UserError {
  const { instancePath, message, params } = error!
  const { additionalProperty: unknown, allowedValues } = params as {
    additionalProperty?: string
    allowedValues?: unknown[]
  }
  const path = pointerParts(instancePath)
  const where = path.length === 0 ? 'it' : path.join('.')
  if (unknown !== undefined)
    return unusableHardware(name, `${where} has an unknown key ${JSON.stringify(unknown)}${lineOf([...path, unknown])}`)
  const allowed = allowedValues ? `: ${allowedValues.join(', ')}` : ''
  return unusableHardware(name, `${where} ${message}${allowed}${lineOf(path)}`)
}

export const unusableHardware = (name: string, what: string): UserError =>
  new UserError('hardware-file', `${name} cannot be used: ${what}`, {
    kind: 'usage',
    remedy: 'docs/hardware.md lists the keys and their values',
  })
