import { literalPattern } from '../../../base/runtime/index.js'
import {
  formatMicroversion,
  ironicErrors,
  IronicError,
  PROVISION_STATES,
  type NodeFault,
  type Microversion,
  type NodeRecord,
  type ProvisionState,
} from '../../../base/wire/index.js'
import type { NodeQuery } from '../../store/store.js'
import type { Backend, IronicApiCall } from '../call.js'
import type { PagingArgs } from '../listing.js'

/** The query arguments of `GET /v1/nodes` that choose nodes. */
export interface NodeFilters extends PagingArgs {
  chassis_uuid?: string | null
  instance_uuid?: string | null
  associated?: boolean | null
  maintenance?: boolean | null
  retired?: boolean | null
  provision_state?: string | null
  driver?: string | null
  resource_class?: string | null
  fault?: string | null
  conductor_group?: string | null
  conductor?: string | null
  owner?: string | null
  description_contains?: string | null
  lessee?: string | null
  project?: string | null
  shard?: string[] | null
  sharded?: boolean | null
  include_children?: boolean | null
  parent_node?: string | null
  instance_name?: string | null
}

const SINCE_FILTER: Partial<Record<keyof NodeFilters, Microversion>> = {
  driver: 16,
  resource_class: 21,
  fault: 42,
  conductor_group: 46,
  conductor: 49,
  owner: 50,
  lessee: 65,
  shard: 82,
  sharded: 82,
  include_children: 83,
  parent_node: 83,
}
const FAULTS: readonly NodeFault[] = ['power failure', 'clean failure', 'rescue abort failure', 'service failure']

/** Pattern that finds a part of a text as SQL's LIKE does: `%` and `_` are wildcards, and case is ignored. */
function like(part: string): RegExp {
  const pattern = literalPattern(part).replaceAll('%', '.*').replaceAll('_', '.')
  return new RegExp(pattern, 'is')
}

/**
 * Query of a list of nodes. Children of other nodes are hidden unless requested.
 *
 * @throws IronicError 400 for impossible values, 406 for filters newer than the client
 */
export async function nodeQuery(call: IronicApiCall<NodeFilters>, { conductor, store }: Backend): Promise<NodeQuery> {
  const { args, version } = call
  for (const [name, since] of Object.entries(SINCE_FILTER))
    if (args[name as keyof NodeFilters] != null && version < since)
      throw ironicErrors.notAcceptable(formatMicroversion(since))
  const state = args.provision_state
  if (state != null && version < 9) throw ironicErrors.notAcceptable()
  if (args.instance_name != null && version < 104)
    throw new IronicError(406, 'instance_name is not acceptable in this API version')
  if (state != null && !(PROVISION_STATES as readonly string[]).includes(state))
    throw ironicErrors.unknownProvisionState(state)
  if (args.fault != null && !(FAULTS as readonly string[]).includes(args.fault))
    throw ironicErrors.unknownFault(args.fault)

  const conditions: ((node: NodeRecord) => boolean)[] = []
  const matches = <Name extends keyof NodeFilters>(
    name: Name,
    test: (node: NodeRecord, value: NonNullable<NodeFilters[Name]>) => boolean,
  ) => {
    const value = args[name]
    if (value != null) conditions.push((node) => test(node, value))
  }
  matches('associated', (node, yes) => (node.instance_uuid !== null) === yes)
  matches('maintenance', (node, yes) => node.maintenance === yes)
  matches('retired', (node, yes) => node.retired === yes)
  matches('resource_class', (node, value) => node.resource_class === value)
  matches('fault', (node, value) => node.fault === value)
  // Groups are compared in lower case.
  matches('conductor_group', (node, value) => node.conductor_group === value.toLowerCase())
  matches('conductor', (node, host) => conductor.holderOf(node) === host)
  matches('owner', (node, value) => node.owner === value)
  matches('lessee', (node, value) => node.lessee === value)
  matches('project', (node, value) => node.owner === value || node.lessee === value)
  matches('description_contains', (node, value) => node.description !== null && like(value).test(node.description))
  // Upstream reads lists of a query in lower case.
  matches('shard', (node, shards) => node.shard !== null && shards.includes(node.shard))
  matches('sharded', (node, yes) => (node.shard !== null) === yes)
  matches('instance_name', (node, value) => node.instance_name === value)
  if (args.chassis_uuid != null) {
    const chassis = store.records.resources('chassis').byUuid.get(args.chassis_uuid)
    if (!chassis) throw ironicErrors.chassisNotFound(args.chassis_uuid, 404)
    conditions.push((node) => node.chassis_id === chassis.id)
  }
  if (args.parent_node != null) {
    // Upstream compares uuids only: a name finds nothing.
    const parent = args.parent_node
    conditions.push((node) => node.parent_node === parent)
  } else if (!args.include_children) conditions.push((node) => node.parent_node === null)

  const query: NodeQuery = { where: (node) => conditions.every((condition) => condition(node)) }
  if (state != null) query.provision_state = state as ProvisionState
  if (args.driver != null) query.driver = args.driver
  if (args.instance_uuid != null) query.instance_uuid = args.instance_uuid
  return query
}
