import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { NodeRecord, ProvisionState } from '../../base/wire/index.js'
import { node } from '../../test/kit/store-records.js'
import { NodeEntry, Records } from './record-store.js'

const STATES: readonly ProvisionState[] = ['enroll', 'available', 'deploying', 'clean wait']

const change = fc.record({
  uuid: fc.constantFrom('a', 'b', 'c'),
  state: fc.option(fc.constantFrom(...STATES), { nil: null }),
})

test('nodes are found by their state, after all changes, removals and copies', () => {
  fc.assert(
    fc.property(fc.array(change), fc.array(change), (before, after) => {
      const original = new Records()
      for (const each of before) apply(original, each)
      const copy = new Records(original)
      for (const each of after) apply(copy, each)
      for (const records of [original, copy])
        for (const state of STATES) {
          const wanted = [...records.nodes.values()].filter(({ columns }) => columns.provision_state === state)
          expect([...records.nodesIn(state)].toSorted()).toEqual(wanted.map(({ columns }) => columns.uuid).toSorted())
        }
    }),
  )
})

function apply(records: Records, { uuid, state }: { uuid: string; state: ProvisionState | null }): void {
  if (state === null) return records.dropNode(uuid)
  const record = { ...node(uuid, { provision_state: state }), id: 1 } as NodeRecord
  records.putNode(NodeEntry.of(record, 1))
}
