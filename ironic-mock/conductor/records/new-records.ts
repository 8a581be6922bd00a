import { NODE_DEFAULTS, PORT_DEFAULTS, type NodeRecord, type PortRecord } from '../../../base/wire/index.js'
import type { NodeInterfaces } from '../../drivers/hardware-types.js'
import type { NewNode, NewPort } from '../core/conductor.js'

export function makeNodeRecord(
  fields: NewNode,
  interfaces: NodeInterfaces,
  at: string,
  uuid: string,
): Omit<NodeRecord, 'id'> {
  return {
    ...structuredClone(NODE_DEFAULTS),
    ...fields,
    ...interfaces,
    uuid,
    created_at: at,
    updated_at: null,
  }
}

export function newPort(fields: NewPort, nodeId: number, at: string, uuid: string): Omit<PortRecord, 'id'> {
  return {
    ...structuredClone(PORT_DEFAULTS),
    ...fields,
    uuid,
    node_id: nodeId,
    address: fields.address.toLowerCase(),
    created_at: at,
    updated_at: null,
  }
}
