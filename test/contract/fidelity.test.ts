import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { fidelityPage } from '../kit/fidelity/fidelity-page.js'
import { fidelityRows, fidelitySubjects } from '../kit/fidelity/fidelity-rows.js'
import { hasTest } from '../kit/test-titles.js'

const root = new URL('../../', import.meta.url)
const overview = readFileSync(new URL('docs/fidelity.md', root), 'utf8')

// By the whole sentence: `$upstream` would be cut.
test.each(fidelityRows().map((row) => [row.upstream, row.test] as const))(
  'a test shows ours: %s',
  (_, { file, title }) => {
    expect(hasTest(new URL(file, root), title), `${file} has no test "${title}"`).toBe(true)
  },
)

test('no behaviour of upstream has two rows in one subject', () => {
  for (const { title, rows } of fidelitySubjects().values())
    expect(new Set(rows.map(({ upstream, ours }) => `${upstream} ${ours}`)).size, title).toBe(rows.length)
})

describe.each([...fidelitySubjects()])('docs/fidelity/%s.yaml', (name, subject) => {
  test('has only known members', () => {
    const { title, introduction, compared_with, rows, ...others } = subject
    expect(others).toEqual({})
    expect([title, introduction ?? '', compared_with].map((text) => typeof text)).toEqual(Array(3).fill('string'))
    for (const { upstream, ours, switch: restores, test: shown, ...more } of rows) {
      expect({ ...more, ...shown }).toEqual({ file: expect.any(String), title: expect.any(String) })
      for (const text of [upstream, ours, restores ?? '']) expect(text, upstream).not.toMatch(/\n|(?<!\\)\|/)
    }
  })

  test('its page is up to date', () => {
    const page = readFileSync(new URL(`docs/fidelity/${name}.md`, root), 'utf8')
    expect(page, 'npm run docs writes it').toBe(fidelityPage(name, subject))
  })

  test('the overview names it', () => {
    expect(overview).toContain(`- [${subject.title}](fidelity/${name}.md)\n`)
  })
})

test('the suites that the introduction names exist', () => {
  for (const [, path] of overview.matchAll(/`([\w/.-]+\.test\.ts)`/g))
    expect(() => readFileSync(new URL(path!, root)), path).not.toThrow()
})
