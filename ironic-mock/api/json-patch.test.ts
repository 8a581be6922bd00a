import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { PatchOperation } from '../../base/wire/index.js'
import { applyPatch } from './json-patch.js'

const document = () => ({ extra: { deep: { a: { b: 1 } }, list: [1, 2] }, name: 'x', properties: {} })

test.each<[string, PatchOperation[], unknown]>([
  ['add makes or replaces', [{ op: 'add', path: '/extra/x', value: 1 }], { extra: { ...document().extra, x: 1 } }],
  [
    'replace',
    [{ op: 'replace', path: '/extra/deep/a/b', value: 2 }],
    { extra: { deep: { a: { b: 2 } }, list: [1, 2] } },
  ],
  ['remove', [{ op: 'remove', path: '/extra/deep/a/b' }], { extra: { deep: { a: {} }, list: [1, 2] } }],
  [
    'append to a list',
    [{ op: 'add', path: '/extra/list/-', value: 3 }],
    { extra: { ...document().extra, list: [1, 2, 3] } },
  ],
  [
    'insert into a list',
    [{ op: 'add', path: '/extra/list/0', value: 0 }],
    { extra: { ...document().extra, list: [0, 1, 2] } },
  ],
  [
    'one after another',
    [
      { op: 'add', path: '/extra', value: {} },
      { op: 'add', path: '/extra/a', value: 1 },
      { op: 'replace', path: '/extra/a', value: 2 },
    ],
    { extra: { a: 2 } },
  ],
])('%s', (_, patch, changed) => {
  expect(applyPatch(document(), patch)).toEqual({ ...document(), ...(changed as object) })
})

test('a removed root attribute is gone from the document', () => {
  expect(applyPatch(document(), [{ op: 'remove', path: '/name' }])).not.toHaveProperty('name')
})

test.each<[PatchOperation, string]>([
  [
    { op: 'remove', path: '/extra/nosuch' },
    `Couldn't apply patch '{'op': 'remove', 'path': '/extra/nosuch'}'. Reason: can't remove a non-existent object 'nosuch'`,
  ],
  [
    { op: 'replace', path: '/properties/root_device', value: { serial: 'X' } },
    `Couldn't apply patch '{'op': 'replace', 'path': '/properties/root_device', 'value': {'serial': 'X'}}'. Reason: can't replace a non-existent object 'root_device'`,
  ],
  [
    { op: 'add', path: '/extra/x' },
    `Couldn't apply patch '{'op': 'add', 'path': '/extra/x'}'. Reason: The operation does not contain a 'value' member`,
  ],
  [
    { op: 'add', path: '/properties/a/b', value: true },
    `Couldn't apply patch '{'op': 'add', 'path': '/properties/a/b', 'value': True}'. Reason: member 'a' not found in {}`,
  ],
])('%j is refused in the recorded words', (operation, sentence) => {
  expect(() => applyPatch(document(), [operation])).toThrow(sentence)
})

describe('any patch', () => {
  const key = fc.constantFrom('extra', 'deep', 'a', 'b', 'list', '0', '1', '-', 'name', '__proto__', 'constructor')
  const operation = fc.record(
    {
      op: fc.constantFrom('add' as const, 'replace' as const, 'remove' as const),
      path: fc.array(key, { minLength: 1, maxLength: 4 }).map((keys) => `/${keys.join('/')}`),
      value: fc.jsonValue(),
    },
    { requiredKeys: ['op', 'path'] },
  )

  test('leaves the original document unchanged, and fails with a 400', () => {
    fc.assert(
      fc.property(fc.array(operation, { maxLength: 5 }), (patch) => {
        const original = document()
        try {
          applyPatch(original, patch)
        } catch (error) {
          expect(error).toMatchObject({ status: 400 })
        }
        expect(original).toEqual(document())
        expect(({} as Record<string, unknown>).polluted).toBeUndefined()
      }),
    )
  })

  test('adds its value', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        expect(JSON.stringify(applyPatch(document(), [{ op: 'add', path: '/extra/new', value }]))).toContain(
          `"new":${JSON.stringify(value)}`,
        )
      }),
    )
  })
})
