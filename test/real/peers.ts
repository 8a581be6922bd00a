import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { cachedPeer, exists } from './peer-cache.js'

const run = promisify(execFile)

/** Benchmarks run this file compiled, beside which there are no peers. */
const here = import.meta.url.replace('/dist/test/real/', '/test/real/')
/** Path of a program or list that the tests bring along. */
export const peer = (name: string): string => fileURLToPath(new URL(`./peers/${name}`, here))

/** With Debian's folders of administrators' programs, which an ordinary user's PATH often lacks. */
const PATH = `${process.env['PATH'] ?? ''}:/usr/sbin:/sbin`

/** Runs a real tool, and returns its exit code and its output. */
export async function tool(...argv: [string, ...string[]]): Promise<{ code: number; stdout: string; stderr: string }> {
  try {
    const { stdout, stderr } = await run(argv[0], argv.slice(1), {
      env: { ...process.env, PATH, LC_ALL: 'C' },
      maxBuffer: 64 * 2 ** 20,
    })
    return { code: 0, stdout, stderr }
  } catch (error) {
    const failed = error as { code?: number | string; stdout?: string; stderr?: string }
    if (typeof failed.code !== 'number') throw error
    return { code: failed.code, stdout: failed.stdout ?? '', stderr: failed.stderr ?? '' }
  }
}

/**
 * Runs a real tool that has to succeed.
 *
 * @throws when its exit code is another than 0, with the end of its stderr
 */
export async function succeeds(...argv: [string, ...string[]]): Promise<string> {
  const { code, stdout, stderr } = await tool(...argv)
  if (code !== 0) throw new Error(`${argv.join(' ')} failed with ${code}: ${stderr.slice(-4000)}`)
  return stdout
}

/**
 * Installs the Debian package of a program that is not on the PATH yet.
 *
 * @throws when it cannot be installed: a missing peer is a failure, never a skip
 */
export async function debianProgram(program: string, packageName: string): Promise<void> {
  if (await onPath(program)) return
  await debianPackages([packageName])
  if (!(await onPath(program))) throw new Error(`${packageName} was installed but has no ${program}`)
}

/** The package lists are updated once per process. */
let updated: Promise<unknown> | undefined

/**
 * Installs those of these Debian packages that are missing.
 *
 * @throws when they cannot be installed: a missing peer is a failure, never a skip
 */
export async function debianPackages(names: readonly string[]): Promise<void> {
  const known = await tool('dpkg-query', '-W', '-f', '${Package} ${Status}\\n', ...names)
  const there = new Set([...known.stdout.matchAll(/^(\S+) install ok installed$/gm)].map(([, name]) => name))
  const missing = names.filter((name) => !there.has(name))
  if (missing.length === 0) return
  const apt = (...argv: string[]) =>
    run('apt-get', ['-o', 'DPkg::Lock::Timeout=300', ...argv], {
      env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' },
    })
  await (updated ??= apt('update'))
  const install = () => apt('install', '-y', '--no-install-recommends', ...missing)
  // An apt-get that ends meanwhile may clear the archives that this one has just fetched.
  await install().catch(install)
}

/**
 * Unpacks a Debian package into a folder, without installing it: nothing that comes with it is started.
 *
 * @throws when it cannot be had: a missing peer is a failure, never a skip
 */
export async function debianFolder(name: string, folder: string): Promise<string> {
  const env = { ...process.env, PATH, DEBIAN_FRONTEND: 'noninteractive' }
  await (updated ??= run('apt-get', ['-o', 'DPkg::Lock::Timeout=300', 'update'], { env }))
  await run('apt-get', ['download', name], { env, cwd: folder })
  const archive = (await readdir(folder)).find((file) => file.startsWith(`${name}_`) && file.endsWith('.deb'))
  if (archive === undefined) throw new Error(`apt-get download has brought no ${name}`)
  await run('dpkg-deb', ['--extract', join(folder, archive), join(folder, 'root')], { env })
  return join(folder, 'root')
}

async function onPath(program: string): Promise<boolean> {
  for (const folder of PATH.split(':')) if (await exists(`${folder}/${program}`)) return true
  return false
}

/**
 * The folder of a virtual environment with exactly the packages of a list, named by the list's hash. Scripts contain the
 * path of the folder that pip installed them in, and the folder moves afterwards: run them as `bin/python bin/SCRIPT`.
 *
 * @throws when a package cannot be installed: a missing peer is a failure, never a skip
 */
export async function pythonPeer(list: string): Promise<string> {
  const hash = createHash('sha256').update(await readFile(list))
  return cachedPeer(hash.digest('hex').slice(0, 16), async (building) => {
    await debianProgram('python3', 'python3')
    if ((await tool('python3', '-m', 'venv', building)).code !== 0) {
      // Debian has the module venv in a package of its own.
      await debianPackages(['python3-venv'])
      await succeeds('python3', '-m', 'venv', '--clear', building)
    }
    const pip = [
      join(building, 'bin/python'),
      '-m',
      'pip',
      'install',
      '--quiet',
      '--no-input',
      '--retries',
      '5',
    ] as const
    await succeeds(...pip, '--no-deps', '--requirement', list)
    return building
  })
}

/** Quotes a text as one word of a shell command. */
export const quoted = (word: string): string => `'${word.replaceAll("'", `'\\''`)}'`
