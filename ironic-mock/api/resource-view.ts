import {
  ironicErrors,
  RESOURCE_FIELDS,
  SINCE,
  type JsonObject,
  type Microversion,
  type ResourceKind,
  type ResourceRecords,
} from '../../base/wire/index.js'
import type { Links } from './api-links.js'
import { maskSecrets } from './mask-answers.js'
import { shownTime } from './render-node.js'

/**
 * Record as the API shows it to a client of this microversion. The order of the fields is fixed, however they are
 * requested.
 *
 * @param fields fields to show; all when absent
 * @throws IronicError 400 for fields that the resource does not have
 */
export function renderResource<Kind extends ResourceKind>(
  kind: Kind,
  record: ResourceRecords[Kind],
  { links, version }: { links: Links; version: Microversion },
  fields?: readonly string[],
): JsonObject {
  const { path, own, derived } = RESOURCE_FIELDS[kind]
  if (fields) checkNames(kind, fields, version)
  const shows = ({ name, since }: { name: string; since: Microversion }) =>
    since <= version && (fields === undefined || fields.includes(name))
  const below = `${path}/${record.uuid}`
  const out: JsonObject = {}
  for (const field of own) {
    if (!shows(field)) continue
    const value = shownValue(kind, record, field.name)
    out[field.name] =
      field.kind === 'time' ? shownTime(value as string | null) : field.kind === 'object' ? (value ?? {}) : value
  }
  out.links = links.pair(below)
  for (const field of derived)
    if (shows(field)) out[field.name] = DERIVED[field.name]?.(links, below) ?? shownValue(kind, record, field.name)
  return out
}

const DERIVED: Readonly<Record<string, (links: Links, path: string) => unknown>> = {
  ports: (links, path) => links.pair(`${path}/ports`),
  // Upstream puts this pair of links into a list of its own.
  nodes: (links, path) => [links.pair(`${path}/nodes`)],
}

function shownValue<Kind extends ResourceKind>(kind: Kind, record: ResourceRecords[Kind], name: string): unknown {
  const value: unknown = record[name as keyof typeof record]
  switch (kind) {
    case 'volume_target':
      return name === 'properties' ? maskSecrets(value as JsonObject) : value
    case 'deploy_template':
    case 'runbook':
      return name === 'steps' ? (value as StepWithArgs[]).map(shownStep) : value
    case 'inspection_rule': {
      const secret = (record as ResourceRecords['inspection_rule']).sensitive
      return secret && (name === 'actions' || name === 'conditions') ? null : value
    }
    default:
      return value
  }
}

interface StepWithArgs {
  readonly args: JsonObject
}
const shownStep = (step: StepWithArgs) => ({ ...step, args: maskSecrets(step.args) })

function checkNames(kind: ResourceKind, fields: readonly string[], version: Microversion): void {
  const { own, derived } = RESOURCE_FIELDS[kind]
  const known = new Map<string, Microversion>([...own, ...derived].map(({ name, since }) => [name, since]))
  // Later fields of a runbook do not exist for older clients; those of other resources are only left out.
  const unknown = fields.filter(
    (name) => name !== 'links' && (!known.has(name) || (kind === 'runbook' && known.get(name)! > version)),
  )
  if (unknown.length > 0) throw ironicErrors.unknownFields(unknown)
}

/** Refuses names in `fields` or `sort_key` that are newer than the client, where the resource checks them. */
export function refuseNewerNames(kind: ResourceKind, names: readonly string[], version: Microversion): void {
  const { own, refused = [] } = RESOURCE_FIELDS[kind]
  for (const { name, since } of own)
    if (since > version && refused.includes(name) && names.includes(name)) throw ironicErrors.notAcceptable()
}

/** Fields that a list shows; undefined for all. */
export function selectedFields(
  kind: ResourceKind,
  { fields, detail }: { fields?: string[] | null; detail?: boolean | null },
  version: Microversion,
): readonly string[] | undefined {
  const volume = kind === 'volume_connector' || kind === 'volume_target'
  if (detail != null && version < SINCE.detailQuery && !volume)
    throw ironicErrors.detailTooNew(detail ? 'True' : 'False')
  if (fields && detail) throw volume ? ironicErrors.volumeFieldsAndDetail() : ironicErrors.fieldsAndDetail()
  return fields ?? (detail ? undefined : RESOURCE_FIELDS[kind].short)
}
