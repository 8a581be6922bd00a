import {
  ironicErrors,
  NODE_DERIVED_FIELDS,
  NODE_FIELDS,
  PORT_DERIVED_FIELDS,
  PORT_FIELDS,
  SINCE,
  type TableField,
  type JsonObject,
  type Microversion,
  type NodeRecord,
  type PortRecord,
} from '../../base/wire/index.js'
import type { Conductor } from '../conductor/core/conductor.js'
import type { Records } from '../store/record-store.js'
import type { ResourceLink, Links } from './api-links.js'
import { maskInstanceInfo, maskSecrets } from './mask-answers.js'

/** Time of the database (without offset) as the API shows it. */
export const shownTime = (time: string | null): string | null => (time === null ? null : `${time}+00:00`)

interface Shape<Name extends string, Derived extends string> {
  readonly fields: readonly TableField<Name>[]
  readonly derived: readonly TableField<Derived>[]
}

const nodeShape = { fields: NODE_FIELDS, derived: NODE_DERIVED_FIELDS }
const portShape = { fields: PORT_FIELDS, derived: PORT_DERIVED_FIELDS }
type NodeField = (typeof NODE_FIELDS)[number]['name']
type PortField = (typeof PORT_FIELDS)[number]['name']

/** Links of a whole node, which cannot be requested as fields. */
const LINKED_ONLY = ['ports', 'states', 'portgroups', 'volume']
/** Database columns that are no fields, by which a list can be sorted all the same. */
const SORT_COLUMNS = ['id', 'chassis_id']

/**
 * Checks a client's `fields`: 400 for unknown ones (upstream answers 500 in a list; a difference on purpose), 406 for
 * ones newer than its microversion.
 */
export function checkRequestedFields(
  resource: 'node' | 'port',
  fields: readonly string[],
  version: Microversion,
): void {
  const { fields: own, derived } = resource === 'node' ? nodeShape : portShape
  const known = new Map([...own, ...derived].map(({ name, since }) => [name as string, since]))
  // Upstream checks the microversion of a port's field names before it checks that they exist.
  const linked = resource === 'node' ? LINKED_ONLY : []
  const unknown = fields.filter(
    (field) => (field !== 'links' || resource === 'node') && !(known.has(field) && !linked.includes(field)),
  )
  for (const field of fields) {
    if (resource === 'node' && unknown.includes(field)) throw ironicErrors.unknownField(field)
    if ((known.get(field) ?? 1) > version) throw ironicErrors.notAcceptable()
  }
  if (unknown.length > 0) throw ironicErrors.unknownFields(unknown)
}

/** Checks a sort key: objects, lists and derived fields are refused. */
export function checkSortKey(resource: 'node' | 'port', key: string, version: Microversion): void {
  if (key === 'id' || (resource === 'node' && SORT_COLUMNS.includes(key))) return
  const { fields } = resource === 'node' ? nodeShape : portShape
  const field = (fields as readonly TableField<string>[]).find(({ name }) => name === key)
  if (field?.kind === 'object' || field?.sortable === false) throw ironicErrors.notSortable(key)
  if (!field) throw ironicErrors.sortKey(key)
  if (field.since > version) throw ironicErrors.notAcceptable()
}

export interface NodeView {
  readonly links: Links
  readonly version: Microversion
  readonly conductor: Pick<Conductor, 'holderOf'>
  readonly fields?: readonly string[]
  /** Records of the node's chassis and allocation. */
  readonly records: Records
}

/**
 * Node as the API shows it to a client of this microversion: secrets masked, newer fields left out.
 *
 * @param fields names that have passed {@link checkRequestedFields}; all of them when absent
 */
export function renderNode(node: NodeRecord, { links, version, conductor, fields, records }: NodeView): JsonObject {
  const path = `nodes/${node.uuid}`
  return render<NodeField, (typeof NODE_DERIVED_FIELDS)[number]['name']>(nodeShape, {
    version,
    fields,
    links: links.pair(path),
    value: (field) => nodeValue(node, field, version),
    derivedValue: (name) => {
      switch (name) {
        case 'conductor':
          return conductor.holderOf(node)
        case 'allocation_uuid':
          return records.resources('allocation').byId(node.allocation_id)?.uuid ?? null
        case 'chassis_uuid':
          return records.resources('chassis').byId(node.chassis_id)?.uuid ?? null
        case 'ports':
        case 'states':
        case 'portgroups':
        case 'volume':
          return links.pair(`${path}/${name}`)
      }
    },
  })
}

function nodeValue(node: NodeRecord, { name, secrets }: TableField<NodeField>, version: Microversion): unknown {
  if (name === 'provision_state') return shownProvisionState(node.provision_state, version)
  switch (secrets) {
    case 'by name':
      return maskSecrets(node[name] as JsonObject)
    case 'of an instance':
      return maskInstanceInfo(node[name] as JsonObject)
    default:
      return node[name]
  }
}

/** State as a client of this microversion knows it: newer states are shown as the earlier name. */
export function shownProvisionState(state: NodeRecord['provision_state'], version: Microversion): string | null {
  if (state === 'available' && version < SINCE.availableState) return null
  if (state === 'inspect wait' && version < SINCE.inspectWaitState) return 'inspecting'
  return state
}

export function renderPort(
  port: PortRecord,
  {
    links,
    version,
    fields,
    portgroup,
  }: { links: Links; version: Microversion; fields?: readonly string[]; portgroup: string | null },
): JsonObject {
  return render<PortField, 'portgroup_uuid'>(portShape, {
    version,
    fields,
    links: links.pair(`ports/${port.uuid}`),
    value: ({ name }) => (name === 'local_link_connection' ? shownLink(port, version) : port[name]),
    derivedValue: () => portgroup,
  })
}

/** Link of a port; those of OVN's kind are shown from 1.90 to 1.104. */
const shownLink = ({ local_link_connection: link }: PortRecord, version: Microversion) =>
  'vtep-logical-switch' in link && (version < 90 || version >= 105) ? {} : link

/** Fields that come first, however the request orders its fields. */
const LEADING: readonly string[] = ['uuid', 'created_at', 'updated_at']

function render<Name extends string, Derived extends string>(
  shape: Shape<Name, Derived>,
  options: {
    version: Microversion
    fields: readonly string[] | undefined
    links: [ResourceLink, ResourceLink]
    value: (field: TableField<Name>) => unknown
    derivedValue: (name: Derived) => unknown
  },
): JsonObject {
  const plan = planned(shape, options.version, options.fields)
  const out: JsonObject = {}
  for (const field of plan.own) {
    const { name, kind } = field
    const value = options.value(field)
    out[name] = kind === 'time' ? shownTime(value as string | null) : kind === 'object' ? (value ?? {}) : value
  }
  out.links = options.links
  for (const { name } of plan.derived) out[name] = options.derivedValue(name)
  return out
}

interface Plan<Name extends string, Derived extends string> {
  readonly own: readonly TableField<Name>[]
  readonly derived: readonly TableField<Derived>[]
}

/** Plans for all fields, by shape and microversion; the items of a list share one. */
const plans = new Map<object, Map<Microversion, Plan<string, string>>>()
/** Last plan for chosen fields; the items of a list share it. */
let last: { shape: object; version: Microversion; requested: readonly string[]; plan: Plan<string, string> } | undefined

function planned<Name extends string, Derived extends string>(
  shape: Shape<Name, Derived>,
  version: Microversion,
  requested: readonly string[] | undefined,
): Plan<Name, Derived> {
  if (requested) {
    if (last?.shape !== shape || last.version !== version || last.requested !== requested)
      last = { shape, version, requested, plan: plan(shape, version, requested) }
    return last.plan as Plan<Name, Derived>
  }
  const byVersion = plans.get(shape) ?? new Map<Microversion, Plan<string, string>>()
  plans.set(shape, byVersion)
  let made = byVersion.get(version)
  if (!made) byVersion.set(version, (made = plan(shape, version, undefined)))
  return made as Plan<Name, Derived>
}

function plan<Name extends string, Derived extends string>(
  { fields, derived }: Shape<Name, Derived>,
  version: Microversion,
  requested: readonly string[] | undefined,
): Plan<Name, Derived> {
  const wanted = <Each extends string>(all: readonly TableField<Each>[]) =>
    all.filter(({ name, since }) => since <= version && (requested === undefined || requested.includes(name)))
  const order = (name: string) => {
    const leading = LEADING.indexOf(name)
    return leading >= 0 ? leading : LEADING.length + (requested?.indexOf(name) ?? 0)
  }
  const own = wanted(fields)
  if (requested) own.sort((a, b) => order(a.name) - order(b.name))
  return { own, derived: wanted(derived) }
}
