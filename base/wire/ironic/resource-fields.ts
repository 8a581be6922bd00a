import type { VersionedField } from './node-port-fields.js'
import type { ResourceKind, ResourceRecords } from './ironic-resources.js'

/** Form of a resource in answers, with its fields in the answers' order. */
export interface ResourceFields<Record> {
  /** Below `/v1`, in links too. */
  readonly path: string
  /** The member of a list's answer that holds the items. */
  readonly plural: string
  readonly own: readonly VersionedField<Exclude<keyof Record & string, 'id'>>[]
  /** After the links. */
  readonly derived: readonly VersionedField<string>[]
  /** Fields that a list shows by default; all when absent. */
  readonly short?: readonly string[]
  readonly notSortable: readonly string[]
  /** Fields whose name a client below their microversion may not say, where others are only left out. */
  readonly refused?: readonly string[]
}

type Kinds = ResourceKind
type OwnName<Kind extends Kinds> = Exclude<keyof ResourceRecords[Kind] & string, 'id'>

const plainField = <Name extends string>(name: Name, since = 1): VersionedField<Name> => ({
  name,
  since,
  kind: 'plain',
})
const objectField = <Name extends string>(name: Name, since = 1): VersionedField<Name> => ({
  name,
  since,
  kind: 'object',
})
const begin = [
  plainField('uuid'),
  { name: 'created_at', since: 1, kind: 'time' },
  { name: 'updated_at', since: 1, kind: 'time' },
] as const

export const RESOURCE_FIELDS: { readonly [Kind in Kinds]: ResourceFields<ResourceRecords[Kind]> } = {
  portgroup: {
    path: 'portgroups',
    plural: 'portgroups',
    own: [
      ...begin,
      plainField('address'),
      objectField('extra'),
      objectField('internal_info'),
      plainField('mode', 26),
      plainField('name'),
      objectField('properties', 26),
      plainField('standalone_ports_supported'),
      plainField('node_uuid'),
      plainField('physical_network', 102),
      plainField('category', 103),
      plainField('dynamic_portgroup', 111),
    ],
    derived: [plainField('ports')],
    short: ['uuid', 'address', 'name'],
    notSortable: ['extra', 'internal_info', 'properties'],
    refused: ['mode', 'properties', 'dynamic_portgroup'],
  },
  chassis: {
    path: 'chassis',
    plural: 'chassis',
    own: [...begin, plainField('description'), objectField('extra')],
    derived: [plainField('nodes')],
    short: ['uuid', 'description'],
    notSortable: ['extra'],
  },
  allocation: {
    path: 'allocations',
    plural: 'allocations',
    own: [
      ...begin,
      plainField('candidate_nodes'),
      objectField('extra'),
      plainField('last_error'),
      plainField('name'),
      plainField('owner', 60),
      plainField('resource_class'),
      plainField('state'),
      plainField('traits'),
    ],
    derived: [plainField('node_uuid')],
    notSortable: ['extra', 'candidate_nodes', 'traits'],
    refused: ['owner'],
  },
  volume_connector: {
    path: 'volume/connectors',
    plural: 'connectors',
    own: [...begin, plainField('connector_id'), objectField('extra'), plainField('type')],
    derived: [plainField('node_uuid')],
    short: ['uuid', 'node_uuid', 'type', 'connector_id'],
    notSortable: ['extra'],
  },
  volume_target: {
    path: 'volume/targets',
    plural: 'targets',
    own: [
      ...begin,
      plainField('boot_index'),
      objectField('extra'),
      objectField('properties'),
      plainField('volume_id'),
      plainField('volume_type'),
    ],
    derived: [plainField('node_uuid')],
    short: ['uuid', 'node_uuid', 'volume_type', 'boot_index', 'volume_id'],
    notSortable: ['extra', 'properties'],
  },
  deploy_template: {
    path: 'deploy_templates',
    plural: 'deploy_templates',
    own: [...begin, plainField('name'), objectField('extra')],
    derived: [plainField('steps')],
    short: ['uuid', 'name'],
    notSortable: ['extra', 'steps'],
  },
  runbook: {
    path: 'runbooks',
    plural: 'runbooks',
    own: [
      ...begin,
      plainField('name'),
      objectField('extra'),
      plainField('public'),
      plainField('owner'),
      plainField('disable_ramdisk'),
      plainField('description', 112),
    ],
    derived: [plainField('steps'), plainField('traits', 112)],
    short: ['uuid', 'name'],
    notSortable: ['extra', 'steps', 'traits'],
  },
  inspection_rule: {
    // Upstream's links say `inspection/UUID`, where nothing is; a difference on purpose.
    path: 'inspection_rules',
    plural: 'inspection_rules',
    own: [
      ...begin,
      plainField('description'),
      plainField('priority'),
      plainField('sensitive'),
      plainField('phase'),
      plainField('conditions'),
      plainField('actions'),
    ],
    derived: [],
    short: ['uuid', 'priority', 'phase', 'description'],
    notSortable: ['actions', 'conditions'],
  },
}

/** Fields that PATCH may change, in the order in which the refusal lists them; an inspection rule has no such list. */
export const PATCHABLE: { readonly [Kind in Exclude<Kinds, 'inspection_rule'>]: readonly OwnName<Kind>[] } = {
  portgroup: [
    'address',
    'extra',
    'mode',
    'name',
    'node_uuid',
    'properties',
    'standalone_ports_supported',
    'physical_network',
    'category',
  ],
  chassis: ['uuid', 'extra', 'description'],
  allocation: ['name', 'extra'],
  volume_connector: ['connector_id', 'extra', 'node_uuid', 'type'],
  volume_target: ['boot_index', 'extra', 'node_uuid', 'properties', 'volume_id', 'volume_type'],
  deploy_template: ['extra', 'name', 'steps'],
  runbook: ['disable_ramdisk', 'extra', 'name', 'owner', 'public', 'steps', 'description'],
}
