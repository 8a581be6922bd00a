import { formatClientValue } from '../../../base/wire/index.js'
import type { BiosSettingRecord, FirmwareComponentRecord, NodeRecord } from '../../../base/wire/index.js'
import type { BiosAttribute, FirmwareVersion, HardwareReport } from '../../drivers/bmc-hardware.js'
import { readsBios, readsFirmware, readsModes } from '../../drivers/management.js'
import type { EffectBody } from '../core/effects.js'
import type { NodeTask } from '../core/node-task.js'

/**
 * Effect that reads BIOS settings, firmware and modes before verifying, cleaning, servicing and inspecting; none for nodes
 * whose BMC does not report them. It never fails, as upstream's caching; {@link applyReport} stores the result.
 */
export const hardwareReportEffects = (node: Readonly<NodeRecord>): EffectBody[] =>
  readsBios(node) || readsFirmware(node) || readsModes(node) ? [{ kind: 'hardware-report' }] : []

/** Effects with a hardware report first, where the BMC has one. */
export const withHardwareReport = (
  node: Readonly<NodeRecord>,
  ...[first, ...rest]: [EffectBody, ...EffectBody[]]
): [EffectBody, ...EffectBody[]] => {
  const [report] = hardwareReportEffects(node)
  return report ? [report, first, ...rest] : [first, ...rest]
}

/** Stores the parts of a BMC's report that the node's interfaces read. */
export function applyReport(task: NodeTask, report: HardwareReport): void {
  const { node } = task
  applyModes(task, report)
  if (readsBios(node)) task.setList('bios', mergedBios(task.list('bios'), report.bios, task.now))
  if (readsFirmware(node)) task.setList('firmware', mergedFirmware(task.list('firmware'), report.firmware, task.now))
}

/** Stores boot mode, secure boot and health, the parts that the power sync reads. */
export function applyModes(task: NodeTask, report: HardwareReport): void {
  const { node, conf } = task
  if (!readsModes(node)) return
  node.boot_mode = report.bootMode
  node.secure_boot = report.secureBoot
  if (conf.enableHealthMonitoring) node.health = report.health
  if (node.properties.vendor == null) node.properties = { ...node.properties, vendor: report.vendor }
}

const formatBiosValue = (value: BiosAttribute['value']): string =>
  typeof value === 'boolean' ? (value ? 'True' : 'False') : formatClientValue(value)

/** Sorted by name, as in the database's answers. */
function mergedBios(
  stored: readonly BiosSettingRecord[],
  read: readonly BiosAttribute[],
  at: string,
): BiosSettingRecord[] {
  const known = new Map(stored.map((setting) => [setting.name, setting]))
  const merged = read.map((attribute): BiosSettingRecord => {
    const before = known.get(attribute.name)
    const value = formatBiosValue(attribute.value)
    return {
      name: attribute.name,
      value,
      attribute_type: attribute.type,
      allowable_values: [...attribute.allowed],
      lower_bound: attribute.lower,
      max_length: attribute.longest,
      min_length: attribute.shortest,
      read_only: attribute.readOnly,
      reset_required: attribute.resetRequired,
      unique: attribute.unique,
      upper_bound: attribute.upper,
      created_at: before?.created_at ?? at,
      updated_at: before && before.value !== value ? at : (before?.updated_at ?? null),
    }
  })
  return sortByName(merged)
}

export const sortByName = (settings: BiosSettingRecord[]): BiosSettingRecord[] =>
  settings.sort((a, b) => (a.name < b.name ? -1 : a.name > b.name ? 1 : 0))

/** Components are never removed; `last_version_flashed` is the version of the last change. */
function mergedFirmware(
  stored: readonly FirmwareComponentRecord[],
  read: readonly FirmwareVersion[],
  at: string,
): FirmwareComponentRecord[] {
  const merged = new Map(stored.map((component) => [component.component, component]))
  for (const { component, version, vendor, model, serial } of read) {
    const before = merged.get(component)
    const identity = { vendor, model, serial_number: serial }
    if (!before)
      merged.set(component, {
        component,
        initial_version: version,
        current_version: version,
        last_version_flashed: null,
        ...identity,
        created_at: at,
        updated_at: null,
      })
    else if (before.current_version !== version)
      merged.set(component, {
        ...before,
        ...identity,
        current_version: version,
        last_version_flashed: version,
        updated_at: at,
      })
  }
  return [...merged.values()]
}
