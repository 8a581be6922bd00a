import { ControlRefused, type LabClient, type MachineReport } from '../../../control/index.js'
import { UserError } from '../../../base/runtime/index.js'
import { EXPORT_FORMATS, importHardware, type ExportFormat } from '../../hardware-files/index.js'
import type { Environment } from '../environment.js'
import { readInputs } from '../options/input-files.js'
import type { HARDWARE_EXPORT_OPTIONS, HARDWARE_IMPORT_OPTIONS } from '../options/option-lists.js'
import type { CommandOptionValues } from '../options/resolve-options.js'
import { usageError } from '../usage-error.js'
import { withLab } from '../with-lab.js'

type ImportOptions = CommandOptionValues<(typeof HARDWARE_IMPORT_OPTIONS)[number]>
type HardwareExportOptions = CommandOptionValues<(typeof HARDWARE_EXPORT_OPTIONS)[number]>

/** Bytes of a description: a thousand HardwareData have less. */
const MAX_DESCRIPTION_BYTES = 32 * 2 ** 20

/** `ironstage hardware import FILE`: the hardware file, and on standard error what was lost or guessed. */
export async function hardwareImport(
  { 'keep-identities': keepsIdentities = false }: ImportOptions,
  environment: Environment,
  file: string,
): Promise<number> {
  const limits = { most: MAX_DESCRIPTION_BYTES }
  const [input] = await readInputs([file], environment, 'description of a machine', limits)
  const { name, bytes } = input!
  const { text, notes } = importHardware(bytes, name, { keepsIdentities })
  environment.stderr.lines(notes.map((note) => `${name}: ${note}`))
  environment.stdout.contents(text)
  return 0
}

/** `ironstage hardware export MACHINE`: the hardware of a machine of a running lab. */
export async function hardwareExport(
  { url, 'hardware-format': format = 'hardware' }: HardwareExportOptions,
  environment: Environment,
  machine: string,
): Promise<number> {
  if (machine === '') throw usageError('the machine is not named', 'give its id, or the name or UUID of its node')
  const report = await withLab(url, environment, (lab) => reportOf(lab, machine))
  environment.stdout.contents(await EXPORT_FORMATS[format as ExportFormat](report))
  return 0
}

/** The machine of this id, or that of the node of this name or UUID. */
async function reportOf(lab: LabClient, name: string): Promise<MachineReport> {
  try {
    return await lab.machine(name)
  } catch (error) {
    if (!(error instanceof ControlRefused) || error.code !== 'no-such-machine') throw error
  }
  try {
    return await lab.machineOfNode(name)
  } catch (error) {
    if (!(error instanceof ControlRefused) || error.code !== 'no-such-node') throw error
    const { machines } = await lab.machines()
    throw new UserError('no-such-machine', `the lab has no machine and no node ${name}`, {
      remedy: machinesToName(machines),
    })
  }
}

/** Machines that a remedy names. */
const MAX_NAMED_MACHINES = 5

function machinesToName(machines: readonly MachineReport[]): string {
  if (machines.length === 0) return 'the lab has no machines: add one first'
  const named = machines.slice(0, MAX_NAMED_MACHINES).map(({ id }) => id)
  const more = machines.length - named.length
  return `name one of its machines: ${named.join(', ')}${more > 0 ? ` and ${more} more` : ''}`
}
