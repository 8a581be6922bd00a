import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { blocks } from '../../kit/guides/guide.js'
import { tool } from '../peers.js'

/** The package as `npm publish` sends it, in the folder of a user who follows `docs/in-a-test.md`. */

const ROOT = fileURLToPath(new URL('../../..', import.meta.url))
/** The types of another Node.js than the one that ironstage is built with: two versions of them do not go together. */
const INSTALLED = ['@types/jest@30.0.0', '@types/node@22.20.5', 'jest@30.5.2', 'ts-jest@29.4.15', 'typescript@5.9.3']

interface Packed {
  filename: string
  /** Bytes as packed and as unpacked. */
  size: number
  unpackedSize: number
  files: { path: string }[]
}

let place: string
let packed: Packed
let folder: string

/** Runs a program in the reader's folder, where it must succeed. */
async function inFolder(...argv: string[]): Promise<string> {
  const { code, stdout, stderr } = await tool('env', '-C', folder, ...argv)
  expect({ argv, code }, `${stdout}\n${stderr}`).toEqual({ argv, code: 0 })
  return stdout + stderr
}

beforeAll(async () => {
  place = await mkdtemp(join(tmpdir(), 'ironstage-published-'))
  folder = join(place, 'reader')
  await mkdir(folder)
  // Other files use dist/ meanwhile, so it is packed as it is, without a build of its own.
  const pack = await tool('env', '-C', ROOT, 'npm', 'pack', '--json', '--ignore-scripts', '--pack-destination', place)
  expect(pack.code, pack.stderr).toBe(0)
  packed = (JSON.parse(pack.stdout) as [Packed])[0]
  for (const { name, text } of blocks('docs/in-a-test.md'))
    if (name && !name.startsWith('vitest/')) await writeFile(join(folder, name), text)
  await writeFile(join(folder, 'package.json'), '{ "name": "reader", "private": true, "type": "module" }')
  const quick = ['--ignore-scripts', '--prefer-offline', '--no-audit', '--no-fund']
  await inFolder('npm', 'install', '--save-exact', ...quick, join(place, packed.filename), ...INSTALLED)
})
afterAll(() => rm(place, { recursive: true, force: true }))

test('the package has the program, its declarations and images, and nothing of the build, the guides or the tests', () => {
  const paths = packed.files.map(({ path }) => path)
  expect(paths).toEqual(
    expect.arrayContaining(['dist/bundle/ironstage.js', 'dist/types/index.d.ts', 'dist/page/index.html']),
  )
  expect(paths).toEqual(expect.arrayContaining(['LICENSE', 'LICENSES.md', 'NOTICE']))
  const allowed = [
    /^dist\/bundle\/[\w.-]+\.c?js$/,
    /^dist\/types\/[\w-]+\.d\.ts$/,
    /^dist\/man\/ironstage\.1$/,
    /^dist\/page\/[\w./-]+\.(js|html|css|svg)$/,
    /^(examples|images)\//,
    /^ci\/ironstage\.sh$/,
    /^([A-Z]+(\.md)?|package\.json)$/,
  ]
  expect(paths.filter((path) => !allowed.some((form) => form.test(path)))).toEqual([])
})

test('the package is small, and brings few others', async () => {
  expect(packed.size).toBeLessThan(2.5 * 2 ** 20)
  expect(packed.unpackedSize).toBeLessThan(9 * 2 ** 20)
  expect(packed.files.length).toBeLessThan(150)
  const alone = join(place, 'alone')
  await mkdir(alone)
  await writeFile(join(alone, 'package.json'), '{ "name": "alone", "private": true, "type": "module" }')
  const options = ['--ignore-scripts', '--omit=optional', '--omit=peer', '--prefer-offline', '--no-audit', '--no-fund']
  const { code, stderr } = await tool('env', '-C', alone, 'npm', 'install', ...options, join(place, packed.filename))
  expect(code, stderr).toBe(0)
  const packages = await tool('env', '-C', alone, 'npm', 'ls', '--all', '--parseable')
  expect(packages.stdout.trim().split('\n').length).toBeLessThan(40)
  const deployed = await tool('env', '-C', alone, 'npx', '--no-install', 'ironstage', 'deploy')
  expect(deployed.code, deployed.stderr).toBe(0)
  await writeFile(join(alone, 'required.cjs'), "console.log(typeof require('ironstage').createLab)")
  expect((await tool('env', '-C', alone, 'node', 'required.cjs')).stdout).toBe('function\n')
})

test('publint and arethetypeswrong find nothing wrong with its entries', async () => {
  const checks = join(place, 'checks')
  await mkdir(checks)
  const inChecks = (...argv: string[]) => tool('env', '-C', checks, ...argv)
  const quick = ['--ignore-scripts', '--prefer-offline', '--no-audit', '--no-fund']
  const installed = await inChecks('npm', 'install', ...quick, 'publint@0.3.25', '@arethetypeswrong/cli@0.18.5')
  expect(installed.code, installed.stderr).toBe(0)
  const tarball = join(place, packed.filename)
  const published = await inChecks('npx', '--no-install', 'publint', 'run', tarball, '--strict')
  expect(published.code, published.stdout).toBe(0)
  // CommonJS gets the entries by require() of an ES module, which every Node.js has that ironstage runs on.
  const typed = await inChecks('npx', '--no-install', 'attw', tarball, '--profile', 'esm-only')
  expect(typed.code, typed.stdout).toBe(0)
})

test('no file of the package names a source map that is not in it', async () => {
  const installed = join(folder, 'node_modules/ironstage/dist')
  const naming: string[] = []
  for (const path of await readdir(installed, { recursive: true }))
    if (/\.(js|ts)$/.test(path) && /^\/\/# sourceMappingURL=/m.test(await readFile(join(installed, path), 'utf8')))
      naming.push(path)
  expect(naming, 'files of an earlier build go with `npm run clean && npm run build`').toEqual([])
})

test('its declarations hold under skipLibCheck: false, with the types of Node.js once', async () => {
  expect(await readFile(join(folder, 'tsconfig.json'), 'utf8')).toContain('"skipLibCheck": false')
  // A step and the other entries reach further into the declarations than a test of a deployment does.
  await writeFile(join(folder, 'step.ts'), STEP)
  // Also without what other packages bring by themselves.
  await writeFile(join(folder, 'bare.json'), BARE)
  for (const project of ['tsconfig.json', 'bare.json'])
    await inFolder('npx', '--no-install', 'tsc', '--project', project)

  const found = await inFolder('find', 'node_modules', '-path', '*/@types/node/package.json')
  expect(found.trim()).toBe('node_modules/@types/node/package.json')
})

test('a lab runs in Jest as the guide says', async () => {
  const command = blocks('docs/in-a-test.md')
    .find(({ language }) => language === 'sh')!
    .text.trim()
  const printed = await inFolder('bash', '-c', command.replace('npx jest', 'npx --no-install jest'))
  expect(printed).toMatch(/Tests: +1 passed, 1 total/)
})

test('npx runs the command of the package', async () => {
  const { version } = JSON.parse(await readFile(join(ROOT, 'package.json'), 'utf8')) as { version: string }
  const { stdout } = await tool('env', '-C', folder, 'npx', '--no-install', 'ironstage', '--version')
  expect(stdout.trim()).toBe(version)
})

/** A project that takes in no types by itself. */
const BARE = JSON.stringify({
  compilerOptions: { target: 'ES2022', module: 'NodeNext', strict: true, noEmit: true, types: [] },
  files: ['step.ts'],
})

const STEP = `import { createLab, defineStep, type Lab } from 'ironstage'
import { runCommand } from 'ironstage/steps'
import { parseIgnition, type SpecConfig } from 'ironstage/ignition'
import { agentConfig } from 'ironstage/coreos'
import type { Executor } from 'ironstage/steps'

export const touch = defineStep({
  name: 'touch',
  interface: 'deploy',
  on: ['deploy'],
  args: { properties: { path: { type: 'string', default: '/run/touched', description: 'File to touch.' } } },
  run: async ({ target, signal }, { path }) => {
    await runCommand(target.executor, ['touch', path], { effect: 'writes', signal })
    return { path: path.toUpperCase() }
  },
})

// @ts-expect-error: its types are not merely any.
export const wrong = () => createLab({ seed: 'x' })

export const unitsOf = (text: string) => parseIgnition(text).systemd?.units
export const live = (url: string): SpecConfig => agentConfig({ ironicUrls: [url] })
export const read = (executor: Executor, path: string) => executor.files.read(path)
// @ts-expect-error: a lab shows no insides.
export const insides = (lab: Lab) => lab.store
`
