import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { hasTest } from '../kit/test-titles.js'

const root = new URL('../../', import.meta.url)
const document = readFileSync(new URL('docs/design-coverage.md', root), 'utf8')
const [covered = '', out = ''] = document.split('\n## Out of scope\n')

const rowsOf = (text: string): string[][] =>
  text
    .split('\n')
    .filter((line) => /^\| \d{3} \|/.test(line))
    .map((line) => line.slice(2, -2).split(' | '))

const rows = rowsOf(covered)

test('all five documents are covered, and every row has its five cells', () => {
  expect(new Set(rows.map(([number]) => number))).toEqual(new Set(['000', '001', '002', '003', '004']))
  for (const row of rows) expect(row, row[1]).toHaveLength(5)
})

test('a statement is there once', () => {
  const statements = [...rows, ...rowsOf(out)].map(([number, statement]) => `${number} ${statement}`)
  expect(statements.filter((one, index) => statements.indexOf(one) !== index)).toEqual([])
})

test.each(rows.map(([number, statement, , shown]) => [`${number} ${statement}`, shown!]))('shown: %s', (_, shown) => {
  const named = [...shown.matchAll(/`([^`]+)` "([^"]+)"/g)]
  expect(named.length, shown).toBeGreaterThan(0)
  for (const [, path, title] of named)
    expect(hasTest(new URL(path!, root), title!), `${path} has no test "${title}"`).toBe(true)
})

test('every row says whether the systems of today do so', () => {
  for (const [, statement, , , today = ''] of rows) expect(today.length, statement).toBeGreaterThan(5)
})

test('operations out of scope have a reason', () => {
  expect(rowsOf(out).length).toBeGreaterThan(0)
  for (const row of rowsOf(out)) expect(row, row[1]).toHaveLength(3)
})
