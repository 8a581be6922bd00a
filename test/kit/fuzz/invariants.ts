import type { StoreView } from '../../../ironic-mock/index.js'
import { PROVISION_STATES, type WireResponse } from '../../../base/wire/index.js'

/** Defects of an answer to any request. */
export function wrongAnswer({ status, headers, body }: WireResponse): string[] {
  const wrong: string[] = []
  if (status >= 500 || status < 200) wrong.push(`status ${status}: ${body ?? ''}`)
  if (!/^req-[0-9a-f-]{36}$/.test(headers['x-openstack-request-id'] ?? '')) wrong.push('no request id')
  if (body === undefined) return wrong
  let parsed: unknown
  try {
    parsed = JSON.parse(body)
  } catch {
    return [...wrong, `the body is not JSON: ${body.slice(0, 200)}`]
  }
  if (status >= 400 && !isError(parsed)) wrong.push(`not the shape of an error: ${body.slice(0, 200)}`)
  return wrong
}

function isError(body: unknown): boolean {
  const text = (body as { error_message?: unknown } | null)?.error_message
  if (typeof text !== 'string') return false
  const inner = JSON.parse(text) as Record<string, unknown>
  return 'faultstring' in inner || ('code' in inner && 'title' in inner && 'description' in inner)
}

/** Contradictions between the records of a database after any calls. */
export function brokenInvariants({ records }: Pick<StoreView, 'records'>): string[] {
  const broken: string[] = []
  const check = (holds: boolean, what: string) => void (holds || broken.push(what))
  const groups = records.resources('portgroup')
  const chassis = records.resources('chassis')
  const allocations = records.resources('allocation')
  for (const { record: node, columns } of records.nodes.values()) {
    const is = `node ${node.uuid}`
    check((PROVISION_STATES as readonly string[]).includes(node.provision_state), `${is} is ${node.provision_state}`)
    check(columns.uuid === node.uuid && columns.provision_state === node.provision_state, `${is}: columns differ`)
    check(node.name === null || records.nodesByName.get(node.name) === node.uuid, `${is} is not found by its name`)
    check(
      node.instance_uuid === null || records.nodesByInstance.get(node.instance_uuid) === node.uuid,
      `${is} is not found by its instance`,
    )
    check(node.chassis_id === null || chassis.byId(node.chassis_id) !== undefined, `${is} is of a chassis that is gone`)
    const allocation = allocations.byId(node.allocation_id)
    check(node.allocation_id === null || allocation?.node_uuid === node.uuid, `${is} has an allocation that has it not`)
    check(allocation === undefined || allocation.uuid === node.instance_uuid, `${is} has another's allocation`)
    check(node.reservation !== null || !records.effects.has(node.uuid), `${is} has work queued and is not reserved`)
    check(node.reservation === null || records.effects.has(node.uuid), `${is} is reserved, and nobody works on it`)
    check(
      / failed$|error/.test(node.provision_state) ? node.last_error !== null : true,
      `${is} is ${node.provision_state} without an error`,
    )
    check(node.maintenance || node.fault === null, `${is} has a fault and is not in maintenance`)
  }
  for (const port of records.ports.values()) {
    const is = `port ${port.uuid}`
    check(records.nodes.get(port.node_uuid)?.columns.id === port.node_id, `${is} is of a node that is gone`)
    check(records.portsByAddress.get(port.address) === port.uuid, `${is} is not found by its address`)
    check(port.name === null || records.portsByName.get(port.name) === port.uuid, `${is} is not found by its name`)
    const group = groups.byId(port.portgroup_id)
    check(port.portgroup_id === null || group?.node_uuid === port.node_uuid, `${is} is in a portgroup of another node`)
  }
  for (const kind of ['portgroup', 'volume_connector', 'volume_target', 'allocation'] as const)
    for (const { uuid, node_uuid } of records.resources(kind).byUuid.values())
      check(node_uuid === null || records.nodes.has(node_uuid), `${kind} ${uuid} is of a node that is gone`)
  for (const { uuid, id, state, node_uuid, last_error } of allocations.byUuid.values()) {
    const node = records.nodes.get(node_uuid ?? '')?.record
    check(
      (state === 'active') === (node?.allocation_id === id),
      `allocation ${uuid} is ${state}, its node says otherwise`,
    )
    check((state === 'error') === (last_error !== null), `allocation ${uuid} is ${state} with error ${last_error}`)
  }
  return broken
}
