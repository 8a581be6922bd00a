import { defined } from '../../../base/runtime/index.js'
import {
  pythonRepr,
  formatClientValue,
  type CommandResult,
  type JsonObject,
  type StepKind,
} from '../../../base/wire/index.js'
import { withCapabilities } from '../inspection/inspection-context.js'
import type { NodeTask } from '../core/node-task.js'

const isRaid = ({ node }: NodeTask, step: JsonObject): boolean =>
  step.interface === 'raid' && node.raid_interface === 'agent'

const disksOf = (config: JsonObject): JsonObject[] => (config.logical_disks ?? []) as JsonObject[]

/**
 * Prepares a RAID step of the `agent` interface: stores the wanted configuration without the volumes that the step leaves
 * out. Returns its error, if any.
 */
export function prepareRaid(task: NodeTask, kind: StepKind, step: JsonObject): string | undefined {
  if (kind !== 'clean' || !isRaid(task, step) || step.step !== 'create_configuration') return undefined
  const { node } = task
  const args = (step.args ?? {}) as { create_root_volume?: boolean; create_nonroot_volumes?: boolean }
  if (Object.keys(node.target_raid_config).length === 0) return `Node ${node.uuid} has no target RAID configuration.`
  const root = args.create_root_volume ?? true
  const others = args.create_nonroot_volumes ?? true
  const disks = disksOf(node.target_raid_config).filter((disk) => (disk.is_root_volume === true ? root : others))
  if (disks.length === 0) {
    const left = [...(root ? [] : ['skipping root volume']), ...(others ? [] : ['skipping non-root volumes'])]
    return `Node ${node.uuid} has empty target RAID configuration after ${left.join(' and ')}.`
  }
  task.setInfo({ target_raid_config: { ...node.target_raid_config, logical_disks: disks } })
  return undefined
}

/** Stores the RAID configuration that the agent made; returns the error of its answer, if any. */
export function finishRaid(task: NodeTask, kind: StepKind, step: JsonObject, last: CommandResult): string | undefined {
  if (!isRaid(task, step) || kind === 'service') return undefined
  const { node } = task
  const name = formatClientValue(step.step)
  if (kind === 'clean' && name === 'delete_configuration') {
    const { root_device: _, ...properties } = node.properties
    node.properties = properties
    node.raid_config = {}
    return undefined
  }
  if (name !== (kind === 'clean' ? 'create_configuration' : 'apply_configuration')) return undefined
  const result = (last.command_result as JsonObject | null)?.[`${kind}_result`] as JsonObject | null | undefined
  if (!result || Object.keys(result).length === 0)
    return `For node ${node.uuid}, post ${kind} step hook _create_configuration_final failed for ${kind} step ${pythonRepr(step)}.IronicException: Agent ramdisk didn't return a proper command result while building RAID on ${node.uuid}. It returned '${pythonRepr(last)}' after command execution.`
  storeRaid(task, result)
  return undefined
}

/** Stores the RAID configuration; its root volume, if any, becomes the root device. */
function storeRaid(task: NodeTask, config: JsonObject): void {
  const { node } = task
  node.raid_config = { ...config, last_updated: task.now.replace('T', ' ') }
  const root = disksOf(config).find((disk) => disk.is_root_volume === true)
  if (!root) return
  node.properties = {
    ...node.properties,
    ...defined({
      local_gb: root.size_gb === 'MAX' ? undefined : Number(root.size_gb),
      root_device: root.root_device_hint,
    }),
    capabilities: withCapabilities(node.properties.capabilities, { raid_level: root.raid_level }),
  }
}
