import { execFile } from 'node:child_process'
import { readFile, rm, unlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { sourceCopy } from '../source-copy.js'
import { hasTest } from '../../kit/test-titles.js'
import { MUTANTS } from './table.js'

/** The tests that docs/design-coverage.md names notice when what they show is taken away. */

const root = new URL('../../../', import.meta.url).pathname
let tree: string

beforeAll(async () => {
  tree = await sourceCopy()
})
afterAll(() => rm(tree, { recursive: true, force: true }))

/** Exit code of one test in the tree, and what it printed. */
const run = (file: string, title: string): Promise<{ code: number; printed: string }> =>
  new Promise((resolve) => {
    const pattern = title.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&').replaceAll(/%[sjd]/g, '.*')
    const args = [join(root, 'node_modules/vitest/vitest.mjs'), 'run', file, '-t', pattern]
    execFile(process.execPath, args, { cwd: tree, maxBuffer: 2 ** 26 }, (error, stdout, stderr) => {
      resolve({ code: error ? Number(error.code ?? 1) : 0, printed: stdout + stderr })
    })
  })

test('forty rows of the documents have a mutant', async () => {
  const document = await readFile(join(root, 'docs/design-coverage.md'), 'utf8')
  const rows = new Set(MUTANTS.map(({ row }) => row))
  for (const row of rows) {
    const number = row.slice(0, 3)
    const statement = row.slice(4)
    expect(document, row).toContain(`| ${number} | ${statement}`)
  }
  expect(rows.size).toBeGreaterThanOrEqual(40)
})

describe.each(MUTANTS)('$row: $does', ({ file, from, to, test: shown, title }) => {
  test(`${shown} "${title}" fails`, async () => {
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
      const { code, printed } = await run(shown, title)
      expect(printed).toMatch(/Tests .*\d+ failed/)
      expect(code).not.toBe(0)
    } finally {
      await writeFile(path, source)
    }
  })
})
