import type { InspectionRuleRecord, PortRecord } from '../../../base/wire/index.js'
import type { InspectionFacts } from '../core/effects.js'
import type { DraftPort, Inspected } from './inspection-context.js'
import { runHooks } from './inspection-hooks.js'
import type { InspectionHook } from './inspection-conf.js'
import { applyRules } from './inspection-rules.js'
import type { InspectionData } from '../core/continuation.js'
import type { ApiCall } from './rule-actions.js'
import type { NodeTask } from '../core/node-task.js'

const draftOf = (port: PortRecord): DraftPort => ({
  address: port.address,
  pxe_enabled: port.pxe_enabled,
  extra: { ...port.extra },
  local_link_connection: { ...port.local_link_connection },
  physical_network: port.physical_network,
  stored: port,
  removed: false,
})

/** Runs hooks and stores their changes of node and ports, also when one fails. */
export function hookData(
  task: NodeTask,
  { taken, before }: Pick<InspectionFacts, 'taken' | 'before'>,
  { inventory, pluginData }: InspectionData,
  hooks: readonly InspectionHook[],
): { problem: string | undefined; found: InspectionData } {
  const inspected: Inspected = {
    uuid: task.uuid,
    conf: task.conf.inspection,
    inventory,
    before,
    taken: new Set(taken),
    pluginData: structuredClone(pluginData),
    properties: { ...task.node.properties },
    ports: task.situation.ports.map(draftOf),
    warnings: [],
  }
  const problem = runHooks(hooks, inspected)
  task.node.properties = inspected.properties
  for (const port of inspected.ports) storePort(task, port)
  for (const warning of inspected.warnings) task.warn(warning)
  return { problem, found: { inventory, pluginData: inspected.pluginData } }
}

function storePort(task: NodeTask, { stored, removed, ...port }: DraftPort): void {
  if (stored === null) {
    const { physical_network, extra, local_link_connection, ...rest } = port
    task.createPorts.push({ ...rest, extra, local_link_connection, physical_network })
  } else if (removed) task.removePorts.push(stored.uuid)
  else if (JSON.stringify({ ...stored, ...port }) !== JSON.stringify(stored))
    task.updatePorts.push({ ...stored, ...port, updated_at: task.now })
}

/** Applies the rules, which may change the data; returns the error that fails the inspection, if any. */
export function ruleProblem(
  task: NodeTask,
  rules: readonly InspectionRuleRecord[],
  found: InspectionData,
): { problem: string | undefined; calls: ApiCall[] } {
  const ports = task.situation.ports.map((port) => ({ ...draftOf(port), uuid: port.uuid }))
  const log: string[] = []
  const calls: ApiCall[] = []
  const subject = { node: task.node, ports, inventory: found.inventory, pluginData: found.pluginData, log, calls }
  const problem = applyRules(rules, task.conf.inspection, subject)
  for (const { uuid: _, ...port } of ports) storePort(task, port)
  for (const sentence of log) task.warn(`an inspection rule says of node ${task.uuid}: ${sentence}`)
  return { problem, calls }
}

export function storeInventory(task: NodeTask, { inventory, pluginData }: InspectionData): void {
  task.inventory = { inventory, plugin_data: pluginData }
}
