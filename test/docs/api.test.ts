import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { docOf, packageApi, problemsOf, unnamedTypes } from '../kit/api/package-api.js'
import { apiReport } from '../kit/api/report.js'

const api = packageApi()
const titleOf = ({ entry, name }: { entry: string; name: string }) => `${entry} ${name}`

test('the package has seven entries, each with exports', () => {
  expect([...new Set(api.exports.map(({ entry }) => entry))]).toEqual([
    'ironstage',
    'ironstage/steps',
    'ironstage/ignition',
    'ironstage/coreos',
    'ironstage/control',
    'ironstage/msw',
    'ironstage/vitest',
  ])
})

test('docs/api.md shows the declarations that are built; npm run docs writes it', async () => {
  const committed = readFileSync(new URL('../../docs/api.md', import.meta.url), 'utf8')
  expect(await apiReport(api)).toBe(committed)
})

test('docs/api.md has the docstring, the parameters and the example of each export', async () => {
  const report = await apiReport(api)
  const [, machineSpec = ''] = report.split('\n### defaultMachineSpec\n')
  expect(machineSpec.split('\n### ')[0]).toMatch(
    /^\n[A-Z][^]*\n- `n`: [^]*```ts\nfunction defaultMachineSpec\([^]*Example:\n\n```ts/,
  )
  // Members keep their comments; those of the exports themselves stand above.
  expect(report).toContain('/** `usage` errors end a command with exit code 2, `failure` with 1. */')
  expect(report).not.toMatch(/```ts\n\/\*\*/)
})

test('every type that an export takes or returns can be imported from an entry', () => {
  expect(unnamedTypes(api)).toEqual([])
})

test('every export has a docstring, and every value an example', () => {
  const without = api.exports.filter((one) => {
    const { text, examples } = docOf(api, one)
    return text === '' || (one.isValue && examples.length === 0)
  })
  expect(without.map(titleOf)).toEqual([])
})

test('the examples of all exports compile', () => {
  const examples = api.exports.flatMap((one) => docOf(api, one).examples.map((text) => ({ name: titleOf(one), text })))
  expect(examples.length).toBeGreaterThan(20)
  expect(problemsOf(api, examples)).toEqual([])
})

test('an example that does not compile is noticed', () => {
  const name = 'ironstage createLab'
  const text = "import { createLab } from 'ironstage'\nawait createLab({ seed: 'seven' })"
  expect(problemsOf(api, [{ name, text }])).toEqual([
    expect.stringMatching(/^ironstage createLab: .*seven|No overload/),
  ])
})
