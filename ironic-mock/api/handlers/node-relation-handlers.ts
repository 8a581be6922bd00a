import { ironicErrors } from '../../../base/wire/index.js'
import type { HandlersOf } from '../call.js'
import { findCallNode } from '../nodes/find-node.js'
import { isLogicalName, isUuid } from '../formats.js'

const PORT_OF_VIF = 67

function checkId(name: string, id: string): void {
  if (!isUuid(id) && !isLogicalName(id)) throw ironicErrors.expected('UUID or name', name, id)
}

/** Handlers of a node's virtual interfaces and child nodes. */
export const relationHandlers: HandlersOf<'nodes.vifs' | 'nodes.vifs.attach' | 'nodes.vifs.detach' | 'nodes.children'> =
  {
    'nodes.vifs': async (call, backend) => {
      const { uuid } = findCallNode(call, backend, call.args.node_ident)
      return { body: { vifs: await backend.conductor.network.vifs(uuid) } }
    },
    'nodes.vifs.attach': async (call, backend) => {
      const vif = call.document
      checkId('id', vif.id)
      const { uuid } = findCallNode(call, backend, call.args.node_ident)
      if (call.version >= PORT_OF_VIF && 'port_uuid' in vif && 'portgroup_uuid' in vif)
        throw ironicErrors.portAndPortgroup()
      await backend.conductor.network.attachVif(uuid, vif)
      return {}
    },
    'nodes.vifs.detach': async (call, backend) => {
      const { node_ident: ident, vif_id: id } = call.args
      checkId('vif_id', id)
      const { uuid } = findCallNode(call, backend, ident)
      await backend.conductor.network.detachVif(uuid, id)
      return {}
    },

    'nodes.children': async (call, backend) => {
      const { uuid } = findCallNode(call, backend, call.args.node_ident)
      const children = await backend.store.nodes({ where: (node) => node.parent_node === uuid })
      return {
        body: {
          children: children.map((child) => child.uuid),
          links: { href: call.links.href(`nodes?parent_node=${uuid}`), rel: 'children' },
        },
      }
    },
  }
