import type { Microversion } from './microversion.js'
import { inspectionDataSchema, nodeSchema, patchSchema, portSchema, type JsonSchema } from './schemas.js'

/**
 * What an argument may be, in the query, in the path or as a member of a body: a JSON schema of one of these forms.
 * In a query every value is text, which the type says how to read; `uuid-or-name` and `mac` are Ironic's own formats.
 */
export const arg = {
  string: { type: 'string' },
  integer: { type: 'integer' },
  boolean: { type: 'boolean' },
  /** Comma-separated in a query. */
  list: { type: 'array', items: { type: 'string' } },
  uuid: { type: 'string', format: 'uuid' },
  ident: { type: 'string', format: 'uuid-or-name' },
  mac: { type: 'string', format: 'mac' },
  /** A list or null, its items checked later against the schema that the verb asks for. */
  steps: { type: ['null', 'array'] },
  configdrive: { type: ['null', 'object', 'string'] },
} as const
export type ArgSchema = (typeof arg)[keyof typeof arg]

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'

/** How an operation's body is read. */
export type BodySpec =
  /** One document, checked as a whole; `label` is its name in error sentences. */
  | { readonly document: JsonSchema; readonly label: string }
  /** An object whose members are arguments like those of the query. */
  | { readonly args: Readonly<Record<string, ArgSchema>> }

/** A call of Ironic's API. Paths have no trailing slash; `{name}` stands for one segment, whose text is an argument. */
export interface Operation {
  readonly id: string
  readonly method: Method
  readonly path: string
  /**
   * Further paths of the same call. Ironic reads path segments as positional arguments, so some calls can also be made
   * with the argument in the query (`DELETE /v1/nodes?node_ident=X`); the methods of such a path count for `Allow`.
   */
  readonly also?: readonly string[]
  readonly since: Microversion
  /**
   * What a client below `since` gets: the controller's 404 (`resource`), or the router's for a subresource that it does
   * not know yet (`route`).
   */
  readonly hidden?: 'resource' | 'route'
  readonly query?: Readonly<Record<string, ArgSchema>>
  /** Arguments without which the call is a 400. */
  readonly required?: readonly string[]
  readonly body?: BodySpec
  /** The status of success. */
  readonly status: 200 | 201 | 202 | 204
}

const paging = { limit: arg.integer, marker: arg.string, sort_key: arg.string, sort_dir: arg.string } as const
const nodeFilters = {
  ...paging,
  chassis_uuid: arg.uuid,
  instance_uuid: arg.uuid,
  associated: arg.boolean,
  maintenance: arg.boolean,
  retired: arg.boolean,
  provision_state: arg.string,
  driver: arg.string,
  resource_class: arg.string,
  fault: arg.string,
  conductor_group: arg.string,
  conductor: arg.string,
  owner: arg.string,
  description_contains: arg.string,
  lessee: arg.string,
  project: arg.string,
  shard: arg.list,
  sharded: arg.boolean,
  include_children: arg.boolean,
  parent_node: arg.string,
  instance_name: arg.string,
} as const
const portFilters = {
  ...paging,
  node: arg.ident,
  node_uuid: arg.uuid,
  address: arg.mac,
  portgroup: arg.ident,
  shard: arg.list,
  conductor_group: arg.string,
} as const
const selected = { fields: arg.list, detail: arg.boolean } as const

/**
 * Everything that is served. A row is all that routing, argument checks, the in-process transport and OpenAPI need; its
 * handler stands under the same id in `ironic-mock/api`. Where a literal segment and a `{name}` could both match, the
 * literal one does.
 */
export const IRONIC_OPERATIONS = [
  { id: 'root', method: 'GET', path: '/', since: 1, status: 200 },
  { id: 'v1', method: 'GET', path: '/v1', since: 1, status: 200 },

  {
    id: 'drivers.list',
    method: 'GET',
    path: '/v1/drivers',
    since: 1,
    query: { type: arg.string, detail: arg.boolean, fields: arg.list },
    status: 200,
  },
  {
    id: 'drivers.get',
    method: 'GET',
    path: '/v1/drivers/{driver_name}',
    since: 1,
    query: { fields: arg.list },
    status: 200,
  },
  {
    id: 'drivers.properties',
    method: 'GET',
    path: '/v1/drivers/{driver_name}/properties',
    also: ['/v1/drivers/properties'],
    since: 1,
    query: { driver_name: arg.string },
    required: ['driver_name'],
    status: 200,
  },

  { id: 'nodes.list', method: 'GET', path: '/v1/nodes', since: 1, query: { ...nodeFilters, ...selected }, status: 200 },
  { id: 'nodes.detail', method: 'GET', path: '/v1/nodes/detail', since: 1, query: nodeFilters, status: 200 },
  {
    id: 'nodes.create',
    method: 'POST',
    path: '/v1/nodes',
    since: 1,
    body: { document: nodeSchema, label: 'node' },
    status: 201,
  },
  {
    id: 'nodes.get',
    method: 'GET',
    path: '/v1/nodes/{node_ident}',
    also: ['/v1/nodes/{node_ident}/{fields}'],
    since: 1,
    query: { fields: arg.list },
    status: 200,
  },
  {
    id: 'nodes.patch',
    method: 'PATCH',
    path: '/v1/nodes/{node_ident}',
    also: ['/v1/nodes'],
    since: 1,
    query: { node_ident: arg.ident, reset_interfaces: arg.boolean },
    required: ['node_ident'],
    body: { document: patchSchema, label: 'patch' },
    status: 200,
  },
  {
    id: 'nodes.delete',
    method: 'DELETE',
    path: '/v1/nodes/{node_ident}',
    also: ['/v1/nodes'],
    since: 1,
    query: { node_ident: arg.ident },
    required: ['node_ident'],
    status: 204,
  },
  {
    id: 'nodes.validate',
    method: 'GET',
    path: '/v1/nodes/{node_uuid}/validate',
    also: ['/v1/nodes/validate'],
    since: 1,
    query: { node_uuid: arg.ident },
    required: ['node_uuid'],
    status: 200,
  },
  { id: 'nodes.states', method: 'GET', path: '/v1/nodes/{node_ident}/states', since: 1, status: 200 },
  {
    id: 'nodes.provision',
    method: 'PUT',
    path: '/v1/nodes/{node_ident}/states/provision',
    since: 1,
    body: {
      args: {
        target: arg.string,
        configdrive: arg.configdrive,
        clean_steps: arg.steps,
        deploy_steps: arg.steps,
        rescue_password: arg.string,
        disable_ramdisk: arg.boolean,
        service_steps: arg.steps,
        runbook: arg.string,
      },
    },
    required: ['target'],
    status: 202,
  },
  {
    id: 'nodes.power',
    method: 'PUT',
    path: '/v1/nodes/{node_ident}/states/power',
    since: 1,
    body: { args: { target: arg.string, timeout: arg.integer } },
    required: ['target'],
    status: 202,
  },
  {
    id: 'nodes.maintenance.set',
    method: 'PUT',
    path: '/v1/nodes/{node_ident}/maintenance',
    since: 1,
    body: { args: { reason: arg.string } },
    status: 202,
  },
  {
    id: 'nodes.maintenance.unset',
    method: 'DELETE',
    path: '/v1/nodes/{node_ident}/maintenance',
    since: 1,
    status: 202,
  },
  {
    id: 'nodes.ports',
    method: 'GET',
    path: '/v1/nodes/{node_ident}/ports',
    since: 1,
    query: { ...paging, ...selected },
    status: 200,
  },
  {
    id: 'nodes.ports.detail',
    method: 'GET',
    path: '/v1/nodes/{node_ident}/ports/detail',
    since: 1,
    query: paging,
    status: 200,
  },
  {
    id: 'nodes.inventory',
    method: 'GET',
    path: '/v1/nodes/{node_ident}/inventory',
    since: 81,
    hidden: 'route',
    status: 200,
  },
  {
    id: 'nodes.firmware',
    method: 'GET',
    path: '/v1/nodes/{node_ident}/firmware',
    since: 86,
    hidden: 'route',
    query: selected,
    status: 200,
  },
  {
    id: 'nodes.bios',
    method: 'GET',
    path: '/v1/nodes/{node_ident}/bios',
    since: 40,
    hidden: 'route',
    query: selected,
    status: 200,
  },
  {
    id: 'nodes.bios.setting',
    method: 'GET',
    path: '/v1/nodes/{node_ident}/bios/{setting_name}',
    since: 40,
    hidden: 'route',
    status: 200,
  },
  {
    id: 'nodes.history',
    method: 'GET',
    path: '/v1/nodes/{node_ident}/history',
    since: 78,
    hidden: 'route',
    query: { detail: arg.boolean, limit: arg.integer, marker: arg.string },
    status: 200,
  },
  {
    id: 'nodes.history.entry',
    method: 'GET',
    path: '/v1/nodes/{node_ident}/history/{event}',
    since: 78,
    hidden: 'route',
    status: 200,
  },
  {
    id: 'nodes.bootDevice.get',
    method: 'GET',
    path: '/v1/nodes/{node_ident}/management/boot_device',
    since: 1,
    status: 200,
  },
  {
    id: 'nodes.bootDevice.set',
    method: 'PUT',
    path: '/v1/nodes/{node_ident}/management/boot_device',
    since: 1,
    body: { args: { boot_device: arg.string, persistent: arg.boolean } },
    required: ['boot_device'],
    status: 204,
  },
  {
    id: 'nodes.bootDevice.supported',
    method: 'GET',
    path: '/v1/nodes/{node_ident}/management/boot_device/supported',
    since: 1,
    status: 200,
  },

  { id: 'ports.list', method: 'GET', path: '/v1/ports', since: 1, query: { ...portFilters, ...selected }, status: 200 },
  { id: 'ports.detail', method: 'GET', path: '/v1/ports/detail', since: 1, query: portFilters, status: 200 },
  {
    id: 'ports.create',
    method: 'POST',
    path: '/v1/ports',
    since: 1,
    body: { document: portSchema, label: 'port' },
    status: 201,
  },
  {
    id: 'ports.get',
    method: 'GET',
    path: '/v1/ports/{port_ident}',
    since: 1,
    query: { fields: arg.list },
    status: 200,
  },
  {
    id: 'ports.patch',
    method: 'PATCH',
    path: '/v1/ports/{port_ident}',
    also: ['/v1/ports'],
    since: 1,
    query: { port_ident: arg.ident },
    required: ['port_ident'],
    body: { document: patchSchema, label: 'patch' },
    status: 200,
  },
  {
    id: 'ports.delete',
    method: 'DELETE',
    path: '/v1/ports/{port_ident}',
    also: ['/v1/ports'],
    since: 1,
    query: { port_ident: arg.ident },
    required: ['port_ident'],
    status: 204,
  },

  {
    id: 'conductors.list',
    method: 'GET',
    path: '/v1/conductors',
    since: 49,
    hidden: 'resource',
    query: { ...paging, ...selected },
    status: 200,
  },
  {
    id: 'conductors.get',
    method: 'GET',
    path: '/v1/conductors/{hostname}',
    since: 49,
    hidden: 'resource',
    query: { fields: arg.list },
    status: 200,
  },

  {
    id: 'lookup',
    method: 'GET',
    path: '/v1/lookup',
    since: 22,
    hidden: 'resource',
    query: { addresses: arg.list, node_uuid: arg.uuid },
    status: 200,
  },
  {
    id: 'heartbeat',
    method: 'POST',
    path: '/v1/heartbeat/{node_ident}',
    also: ['/v1/heartbeat'],
    since: 22,
    hidden: 'resource',
    query: { node_ident: arg.ident },
    required: ['node_ident', 'callback_url'],
    body: {
      args: {
        callback_url: arg.string,
        agent_version: arg.string,
        agent_token: arg.string,
        agent_verify_ca: arg.string,
        agent_status: arg.string,
        agent_status_message: arg.string,
      },
    },
    status: 202,
  },
  {
    // IPA before 1.84 existed calls without any version, which is 1.1; nothing between is served.
    id: 'continueInspection',
    method: 'POST',
    path: '/v1/continue_inspection',
    since: 1,
    query: { node_uuid: arg.uuid },
    body: { document: inspectionDataSchema, label: 'data' },
    status: 202,
  },
] as const satisfies readonly Operation[]

type Row = (typeof IRONIC_OPERATIONS)[number]
export type OperationId = Row['id']
export type OperationOf<Id extends OperationId> = Extract<Row, { id: Id }>

type ArgValue<Schema> = Schema extends { type: 'string' }
  ? string
  : Schema extends { type: 'integer' }
    ? number
    : Schema extends { type: 'boolean' }
      ? boolean
      : Schema extends { type: 'array' }
        ? string[]
        : unknown
type ArgValues<Schemas> = { -readonly [Name in keyof Schemas]?: ArgValue<Schemas[Name]> | null }
type PathNames<Path> = Path extends `${string}{${infer Name}}${infer Rest}` ? Name | PathNames<Rest> : never
type QueryOf<Op> = Op extends { query: infer Query } ? Query : object
type BodyArgsOf<Op> = Op extends { body: { args: infer Args } } ? Args : object

/** The arguments of a call, from its path, query and body, read and checked for their form. */
export type ArgsOf<Op extends { path: string }> = { [Name in PathNames<Op['path']>]: string } & ArgValues<
  Omit<QueryOf<Op>, PathNames<Op['path']>>
> &
  ArgValues<BodyArgsOf<Op>>
