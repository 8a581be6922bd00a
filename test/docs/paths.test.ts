import { existsSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'

const root = fileURLToPath(new URL('../..', import.meta.url))

test.each(['docs/architecture.md', 'CONTRIBUTING.md'])('every path that %s names is there', (document) => {
  const paths = [...readFileSync(root + document, 'utf8').matchAll(/`([\w.-]+\/[\w./-]*\w)`/g)].map(([, path]) => path!)
  const named = paths.filter((path) => /\.(ts|md|js)$/.test(path))
  expect(named.length).toBeGreaterThan(5)
  expect(named.filter((path) => !existsSync(root + path))).toEqual([])
})
