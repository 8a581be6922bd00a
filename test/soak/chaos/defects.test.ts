import { execFile } from 'node:child_process'
import { readFile, rm, unlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { ChaosReport } from '../../../lab/index.js'
import { sourceCopy } from '../source-copy.js'
import { DEFECTS } from './defects.js'

/** Chaos finds defects that are planted into a copy of the sources, and says which faults show them. */

let tree: string
beforeAll(async () => {
  tree = await sourceCopy()
})
afterAll(() => rm(tree, { recursive: true, force: true }))

/** Plays seeds in the tree until one fails. */
const hunt = (found: string): Promise<string> =>
  new Promise((resolve) => {
    const args = ['node_modules/vitest/vitest.mjs', 'run', '--config', 'test/soak/vitest.config.ts']
    const env = { ...process.env, CHAOS_FOUND: found, CHAOS_SEEDS: '200' }
    execFile(
      process.execPath,
      [...args, 'test/soak/chaos/hunt.test.ts'],
      { cwd: tree, env, maxBuffer: 2 ** 26 },
      (_, stdout, stderr) => resolve(stdout + stderr),
    )
  })

describe.each(DEFECTS)('$does', ({ file, from, to, invariants }) => {
  test(`is found, and shrinks to three faults at most: ${invariants.join(' or ')}`, async () => {
    const path = join(tree, file)
    const found = join(tree, 'found.json')
    const source = await readFile(path, 'utf8')
    expect(source.split(from), `${file} has the text once`).toHaveLength(2)
    await rm(found, { force: true })
    await unlink(path)
    await writeFile(
      path,
      source.replace(from, () => to),
    )
    try {
      const printed = await hunt(found)
      const shortest = JSON.parse(await readFile(found, 'utf8').catch(() => 'null')) as ChaosReport['shortest']
      expect(shortest, printed).not.toBeNull()
      expect(invariants).toContain(shortest!.violation.invariant)
      expect(shortest!.plan.faults.length).toBeLessThanOrEqual(3)
      expect(shortest!.plan.nodes).toHaveLength(1)
    } finally {
      await writeFile(path, source)
    }
  })
})
