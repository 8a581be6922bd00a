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
  if (!machines) return [{ hardware: hardwareOf(machine) }]
  const [outside] = Object.keys(machine)
  if (outside !== undefined)
    throw unusableHardware(
      name,
      `${outside} stands beside machines: move it into the entries of machines${lineOf([outside])}`,
    )
  const entries = machines.map(({ count, host, ...entry }, index) => {
    const hardware = hardwareOf(entry)
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

function hardwareOf({ disks, ...rest }: WrittenMachine): MachineHardware {
  return {
    ...rest,
    ...defined({
      disks: disks
        ? disks.map(({ size, ...disk }) => ({
            ...disk,
            ...(size === undefined ? {} : { size: parseSize(`${size}`) }),
          }))
        : undefined,
    }),
  }
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
