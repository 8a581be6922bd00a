import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { beforeAll, expect, test } from 'vitest'
import { cachedPeer } from '../peer-cache.js'
import { tool } from '../peers.js'

/** Versions of Node.js besides the one that runs this. */
const VERSIONS = ['22.23.3', '24.9.0']

const run = promisify(execFile)
const PROGRAM = fileURLToPath(new URL('../peers/lifecycles.mjs', import.meta.url))
const BUNDLE = fileURLToPath(new URL('../../../dist/bundle/index.js', import.meta.url))

/** Installs a version of Node.js from the npm package `node`. */
const nodeOf = async (version: string): Promise<string> => {
  const folder = await cachedPeer(`node-${version}`, async (building) => {
    const argv = ['install', '--prefix', building, '--no-audit', '--no-fund', `node@${version}`]
    const { code, stderr } = await tool('npm', ...argv)
    expect(code, stderr).toBe(0)
    return join(building, 'node_modules/node')
  })
  return join(folder, 'bin/node')
}

const nodes = new Map<string, string>()
beforeAll(async () => {
  for (const version of VERSIONS) nodes.set(version, await nodeOf(version))
}, 600_000)

async function journalBy(node: string, seed: number): Promise<string> {
  const { stdout } = await run(node, [PROGRAM, BUNDLE, String(seed)], { maxBuffer: 2 ** 28 })
  return stdout
}

test.each([1, 2, 3])('seed %i gives the same journal on every version of Node.js, to the byte', async (seed) => {
  const journal = await journalBy(process.execPath, seed)
  expect(journal.split('\n').length).toBeGreaterThan(300)
  for (const [version, node] of nodes) {
    expect((await run(node, ['--version'])).stdout.trim()).toBe(`v${version}`)
    expect((await journalBy(node, seed)) === journal, `Node.js ${version} has another journal`).toBe(true)
  }
})
