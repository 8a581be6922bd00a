import { expect, test } from 'vitest'
import { MAX_SAVED_VIEWS, readSavedViews, withoutView, withView } from './saved-views.js'

const FAILED = { name: 'failed', hash: '#/fleet?error=any' }

test('a view is kept under its name, and one of the same name is replaced', () => {
  const views = withView(withView([FAILED], { name: 'table', hash: '#/fleet?as=table' }), {
    name: ' failed ',
    hash: '#/fleet?state=error',
  })
  expect(views).toEqual([
    { name: 'table', hash: '#/fleet?as=table' },
    { name: 'failed', hash: '#/fleet?state=error' },
  ])
  expect(readSavedViews(JSON.stringify(views))).toEqual(views)
  expect(withoutView(views, 'table')).toHaveLength(1)
})

test.each([
  ['', /name the view/],
  ['   ', /name the view/],
  ['x'.repeat(61), /at most 60 characters/],
])('the name %j is refused', (name, problem) => {
  expect(() => withView([], { name, hash: '#/fleet' })).toThrow(problem)
})

test('there is a limit to views and to their addresses', () => {
  const many = Array.from({ length: MAX_SAVED_VIEWS }, (_, index) => ({ name: `v${index}`, hash: '#/fleet' }))
  expect(() => withView(many, FAILED)).toThrow(/remove one first/)
  expect(withView(many, { name: 'v3', hash: '#/faults' })).toHaveLength(MAX_SAVED_VIEWS)
  expect(() => withView([], { name: 'a', hash: `#/fleet?text=${'x'.repeat(3000)}` })).toThrow(/too long/)
})

test.each([
  null,
  '',
  'no JSON',
  '{}',
  '[null, 1, "a", {}]',
  '[{"name":"a"}]',
  '[{"name":"","hash":"#/fleet"}]',
  '[{"name":"a","hash":"javascript:alert(1)"}]',
  '[{"name":"a","hash":"https://example.com/#/fleet"}]',
])('what is stored and is no view is left out: %s', (text) => {
  expect(readSavedViews(text)).toEqual([])
})
