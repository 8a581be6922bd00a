import { pythonRepr, formatClientValue, type JsonObject, type NodeRecord } from '../../../base/wire/index.js'
import type { BmcChange } from '../../drivers/bmc-hardware.js'
import { biosChange, biosVerdict, fakeBiosChange } from './bios-steps.js'
import type { NodeTask } from '../core/node-task.js'
import type { StepWork } from './step-work.js'

const argsOf = (step: JsonObject): JsonObject => (step.args ?? {}) as JsonObject
const isFake = (node: Readonly<NodeRecord>, step: JsonObject): boolean =>
  node[`${formatClientValue(step.interface)}_interface` as 'bios_interface'] === 'fake'

export function interfaceStepWork(task: NodeTask, step: JsonObject): StepWork {
  const args = argsOf(step)
  switch (`${formatClientValue(step.interface)}.${formatClientValue(step.step)}`) {
    case 'bios.apply_configuration':
      return isFake(task.node, step) ? fakeBiosChange(task, args.settings) : biosChange(task, args.settings)
    case 'bios.factory_reset':
      if (!isFake(task.node, step)) return makeBiosWork({ change: 'bios defaults' }, { reboot: true })
      task.setList('bios', [])
      return { do: 'nothing' }
    case 'firmware.update':
      return isFake(task.node, step) ? { do: 'nothing' } : firmwareUpdate(args.settings)
    case 'raid.apply_configuration':
      return volumes(task, (args.raid_config ?? {}) as JsonObject, args)
    case 'raid.create_configuration':
      return volumes(task, task.node.target_raid_config, args)
    case 'raid.delete_configuration':
      return makeBiosWork({ change: 'volumes', volumes: [] })
    case 'vendor.send_raw':
      return makeBiosWork({ change: 'raw', bytes: formatClientValue(args.raw_bytes) })
    default:
      return { do: 'nothing' }
  }
}

const makeBiosWork = (first: BmcChange, { reboot = false }: { reboot?: boolean } = {}): StepWork => ({
  do: 'change',
  changes: [first],
  reboot,
})

/** Upstream's sentence for a change that the BMC has refused. */
export function interfaceStepRefusal({ uuid }: NodeTask, step: JsonObject, error: string): string {
  const what: Readonly<Record<string, string>> = {
    'bios.apply_configuration': `Redfish BIOS apply configuration failed for node ${uuid}. Error: `,
    'bios.factory_reset': `Redfish BIOS factory reset failed for node ${uuid}. Error: `,
    'firmware.update': `Failed to update firmware on node ${uuid}. Error: `,
  }
  const name = `${formatClientValue(step.interface)}.${formatClientValue(step.step)}`
  return `Redfish exception occurred. Error: ${what[name] ?? ''}${error}`
}

/** Stores the result of a step after the hardware was read again; returns the error of a change that did not happen. */
export function interfaceStepProblem(task: NodeTask, step: JsonObject): string | undefined {
  const args = argsOf(step)
  switch (`${formatClientValue(step.interface)}.${formatClientValue(step.step)}`) {
    case 'bios.apply_configuration':
      return biosVerdict(task, args.settings)
    case 'raid.apply_configuration':
      task.node.raid_config = makeRaidConfig(task, (args.raid_config ?? {}) as JsonObject, args)
      return undefined
    case 'raid.create_configuration':
      task.node.raid_config = makeRaidConfig(task, task.node.target_raid_config, args)
      return undefined
    case 'raid.delete_configuration':
      task.node.raid_config = {}
      return undefined
    default:
      return undefined
  }
}

function volumes(task: NodeTask, config: JsonObject, args: JsonObject): StepWork {
  const disks = wanted(config, args)
  if (disks.length === 0) return { do: 'fail', error: `Node ${task.uuid} has no target RAID configuration.` }
  return makeBiosWork({ change: 'volumes', volumes: disks })
}

/** The root volume, the others, or both. */
function wanted(
  config: JsonObject,
  { create_root_volume = true, create_nonroot_volumes = true }: JsonObject,
): JsonObject[] {
  const disks = Array.isArray(config.logical_disks) ? (config.logical_disks as JsonObject[]) : []
  return disks.filter((disk) => (disk.is_root_volume === true ? create_root_volume : create_nonroot_volumes))
}

const makeRaidConfig = (task: NodeTask, config: JsonObject, args: JsonObject): JsonObject => ({
  logical_disks: wanted(config, args),
  last_updated: task.now,
})

const COMPONENT = /^(bios|bmc|nic:.*)$/

function firmwareUpdate(settings: unknown): StepWork {
  const problem = firmwareProblem(settings)
  if (problem !== undefined)
    return { do: 'fail', error: `Invalid firmware update ${pythonRepr(settings)}. Errors: ${problem}` }
  const changes = (settings as { component: string; url: string }[]).map(({ component, url }): BmcChange => ({
    change: 'firmware',
    component,
    url,
  }))
  return { do: 'change', changes: changes as [BmcChange], reboot: true }
}

function firmwareProblem(settings: unknown): string | undefined {
  if (!Array.isArray(settings)) return `${pythonRepr(settings)} is not of type 'array'`
  if (settings.length === 0) return '[] should be non-empty'
  for (const item of settings as unknown[]) {
    if (typeof item !== 'object' || item === null) return `${pythonRepr(item)} is not of type 'object'`
    const { component, url } = item as JsonObject
    if (component === undefined || url === undefined)
      return `'${component === undefined ? 'component' : 'url'}' is a required property`
    if (typeof component !== 'string' || !COMPONENT.test(component))
      return `${pythonRepr(component)} is not valid under any of the given schemas`
    if (typeof url !== 'string' || url === '') return `${pythonRepr(url)} should be non-empty`
  }
  return undefined
}
