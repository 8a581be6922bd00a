import { execFile } from 'node:child_process'
import { readFile, rm, unlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { sourceCopy } from '../source-copy.js'
import { hasTest } from '../../kit/test-titles.js'
import type { Mutant } from './mutant.js'
import { DESIGN_MUTANTS, FIDELITY_MUTANTS } from './table.js'

/** The tests that docs/design-coverage.md and docs/fidelity/ name notice when what they show is taken away. */

const root = new URL('../../../', import.meta.url).pathname
let tree: string

beforeAll(async () => {
  tree = await sourceCopy()
})
afterAll(() => rm(tree, { recursive: true, force: true }))

/** Exit code of tests of a file in the tree, and what they printed. */
const run = (file: string, ...options: string[]): Promise<{ code: number; printed: string }> =>
  new Promise((resolve) => {
    const args = [join(root, 'node_modules/vitest/vitest.mjs'), 'run', file, ...options]
    execFile(process.execPath, args, { cwd: tree, maxBuffer: 2 ** 26 }, (error, stdout, stderr) => {
      resolve({ code: error ? Number(error.code ?? 1) : 0, printed: stdout + stderr })
    })
  })

/** Runs the tests of a title; where it is a sentence in a larger test, as of a recording that is replayed, the whole file. */
async function runTitled(file: string, title: string): Promise<{ code: number; printed: string }> {
  const parts = title.split(/%[a-z]|\$\w+/).map((text) => text.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&'))
  const named = await run(file, '-t', parts.join('.*'))
  if (/Tests .*\d+ (failed|passed)/.test(named.printed)) return named
  const whole = await run(file)
  expect(whole.printed, 'the failure names the difference').toContain(title)
  return whole
}

/** Ways to fail that show nothing: the mutant cannot be loaded. */
const NO_VERDICT =
  /Hook timed out|Transform failed|Cannot find module|(Syntax|Reference|Type)Error: (?!\.to\w+\(\) expects|fetch failed)/

async function expectNoticed({ file, from, to, hangs = false, test: shown, title }: Mutant): Promise<void> {
  const path = join(tree, file)
  const source = await readFile(path, 'utf8')
  expect(source.split(from), `${file} has the text once`).toHaveLength(2)
  expect(hasTest(new URL(`../../../${shown}`, import.meta.url), title)).toBe(true)
  await unlink(path)
  await writeFile(
    path,
    source.replace(from, () => to),
  )
  try {
    const { code, printed } = await runTitled(shown, title)
    expect(printed).toMatch(/Tests .*\d+ failed/)
    expect(printed).not.toMatch(NO_VERDICT)
    expect(printed.includes('Test timed out'), 'it waits for what never comes').toBe(hangs)
    expect(code).not.toBe(0)
  } finally {
    await writeFile(path, source)
  }
}

test('forty rows of the documents have a mutant', async () => {
  const document = await readFile(join(root, 'docs/design-coverage.md'), 'utf8')
  const rows = new Set(DESIGN_MUTANTS.map(({ row }) => row))
  for (const row of rows) {
    const number = row.slice(0, 3)
    const statement = row.slice(4)
    expect(document, row).toContain(`| ${number} | ${statement}`)
  }
  expect(rows.size).toBeGreaterThanOrEqual(40)
})

// By its whole name: `$row` would be cut.
const NAMED = [...DESIGN_MUTANTS, ...FIDELITY_MUTANTS].map(
  (mutant) => [`${mutant.row}: ${mutant.does}`, mutant] as const,
)

describe.each(NAMED)('%s', (_, mutant) => {
  test(`${mutant.test} "${mutant.title}" fails`, () => expectNoticed(mutant))
})
