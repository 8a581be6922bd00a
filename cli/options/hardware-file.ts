import { Ajv, type ErrorObject } from 'ajv'
import { readFile } from 'node:fs/promises'
import { checkNesting, readNested } from '../../runtime/index.js'
import { HARDWARE_SCHEMA, identityIn, type HardwareFleet, type MachineHardware } from '../../machine/index.js'
import { UserError } from '../../runtime/index.js'
import { parseSize } from './options.js'

/** One machine as the file describes it: sizes may have units. */
type WrittenMachine = Omit<MachineHardware, 'disks'> & {
  disks?: (Omit<NonNullable<MachineHardware['disks']>[number], 'size'> & { size?: string | number })[]
}

type WrittenFile = WrittenMachine & { machines?: [WrittenEntry, ...WrittenEntry[]] }
type WrittenEntry = WrittenMachine & { count?: number }

/**
 * Reads the hardware of simulated machines: YAML or JSON, as docs/hardware.md describes it.
 *
 * @throws UserError (usage) naming the file, the key and what is wrong with it
 */
export async function readHardware(file: string): Promise<HardwareFleet> {
  const written = await parseFile(file)
  const ajv = new Ajv({ allowUnionTypes: true, strictTypes: false, meta: false, validateSchema: false })
  const accepts = ajv.compile<WrittenFile>(HARDWARE_SCHEMA)
  if (!accepts(written)) throw unusable(file, mostSpecific(accepts.errors!))
  const { machines, ...machine } = written
  if (!machines) return [{ hardware: hardwareOf(machine) }]
  if (Object.keys(machine).length > 0)
    throw unusable(file, `${Object.keys(machine)[0]} stands beside machines: put it into the entries of machines`)
  const entries = machines.map(({ count, ...entry }, index) => {
    const hardware = hardwareOf(entry)
    const identity = identityIn(hardware)
    if ((count ?? 1) > 1 && identity !== undefined)
      throw unusable(file, `machines.${index} gives ${count} machines the same ${identity}`)
    return { hardware, ...(count === undefined ? {} : { count }) }
  })
  return entries as [HardwareFleet[0], ...HardwareFleet[0][]]
}

/**
 * Reads the hardware of one machine.
 *
 * @throws UserError (usage) as {@link readHardware}, and for a file that describes several kinds of machines
 */
export async function readOneMachine(file: string): Promise<MachineHardware> {
  const [first, ...others] = await readHardware(file)
  if (others.length > 0)
    throw unusable(file, `it describes ${others.length + 1} kinds of machines, and this command makes one machine`)
  return first.hardware
}

async function parseFile(file: string): Promise<unknown> {
  let text: string
  try {
    text = await readFile(file, 'utf8')
  } catch (cause) {
    throw new UserError('hardware-file', `the hardware file ${file} cannot be read`, { kind: 'usage', cause })
  }
  try {
    const { parse } = await import('yaml')
    const value = readNested(
      text,
      `the hardware file ${file}`,
      (each) => parse(each, { maxAliasCount: 100 }) as unknown,
    )
    checkNesting(value, `the hardware file ${file}`)
    return value
  } catch (cause) {
    if (cause instanceof UserError) throw cause
    throw new UserError('hardware-file', `the hardware file ${file} is not YAML`, { kind: 'usage', cause })
  }
}

function hardwareOf({ disks, ...rest }: WrittenMachine): MachineHardware {
  return {
    ...rest,
    ...(disks && {
      disks: disks.map(({ size, ...disk }) => ({
        ...disk,
        ...(size === undefined ? {} : { size: parseSize(`${size}`) }),
      })),
    }),
  }
}

function mostSpecific([error]: readonly ErrorObject[]): string {
  const { instancePath, message, params } = error!
  const { additionalProperty: unknown, allowedValues } = params as {
    additionalProperty?: string
    allowedValues?: unknown[]
  }
  const where = instancePath.replace(/^\//, '').replaceAll('/', '.')
  if (unknown !== undefined) return `${where === '' ? 'it' : where} has an unknown key ${JSON.stringify(unknown)}`
  const allowed = allowedValues ? `: ${allowedValues.join(', ')}` : ''
  return `${where === '' ? 'it' : where} ${message}${allowed}`
}

const unusable = (file: string, what: string): UserError =>
  new UserError('hardware-file', `the hardware file ${file} cannot be used: ${what}`, {
    kind: 'usage',
    remedy: 'docs/hardware.md lists the keys and their values',
  })
