import {
  checkNesting,
  readNamedText,
  readNested,
  UserError,
  wrongLineClause,
  yamlPlace,
  yamlProblem,
} from '../../../base/runtime/index.js'
import { readFleet, unusableHardware, type HardwareFleet, type MachineHardware } from '../../../machine/index.js'

/**
 * Reads the hardware of simulated machines: YAML or JSON, as docs/hardware.md describes it.
 *
 * @throws UserError (usage) naming the file, the key, what is wrong with it, and the line
 */
export async function readHardware(file: string): Promise<HardwareFleet> {
  const { value, lineOf } = await parseFile(file)
  return readFleet(value, describeHardwareFile(file), lineOf)
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

/** A parsed file, and the line of each of its keys as the end of a sentence. */
interface HardwareText {
  readonly value: unknown
  readonly lineOf: (path: readonly string[]) => string
}

async function parseFile(file: string): Promise<HardwareText> {
  const name = describeHardwareFile(file)
  const text = await readText(file)
  const { LineCounter, parseDocument } = await import('yaml')
  const lines = new LineCounter()
  const document = readNested(text, name, (each) =>
    parseDocument(each, { lineCounter: lines, prettyErrors: false, logLevel: 'error' }),
  )
  const [broken] = document.errors
  if (broken) {
    const problem = yamlProblem(text, broken)
    throw new UserError('hardware-file', `${name}: ${problem.message}${wrongLineClause(text, problem)}`, {
      kind: 'usage',
    })
  }
  const value = readNested(text, name, () => document.toJS({ maxAliasCount: 100 }) as unknown)
  checkNesting(value, name)
  return {
    value,
    lineOf: (path) => {
      const place = yamlPlace(document, path, lines)
      return place ? wrongLineClause(text, place) : ''
    },
  }
}

async function readText(file: string): Promise<string> {
  try {
    return await readNamedText(file)
  } catch (cause) {
    throw new UserError('hardware-file', `${describeHardwareFile(file)} cannot be read`, {
      kind: 'usage',
      cause,
      remedy: 'name a file with the hardware, as in docs/hardware.md',
    })
  }
}
