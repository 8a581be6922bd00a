import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { ONLY_NAMED, ROWS } from '../bench/rows.js'

const page = readFileSync(new URL('../../docs/performance.md', import.meta.url), 'utf8')

test('docs/performance.md lists every benchmark with all its rows', () => {
  const listed = [...page.matchAll(/^- `([\w-]+)`(?: \((only when named)\))?: ((?:.|\n {2})*)/gm)].map(
    ([, name, named, rows]) => ({ name, named: named !== undefined, rows: rows!.split(/;\s+/).map(oneLine) }),
  )
  const wanted = Object.entries(ROWS).map(([name, rows]) => ({
    name,
    named: (ONLY_NAMED as string[]).includes(name),
    rows: [...rows],
  }))
  // A quick look is named by the benchmarks that its rows are taken from.
  const apartFromQuick = (benchmarks: { name: string | undefined }[]) =>
    benchmarks.filter(({ name }) => name !== 'quick')
  expect(apartFromQuick(listed)).toEqual(apartFromQuick(wanted))
  expect(listed.map(({ name }) => name)).toContain('quick')
})

test('the benchmarks that docs/performance.md tells to run exist', () => {
  const names = [...page.matchAll(/npm run bench -- ([a-z-]+)/g)].map(([, name]) => name!)
  expect(names.length).toBeGreaterThan(0)
  expect(names.filter((name) => !Object.hasOwn(ROWS, name))).toEqual([])
})

const oneLine = (text: string): string => text.replace(/\s+/g, ' ').trim()
