import { checkNesting, readNested, UserError, readNamedText } from '../../../base/runtime/index.js'
import { readFleet, unusableHardware, type HardwareFleet, type MachineHardware } from '../../../machine/index.js'

/**
 * Reads the hardware of simulated machines: YAML or JSON, as docs/hardware.md describes it.
 *
 * @throws UserError (usage) naming the file, the key and what is wrong with it
 */
export async function readHardware(file: string): Promise<HardwareFleet> {
  return readFleet(await parseFile(file), describeHardwareFile(file))
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
      `it describes ${others.length + 1} kinds of machines, and this command makes one machine`,
    )
  return first.hardware
}

async function parseFile(file: string): Promise<unknown> {
  let text: string
  try {
    text = await readNamedText(file)
  } catch (cause) {
    throw new UserError('hardware-file', `the hardware file ${file} cannot be read`, {
      kind: 'usage',
      cause,
      remedy: 'name a file with the hardware, as in docs/hardware.md',
    })
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
