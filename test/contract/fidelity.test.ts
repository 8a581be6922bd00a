import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { FIDELITY_ROWS } from '../kit/fidelity-rows.js'
import { hasTest } from '../kit/test-titles.js'

const root = new URL('../../', import.meta.url)

test('every row has its four cells', () => {
  expect(FIDELITY_ROWS.length).toBeGreaterThan(50)
  for (const { cells, upstream } of FIDELITY_ROWS) expect(cells, upstream).toHaveLength(4)
})

test.each(FIDELITY_ROWS.map((row) => [row.upstream, row] as const))('a test shows ours: %s', (_, row) => {
  const { cells, test: path, title } = row
  expect(path, cells[3]).toBeDefined()
  expect(hasTest(new URL(path!, root), title!), `${path} has no test "${title}"`).toBe(true)
})

test('the suites that the introduction names exist', () => {
  const document = readFileSync(new URL('docs/fidelity.md', root), 'utf8')
  for (const [, path] of document.matchAll(/`([\w/.-]+\.test\.ts)`/g))
    expect(() => readFileSync(new URL(path!, root)), path).not.toThrow()
})
