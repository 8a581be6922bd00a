import { dirname, resolve } from 'node:path'
import { readOwnDialect, type OwnDialect } from '../../../bmc/dialects/index.js'
import { openDump } from '../../../bmc/dumps/index.js'
import { isObject, readNamedText, readYamlText, UserError, type YamlText } from '../../../base/runtime/index.js'
import { readFleet, unusableHardware, type HardwareFleet, type MachineHardware } from '../../../machine/index.js'

/**
 * Reads the hardware of simulated machines: YAML or JSON, as docs/hardware.md describes it.
 *
 * @throws UserError (usage) naming the file, the key, what is wrong with it, and the line
 */
export async function readHardware(file: string): Promise<HardwareFleet> {
  const name = describeHardwareFile(file)
  const { value, lineOf } = await parseFile(file, name)
  return readFleet(await withBmcFiles(value, file), name, lineOf)
}

/** The document of a hardware file with the contents of the files that its keys `bmc` name. */
async function withBmcFiles(document: unknown, file: string): Promise<unknown> {
  if (!isObject(document)) return document
  const machine = await withBmcFile(document, file)
  const { machines } = machine
  if (!Array.isArray(machines)) return machine
  const entries: unknown[] = machines
  const read = await Promise.all(entries.map(async (entry) => (isObject(entry) ? withBmcFile(entry, file) : entry)))
  return { ...machine, machines: read }
}

async function withBmcFile(entry: Record<string, unknown>, file: string): Promise<Record<string, unknown>> {
  const { bmc } = entry
  if (isObject(bmc)) return { ...entry, bmc: await withDump(bmc, file) }
  if (typeof bmc !== 'string' || !isBmcFile(bmc)) return entry
  const name = `the BMC file ${bmc} of ${describeHardwareFile(file)}`
  return { ...entry, bmc: await readBmcFile(resolve(dirname(file), bmc), name) }
}

/** True if a text that names a BMC is a file with one. */
export const isBmcFile = (bmc: string): boolean => /[/\\]|\.(?:ya?ml|json)$/i.test(bmc)

/**
 * Reads a BMC of a user's own: YAML or JSON, as docs/bmc-dialects.md describes it.
 *
 * @param name of the file, for errors
 * @throws UserError (usage) naming the file, the key and what is wrong with it
 */
export async function readBmcFile(file: string, name = `the BMC file ${file}`): Promise<OwnDialect> {
  const { value } = await parseFile(file, name)
  return readOwnDialect(isObject(value) ? await withDump(value, file) : value, name)
}

/**
 * A record whose dump is named from the folder of its file. The dump is opened: a machine whose BMC cannot answer is none.
 *
 * @throws UserError `bmc-dump` (usage)
 */
async function withDump(record: Record<string, unknown>, file: string): Promise<Record<string, unknown>> {
  const { dump } = record
  if (!isObject(dump) || typeof dump['folder'] !== 'string') return record
  const { system } = dump
  const folder = resolve(dirname(file), dump['folder'])
  await openDump({ folder, system: typeof system === 'string' ? system : undefined })
  return { ...record, dump: { ...dump, folder } }
}

const describeHardwareFile = (file: string): string => `the hardware file ${file}`

/**
 * Reads the hardware of one machine.
 *
 * @throws UserError (usage) as {@link readHardware}, and for a file that describes several kinds of machines
 */
export async function readOneMachine(file: string): Promise<MachineHardware> {
  const [first, ...others] = await readHardware(file)
  if (others.length > 0)
    throw unusableHardware(
      describeHardwareFile(file),
      `it describes ${others.length + 1} kinds of machines, but this command creates only one`,
    )
  return first.hardware
}

async function parseFile(file: string, name: string): Promise<YamlText> {
  const text = await readText(file, name)
  return readYamlText(
    await import('yaml'),
    text,
    name,
    (message) => new UserError('hardware-file', message, { kind: 'usage' }),
  )
}

async function readText(file: string, name: string): Promise<string> {
  try {
    return await readNamedText(file)
  } catch (cause) {
    throw new UserError('hardware-file', `${name} cannot be read`, {
      kind: 'usage',
      cause,
      remedy: 'name a file with the hardware, as in docs/hardware.md',
    })
  }
}
