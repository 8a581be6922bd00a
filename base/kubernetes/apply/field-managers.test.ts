import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { gadgetDefinition } from '../../../test/kit/cluster/gadget-definition.js'
import { definedKind } from '../crds/defined-kind.js'
import type { JsonMembers, KubeJson } from '../kube-json.js'
import type { ManagedFieldsEntry } from '../object.js'
import { appliedTo, managersAfterUpdate } from './field-managers.js'
import { FieldSet } from './field-set.js'
import { objectShape } from './field-shape.js'

/** Rules of server-side apply that hold for every object. */

const entry = definedKind(gadgetDefinition().spec as never)
const shape = objectShape(entry, entry.storage)

const scalar = fc.constantFrom<KubeJson>(1, 2, 'a', 'b', true)
const map = fc.dictionary(fc.constantFrom('x', 'y', 'z'), scalar, { maxKeys: 3 })
const part = fc.record(
  { name: fc.constantFrom('p', 'q', 'r'), count: fc.integer({ max: 3, min: 0 }) },
  { requiredKeys: ['name'] },
)
const spec = fc.record(
  {
    size: fc.integer({ min: 1, max: 3 }),
    colour: fc.constantFrom('red', 'blue'),
    free: map,
    parts: fc.uniqueArray(part, { selector: ({ name }) => name, maxLength: 3 }),
    tags: fc.uniqueArray(fc.constantFrom('s', 't', 'u'), { maxLength: 3 }),
  },
  { requiredKeys: [] },
)
const object = fc
  .record({ spec, labels: fc.dictionary(fc.constantFrom('l', 'm'), fc.constantFrom('1', '2')) })
  .map(({ spec: own, labels }): JsonMembers => ({
    apiVersion: 'example.com/v1',
    kind: 'Gadget',
    metadata: { name: 'one', labels },
    spec: own as JsonMembers,
  }))

const writer = (manager: string, operation: 'Apply' | 'Update' = 'Apply') => ({
  manager,
  operation,
  apiVersion: 'example.com/v1',
  time: '2026-01-01T00:00:00Z',
})
const withManagers = (one: JsonMembers, managers: ManagedFieldsEntry[]): JsonMembers => ({
  ...one,
  metadata: { ...(one['metadata'] as JsonMembers), managedFields: managers as unknown as KubeJson },
})
const apply = (live: JsonMembers | undefined, applied: JsonMembers, manager: string, isForced = false): JsonMembers => {
  const { object: made, managers } = appliedTo(live, applied, shape, { ...writer(manager), isForced })
  return withManagers(made, managers)
}
const update = (live: JsonMembers, after: JsonMembers, manager: string): JsonMembers =>
  withManagers(after, managersAfterUpdate(live, after, shape, writer(manager, 'Update')))

const bare: JsonMembers = { apiVersion: 'example.com/v1', kind: 'Gadget', metadata: { name: 'one' } }
const fieldsOfManager = ({ metadata }: JsonMembers, manager: string): FieldSet => {
  const entries = ((metadata as JsonMembers)['managedFields'] ?? []) as unknown as ManagedFieldsEntry[]
  return FieldSet.read(entries.find((each) => each.manager === manager)?.fieldsV1)
}
/** Lists with keys, and sets, without their order. */
const sorted = (value: KubeJson | undefined): KubeJson | undefined => {
  if (Array.isArray(value))
    return (value as KubeJson[])
      .map((each) => sorted(each)!)
      .sort((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value)
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([name, each]) => [name, sorted(each)!]),
  )
}

describe('server-side apply', () => {
  test('a set of fields is read as it was written', () => {
    const paths = fc.array(
      fc.array(fc.constantFrom('f:a', 'f:b', 'k:{"name":"x"}', 'v:1'), { minLength: 1, maxLength: 4 }),
    )
    fc.assert(
      fc.property(paths, (some) => {
        const set = FieldSet.of(some)
        expect(FieldSet.read(set.write()).isSame(set)).toBe(true)
      }),
    )
  })

  test('applied again, nothing changes', () => {
    fc.assert(
      fc.property(object, object, (live, applied) => {
        const once = apply(update(bare, live, 'other'), applied, 'a', true)
        expect(apply(once, applied, 'a')).toEqual(once)
      }),
    )
  })

  test('forced, an object has all that is applied, and its manager owns it', () => {
    fc.assert(
      fc.property(object, object, (live, applied) => {
        const after = apply(update(bare, live, 'other'), applied, 'a', true)
        expect(sorted(apply(after, applied, 'b')['spec'])).toEqual(sorted(after['spec']))
        const shared = fieldsOfManager(apply(after, applied, 'b'), 'b')
        expect(shared.isSame(fieldsOfManager(after, 'a'))).toBe(true)
      }),
    )
  })

  test('what a manager gives up goes, and nothing else', () => {
    fc.assert(
      fc.property(object, object, (live, applied) => {
        const before = apply(bare, live, 'other')
        try {
          const after = apply(apply(before, applied, 'a'), bare, 'a')
          expect(sorted(after['spec'])).toEqual(sorted(before['spec']))
          expect(fieldsOfManager(after, 'a').isEmpty).toBe(true)
        } catch (error) {
          expect(String(error)).toMatch(/^KubeRefusal: Apply failed with .* with "other"/)
        }
      }),
    )
  })

  test('there is a conflict exactly where a field of another would get another value', () => {
    fc.assert(
      fc.property(object, object, (live, applied) => {
        const before = update(bare, live, 'other')
        const forced = apply(before, applied, 'a', true)
        const lost = fieldsOfManager(before, 'other').without(fieldsOfManager(forced, 'other'))
        const attempt = (): unknown => apply(before, applied, 'a')
        if (lost.isEmpty) expect(attempt()).toEqual(forced)
        else expect(attempt).toThrow(/^Apply failed with/)
      }),
    )
  })

  test('fields that an update changes are its own, and nobody else’s', () => {
    fc.assert(
      fc.property(object, object, (live, after) => {
        const changed = update(apply(bare, live, 'a'), after, 'editor')
        const own = fieldsOfManager(changed, 'editor')
        expect(own.intersection(fieldsOfManager(changed, 'a')).isEmpty).toBe(true)
        const attempt = (): JsonMembers => apply(changed, after, 'a')
        expect(sorted(attempt()['spec'])).toEqual(sorted(after['spec']))
      }),
    )
  })

  test('of more than ten updaters the oldest are one', () => {
    let live = bare
    for (let number = 0; number < 14; number++) {
      const after = { ...live, spec: { ...(live['spec'] as JsonMembers | undefined), [`field${number}`]: number } }
      live = update(live, after, `editor-${number}`)
    }
    const { managedFields } = live['metadata'] as unknown as { managedFields: ManagedFieldsEntry[] }
    expect(managedFields).toHaveLength(10)
    expect(managedFields.map(({ manager }) => manager)).toContain('ancient-changes')
  })
})
