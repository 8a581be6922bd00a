import { errorChain } from '../runtime/index.js'
import type { Target, TargetHardware } from '../steps/index.js'
import type { InspectionData } from '../wire/index.js'
import type { Managers } from './managers.js'

/** The collectors of IPA that this agent has. */
const COLLECTORS: readonly string[] = ['default', 'logs']

export type HardwareReader = (target: Target) => Promise<TargetHardware>

/**
 * The body of `POST /v1/continue_inspection` (facts/ironic-python-agent.md 4). A collector that fails does not keep the
 * data back: its error goes along, and Ironic decides.
 */
export async function inspectionData(options: {
  collectors: readonly string[]
  managers: Managers
  hardware: () => Promise<TargetHardware>
  logs: () => Promise<string>
}): Promise<InspectionData> {
  const { managers, hardware, logs } = options
  // Collectors that this agent lacks are left out, and not listed as having run.
  const collectors = options.collectors.filter((name) => COLLECTORS.includes(name))
  const errors: string[] = []
  const collected: Partial<InspectionData> = {}
  const collect = async (name: string, work: () => Promise<void>): Promise<void> => {
    if (!collectors.includes(name)) return
    try {
      await work()
    } catch (error) {
      errors.push(`collector ${name} failed: ${errorChain(error).join(': ')}`)
    }
  }
  await collect('default', async () => {
    const { inventory, rootDisk, bootInterface } = await hardware()
    collected.inventory = inventory
    if (rootDisk !== null) collected.root_disk = rootDisk
    collected.boot_interface = bootInterface
    collected.configuration = { collectors, managers: managers.list() }
  })
  // Last, so that the log of the other collectors is in it.
  await collect('logs', async () => {
    collected.logs = await logs()
  })
  return { ...collected, error: errors.length === 0 ? null : asList(errors) }
}

const asList = (errors: readonly string[]): string =>
  `The following errors were encountered:\n${errors.map((error) => `* ${error}`).join('\n')}`
