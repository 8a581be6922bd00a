import { ironicErrors, IronicError, traitSchema } from '../../../base/wire/index.js'
import type { HandlersOf } from '../call.js'
import { findCallNode } from '../nodes/find-node.js'
import { checkDocument } from '../api-schema.js'

/** Most traits of a node. */
const MAX_TRAITS = 50

export const traitHandlers: HandlersOf<'nodes.traits' | 'nodes.traits.set' | 'nodes.traits.remove'> = {
  'nodes.traits': async (call, backend) => {
    const { traits } = findCallNode(call, backend, call.args.node_ident)
    return { body: { traits } }
  },

  'nodes.traits.set': async (call, backend) => {
    const { node_ident: ident, trait } = call.args
    const { traits } = call.document
    if (trait != null) checkDocument(traitSchema, 'trait', trait)
    const found = findCallNode(call, backend, ident)
    if ((trait != null) === (traits !== undefined)) throw ironicErrors.oneTraitOrAll()
    if (trait != null && Object.keys(call.document).length > 0) throw ironicErrors.traitWithBody()
    backend.conductor.askNode(found.uuid)
    await backend.conductor.updateNode(found.uuid, (node) => {
      const wanted = new Set(trait == null ? traits : [...node.traits, trait])
      if (wanted.size > MAX_TRAITS) throw ironicErrors.tooManyTraits(node.id, wanted.size, MAX_TRAITS)
      return { traits: [...wanted].sort() }
    })
    return trait == null ? {} : { location: call.links.href(`nodes/${ident}/traits/${trait}`) }
  },

  'nodes.traits.remove': async (call, backend) => {
    const { node_ident: ident, trait } = call.args
    const found = findCallNode(call, backend, ident)
    backend.conductor.askNode(found.uuid)
    await backend.conductor.updateNode(found.uuid, ({ uuid, traits }) => {
      if (trait == null) return { traits: [] }
      if (!traits.includes(trait)) throw new IronicError(404, `Node ${uuid} doesn't have a trait '${trait}'`)
      return { traits: traits.filter((each) => each !== trait) }
    })
    return {}
  },
}
