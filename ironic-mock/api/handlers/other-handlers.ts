import { IronicError, ironicErrors } from '../../../base/wire/index.js'
import type { HandlersOf } from '../call.js'

const misplaced = () => {
  throw ironicErrors.malformedUri()
}

export const otherHandlers: HandlersOf<
  | 'shards.list'
  | 'shards.get'
  | 'events.post'
  | 'misplaced.get'
  | 'misplaced.post'
  | 'misplaced.patch'
  | 'misplaced.delete'
> = {
  'misplaced.get': misplaced,
  'misplaced.post': misplaced,
  'misplaced.patch': misplaced,
  'misplaced.delete': misplaced,

  'shards.list': (_, { store }) => {
    const counts = new Map<string, number>()
    for (const { record } of store.records.nodes.values()) {
      // Nodes without a shard count under None, as Python prints it.
      const name = record.shard ?? 'None'
      counts.set(name, (counts.get(name) ?? 0) + 1)
    }
    const shards = [...counts].map(([name, count]) => ({ name, count }))
    return { body: { shards: shards.sort((a, b) => Number(b.name === 'None') - Number(a.name === 'None')) } }
  },
  'shards.get': () => {
    throw new IronicError(404, 'The resource could not be found.')
  },

  // Events do nothing: there is no Neutron whose ports a node could wait for.
  'events.post': () => ({}),
}
