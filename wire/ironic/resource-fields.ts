import type { Field } from './fields.js'
import type { ResourceKind, ResourceRecords } from './resources.js'

/** Form of a resource in answers, with its fields in the answers' order. */
export interface ResourceFields<Record> {
  /** Below `/v1`, in links too. */
  readonly path: string
  /** The member of a list's answer that holds the items. */
  readonly plural: string
  readonly own: readonly Field<Exclude<keyof Record & string, 'id'>>[]
  /** After the links. */
  readonly derived: readonly Field<string>[]
  /** Fields that a list shows by default; all when absent. */
  readonly short?: readonly string[]
  readonly notSortable: readonly string[]
  /** Fields whose name a client below their microversion may not say, where others are only left out. */
  readonly refused?: readonly string[]
}

type Kinds = ResourceKind
type OwnName<Kind extends Kinds> = Exclude<keyof ResourceRecords[Kind] & string, 'id'>

const plain = <Name extends string>(name: Name, since = 1): Field<Name> => ({ name, since, kind: 'plain' })
const object = <Name extends string>(name: Name, since = 1): Field<Name> => ({ name, since, kind: 'object' })
const begin = [
  plain('uuid'),
  { name: 'created_at', since: 1, kind: 'time' },
  { name: 'updated_at', since: 1, kind: 'time' },
] as const

export const RESOURCE_FIELDS: { readonly [Kind in Kinds]: ResourceFields<ResourceRecords[Kind]> } = {
  portgroup: {
    path: 'portgroups',
    plural: 'portgroups',
    own: [
      ...begin,
      plain('address'),
      object('extra'),
      object('internal_info'),
      plain('mode', 26),
      plain('name'),
      object('properties', 26),
      plain('standalone_ports_supported'),
      plain('node_uuid'),
      plain('physical_network', 102),
      plain('category', 103),
      plain('dynamic_portgroup', 111),
    ],
    derived: [plain('ports')],
    short: ['uuid', 'address', 'name'],
    notSortable: ['extra', 'internal_info', 'properties'],
    refused: ['mode', 'properties', 'dynamic_portgroup'],
  },
  chassis: {
    path: 'chassis',
    plural: 'chassis',
    own: [...begin, plain('description'), object('extra')],
    derived: [plain('nodes')],
    short: ['uuid', 'description'],
    notSortable: ['extra'],
  },
  allocation: {
    path: 'allocations',
    plural: 'allocations',
    own: [
      ...begin,
      plain('candidate_nodes'),
      object('extra'),
      plain('last_error'),
      plain('name'),
      plain('owner', 60),
      plain('resource_class'),
      plain('state'),
      plain('traits'),
    ],
    derived: [plain('node_uuid')],
    notSortable: ['extra', 'candidate_nodes', 'traits'],
    refused: ['owner'],
  },
  volume_connector: {
    path: 'volume/connectors',
    plural: 'connectors',
    own: [...begin, plain('connector_id'), object('extra'), plain('type')],
    derived: [plain('node_uuid')],
    short: ['uuid', 'node_uuid', 'type', 'connector_id'],
    notSortable: ['extra'],
  },
  volume_target: {
    path: 'volume/targets',
    plural: 'targets',
    own: [
      ...begin,
      plain('boot_index'),
      object('extra'),
      object('properties'),
      plain('volume_id'),
      plain('volume_type'),
    ],
    derived: [plain('node_uuid')],
    short: ['uuid', 'node_uuid', 'volume_type', 'boot_index', 'volume_id'],
    notSortable: ['extra', 'properties'],
  },
  deploy_template: {
    path: 'deploy_templates',
    plural: 'deploy_templates',
    own: [...begin, plain('name'), object('extra')],
    derived: [plain('steps')],
    short: ['uuid', 'name'],
    notSortable: ['extra', 'steps'],
  },
  runbook: {
    path: 'runbooks',
    plural: 'runbooks',
    own: [
      ...begin,
      plain('name'),
      object('extra'),
      plain('public'),
      plain('owner'),
      plain('disable_ramdisk'),
      plain('description', 112),
    ],
    derived: [plain('steps'), plain('traits', 112)],
    short: ['uuid', 'name'],
    notSortable: ['extra', 'steps', 'traits'],
  },
  inspection_rule: {
    // Upstream's links say `inspection/UUID`, where nothing is; a difference on purpose.
    path: 'inspection_rules',
    plural: 'inspection_rules',
    own: [
      ...begin,
      plain('description'),
      plain('priority'),
      plain('sensitive'),
      plain('phase'),
      plain('conditions'),
      plain('actions'),
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
