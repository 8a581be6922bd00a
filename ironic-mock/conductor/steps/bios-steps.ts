import { isObject } from '../../../base/runtime/index.js'
import { pythonRepr, formatClientValue, type BiosSettingRecord, type JsonObject } from '../../../base/wire/index.js'
import type { BiosValue } from '../../drivers/bmc-hardware.js'
import type { StepWork } from './step-work.js'
import { sortByName } from '../hardware/hardware-report.js'
import type { NodeTask } from '../core/node-task.js'

interface BiosSettingArg {
  name: string
  value: BiosValue
}

/** Reads a step's `settings`, or returns Python's error for them. */
function readBiosSettings(settings: unknown): BiosSettingArg[] | { error: string } {
  if (typeof settings === 'string' || (isObject(settings) && Object.keys(settings).length > 0))
    return { error: NO_INDEX }
  // Python reads an empty dictionary like an empty list.
  const items: unknown = isObject(settings) ? [] : settings
  if (!Array.isArray(items)) return { error: `'${pythonClass(items)}' object is not iterable` }
  for (const item of items as unknown[]) {
    if (typeof item === 'string') return { error: NO_INDEX }
    if (Array.isArray(item)) return { error: 'list indices must be integers or slices, not str' }
    if (!isObject(item)) return { error: `'${pythonClass(item)}' object is not subscriptable` }
    for (const key of ['name', 'value']) if (!Object.hasOwn(item, key)) return { error: `'${key}'` }
  }
  return (items as JsonObject[]).map(({ name, value }) => ({
    name: formatClientValue(name),
    value: value as BiosValue,
  }))
}

const NO_INDEX = "string indices must be integers, not 'str'"

function pythonClass(value: unknown): string {
  if (value === null || value === undefined) return 'NoneType'
  if (typeof value === 'boolean') return 'bool'
  return Number.isInteger(value) ? 'int' : 'float'
}

/** A value as text, as in the database. */
const formatBiosSetting = (value: unknown): string | null =>
  value === null ? null : typeof value === 'string' ? value : pythonRepr(value)

/** Sets the settings of the fake interface, in place of all others. */
export function fakeBiosChange(task: NodeTask, settings: unknown): StepWork {
  const read = readBiosSettings(settings)
  if ('error' in read) return { do: 'fail', error: read.error }
  const known = new Map(task.list('bios').map((setting) => [setting.name, setting]))
  const records = new Map<string, BiosSettingRecord>()
  for (const { name, value } of read) {
    const before = known.get(name)
    const text = formatBiosSetting(value)
    records.set(name, {
      ...UNKNOWN_ATTRIBUTE,
      name,
      value: text,
      created_at: before?.created_at ?? task.now,
      updated_at: before && before.value !== text ? task.now : (before?.updated_at ?? null),
    })
  }
  task.setList('bios', sortByName([...records.values()]))
  return { do: 'nothing' }
}

const UNKNOWN_ATTRIBUTE = {
  attribute_type: null,
  allowable_values: [],
  lower_bound: null,
  max_length: null,
  min_length: null,
  read_only: null,
  reset_required: null,
  unique: null,
  upper_bound: null,
}

/** Checks settings against the known attributes; no work when all have their values already. */
export function biosChange(task: NodeTask, settings: unknown): StepWork {
  const read = readBiosSettings(settings)
  if ('error' in read) return { do: 'fail', error: read.error }
  const known = new Map(task.list('bios').map((setting) => [setting.name, setting]))
  const converted = read.map((setting) => ({ setting, value: fitting(setting.value, known.get(setting.name)) }))
  const invalid = converted.filter(({ value }) => value === undefined).map(({ setting }) => setting.name)
  if (invalid.length > 0)
    return {
      do: 'fail',
      error: `Redfish BIOS apply_configuration failed for node ${task.uuid}: invalid value for setting(s): ${invalid.join(', ')}`,
    }
  const same = converted.every(({ setting, value }) => known.get(setting.name)?.value === formatBiosSetting(value))
  if (same) return { do: 'nothing' }
  const wanted = Object.fromEntries(converted.map(({ setting, value }) => [setting.name, value!]))
  return { do: 'change', changes: [{ change: 'bios', settings: wanted }], reboot: true }
}

/** Converts a value to the attribute's type; undefined when it does not fit. The BMC checks unknown attributes. */
function fitting(value: BiosValue, known: BiosSettingRecord | undefined): BiosValue | undefined {
  if (!known) return value
  if (known.read_only) return undefined
  switch (known.attribute_type) {
    case 'Enumeration':
      return known.allowable_values.length === 0 || known.allowable_values.includes(formatClientValue(value))
        ? value
        : undefined
    case 'Integer': {
      const number = /^\s*[+-]?\d+\s*$/.test(formatClientValue(value)) ? Number(value) : NaN
      const inside = number >= (known.lower_bound ?? -Infinity) && number <= (known.upper_bound ?? Infinity)
      return inside ? number : undefined
    }
    case 'Boolean':
      return typeof value === 'string' ? value.toLowerCase() === 'true' : value
    case 'String': {
      const { length } = formatClientValue(value)
      const inside = length >= (known.min_length ?? 0) && length <= (known.max_length ?? Infinity)
      return inside ? value : undefined
    }
    default:
      return value
  }
}

/** Upstream's sentence for settings that do not have the requested values after the reboot; undefined when all do. */
export function biosVerdict(task: NodeTask, settings: unknown): string | undefined {
  const read = readBiosSettings(settings)
  if ('error' in read) return read.error
  const known = new Map(task.list('bios').map((setting) => [setting.name, setting]))
  const left = read.filter(({ name, value }) => {
    const now = known.get(name)
    return now?.value !== formatBiosSetting(fitting(value, now))
  })
  if (left.length === 0) return undefined
  const attributes = Object.fromEntries(left.map(({ name, value }) => [name, value]))
  return `Redfish BIOS apply_configuration step failed. Attributes ${pythonRepr(attributes)} are not updated.`
}
