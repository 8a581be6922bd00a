import { execFile } from 'node:child_process'
import { cp, mkdir, symlink } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { expect, onTestFinished, test } from 'vitest'
import { temporaryFolder } from '../../base/runtime/index.js'

/** The built command beside packages of which npm has left one out. */

const root = fileURLToPath(new URL('../..', import.meta.url))
/** Packages that `npm install` puts beside ironstage's files, which load them. */
const BESIDE = ['@bokuweb', 'ext2fs', 'jiti', 'lzma-native', 'openpgp', 'ssh2']

/** Installs ironstage without the packages that are named. */
async function installWithout(...missing: string[]): Promise<(...argv: string[]) => Promise<Ended>> {
  const folder = await temporaryFolder()
  onTestFinished(() => folder[Symbol.asyncDispose]())
  const packages = join(folder.path, 'node_modules')
  await mkdir(packages)
  for (const path of ['package.json', 'images', 'dist/bundle'])
    await cp(join(root, path), join(folder.path, path), { recursive: true })
  for (const name of BESIDE.filter((name) => !missing.includes(name)))
    await symlink(join(root, 'node_modules', name), join(packages, name))
  // Its binary is an optional package, which it looks for from where it is.
  for (const name of ['libsql', '@neon-rs', 'detect-libc'])
    await cp(join(root, 'node_modules', name), join(packages, name), { recursive: true })
  if (!missing.includes('@libsql')) await symlink(join(root, 'node_modules/@libsql'), join(packages, '@libsql'))
  return (...argv) => ended(join(folder.path, 'dist/bundle/ironstage.js'), argv)
}

interface Ended {
  readonly code: number
  readonly stdout: string
  readonly stderr: string
}

async function ended(program: string, argv: readonly string[]): Promise<Ended> {
  const run = promisify(execFile)(process.execPath, [program, ...argv])
  return run.then(
    (output) => ({ code: 0, ...output }),
    (error: Ended) => error,
  )
}

test('without optional packages a lab in memory works, and a state folder is refused with the command that installs them', async () => {
  const ironstage = await installWithout('@libsql')
  const deployed = await ironstage('deploy')
  expect(deployed.stderr).toBe('')
  expect(deployed).toMatchObject({
    code: 0,
    stdout: expect.stringContaining('The disk matches the request.') as string,
  })

  await using state = await temporaryFolder()
  const refused = await ironstage('up', '--state-dir', join(state.path, 'state'))
  expect(refused.code).toBe(1)
  expect(refused.stderr).toMatch(
    /^ironstage: the package libsql is not installed in full \(npm install --include=optional\)/,
  )
  expect(refused.stderr).not.toContain('a defect of ironstage')
})

test.each([
  ['ext2fs', ['deploy']],
  ['lzma-native', ['deploy']],
  ['ssh2', ['deploy', '--target', 'ssh://core@127.0.0.1', '--device', 'SERIAL', '--check']],
  ['jiti', ['step', 'list', '--steps', join(root, 'steps/hardware-managers.ts')]],
])('without %s, ironstage %j says which package it needs', async (missing, argv) => {
  const ironstage = await installWithout(missing)
  expect(await ironstage('--version')).toMatchObject({ code: 0, stderr: '' })
  const refused = await ironstage(...argv)
  expect(refused.code).toBeGreaterThan(0)
  expect(refused.stderr).toContain(`the package ${missing} is not installed in full (npm install --include=optional)`)
  expect(refused.stderr).not.toContain('a defect of ironstage')
})
