import {
  ironicErrors,
  IronicError,
  pythonRepr,
  type BiosSettingRecord,
  type FirmwareComponentRecord,
  type JsonObject,
  type Microversion,
} from '../../../base/wire/index.js'
import type { HandlersOf } from '../call.js'
import { findCallNode } from '../nodes/find-node.js'
import type { Links } from '../api-links.js'
import { shownTime } from '../render-node.js'

const BIOS_REGISTRY: Microversion = 74
const FIRMWARE_IDENTITY: Microversion = 114
const BIOS_FIELDS = ['name', 'value']
const BIOS_DETAIL = [
  'name',
  'value',
  'attribute_type',
  'allowable_values',
  'lower_bound',
  'max_length',
  'min_length',
  'read_only',
  'reset_required',
  'unique',
  'upper_bound',
]
/** Fields in the order of upstream's refusal. */
const BIOS_QUERY = [
  'allowable_values',
  'attribute_type',
  'created_at',
  'lower_bound',
  'links',
  'max_length',
  'min_length',
  'name',
  'node_uuid',
  'read_only',
  'reset_required',
  'unique',
  'updated_at',
  'value',
]

function checkBiosQuery(
  fields: readonly string[] | null | undefined,
  detail: boolean | null | undefined,
  version: Microversion,
): void {
  const present = [...(detail == null ? [] : ['detail']), ...(fields == null ? [] : ['fields'])]
  if (version < BIOS_REGISTRY && present.length > 0)
    throw ironicErrors.schema(
      undefined,
      `Additional properties are not allowed (${present.map((name) => `'${name}'`).join(', ')} ${present.length > 1 ? 'were' : 'was'} unexpected)`,
    )
  const unknown = fields?.find((field) => !BIOS_QUERY.includes(field))
  if (unknown !== undefined)
    throw ironicErrors.schema(undefined, `'${unknown}' is not one of ${pythonRepr(BIOS_QUERY)}`)
  if (fields?.length && detail) throw ironicErrors.fieldsAndDetail()
}

function shownSetting(setting: BiosSettingRecord, fields: readonly string[], ident: string, links: Links): JsonObject {
  return { ...selectRecordFields(setting, fields), links: links.pair(`nodes/${ident}/bios/${setting.name}`) }
}

/** Shows the chosen fields; times come first, also when not requested. */
function selectRecordFields(
  record: BiosSettingRecord | FirmwareComponentRecord,
  fields: readonly string[],
): JsonObject {
  const { created_at, updated_at } = record
  const values = record as unknown as JsonObject
  const own = fields.filter((field) => field in values && field !== 'created_at' && field !== 'updated_at')
  return {
    created_at: shownTime(created_at),
    updated_at: shownTime(updated_at),
    ...Object.fromEntries(own.map((field) => [field, values[field]])),
  }
}

const FIRMWARE_FIELDS = ['component', 'initial_version', 'current_version', 'last_version_flashed']
const IDENTITY_FIELDS = ['vendor', 'model', 'serial_number']

function firmwareFields(fields: readonly string[] | null | undefined, version: Microversion): readonly string[] {
  const known = ['created_at', 'updated_at', ...FIRMWARE_FIELDS, ...IDENTITY_FIELDS]
  const unknown = fields?.find((field) => !known.includes(field))
  if (unknown !== undefined) throw ironicErrors.schema(undefined, `'${unknown}' is not one of ${pythonRepr(known)}`)
  const identity = version >= FIRMWARE_IDENTITY
  const newer = IDENTITY_FIELDS.filter((field) => fields?.includes(field)).sort()
  if (!identity && newer.length > 0)
    throw new IronicError(
      400,
      `Fields ${newer.join(', ')} are not allowed in this API version. They require at least API version 1.${FIRMWARE_IDENTITY}.`,
    )
  return fields?.length ? fields : identity ? [...FIRMWARE_FIELDS, ...IDENTITY_FIELDS] : FIRMWARE_FIELDS
}

/** Handlers of records that belong to a node: its inventory, BIOS settings and firmware. */
export const recordHandlers: HandlersOf<'nodes.inventory' | 'nodes.firmware' | 'nodes.bios' | 'nodes.bios.setting'> = {
  'nodes.inventory': async (call, backend) => {
    const node = findCallNode(call, backend, call.args.node_ident)
    const stored = await backend.store.inventory(node.uuid)
    if (!stored) throw ironicErrors.inventoryNotFound(node.id)
    return { body: { inventory: stored.inventory, plugin_data: stored.plugin_data } }
  },

  'nodes.firmware': async (call, backend) => {
    const { fields, detail } = call.args
    // Upstream checks the raw query, where a text is no boolean.
    if (detail != null) throw ironicErrors.schema(undefined, `'${detail}' is not of type 'boolean'`)
    const shown = firmwareFields(fields, call.version)
    const { uuid } = findCallNode(call, backend, call.args.node_ident)
    const firmware = await backend.conductor.hardware.firmware(uuid)
    return { body: { firmware: firmware.map((component) => selectRecordFields(component, shown)) } }
  },
  'nodes.bios': async (call, backend) => {
    const { fields, detail } = call.args
    checkBiosQuery(fields, detail, call.version)
    const { node_ident: ident } = call.args
    const { uuid } = findCallNode(call, backend, ident)
    const shown = detail ? BIOS_DETAIL : fields?.length ? fields : BIOS_FIELDS
    const settings = await backend.conductor.hardware.bios(uuid)
    return { body: { bios: settings.map((setting) => shownSetting(setting, shown, ident, call.links)) } }
  },
  'nodes.bios.setting': async (call, backend) => {
    const { setting_name: name } = call.args
    if (!/^[A-Z0-9-._~]+$/i.test(name))
      throw ironicErrors.schema(undefined, `${pythonRepr(name)} does not match '(?i)^[A-Z0-9-._~]+$'`)
    const node = findCallNode(call, backend, call.args.node_ident)
    const setting = (await backend.conductor.hardware.bios(node.uuid)).find((each) => each.name === name)
    if (!setting) throw ironicErrors.biosSettingNotFound(node.uuid, name)
    const shown = call.version >= BIOS_REGISTRY ? BIOS_DETAIL : BIOS_FIELDS
    return { body: { [name]: shownSetting(setting, shown, node.uuid, call.links) } }
  },
}
