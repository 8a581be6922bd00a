import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { hasTest } from '../kit/test-titles.js'

const root = new URL('../../', import.meta.url)
const document = readFileSync(new URL('docs/fidelity.md', root), 'utf8')

/** Rows of the tables, as cells. */
const rows = document
  .split('\n')
  .filter((line) => /^\| (?!Upstream|Real)/.test(line))
  .map((line) => line.slice(2, -2).split(' | '))

test('every row has its four cells', () => {
  expect(rows.length).toBeGreaterThan(50)
  for (const row of rows) expect(row, row[0]).toHaveLength(4)
})

test.each(rows.map(([upstream, , , shown]) => [upstream!, shown!]))('a test shows ours: %s', (_, shown) => {
  const [, path, title] = /^`([^`]+)` "(.+)"$/.exec(shown) ?? []
  expect(path, shown).toBeDefined()
  expect(hasTest(new URL(path!, root), title!), `${path} has no test "${title}"`).toBe(true)
})

test('the suites that the introduction names exist', () => {
  for (const [, path] of document.matchAll(/`([\w/.-]+\.test\.ts)`/g))
    expect(() => readFileSync(new URL(path!, root)), path).not.toThrow()
})
