import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { access, mkdir, mkdtemp, readFile, rename, rm } from 'node:fs/promises'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'

const run = promisify(execFile)

/** Where Debian puts what administrators use; often not on an ordinary user's PATH. */
const PATH = `${process.env['PATH'] ?? ''}:/usr/sbin:/sbin`

/** Where peers are kept over runs and over checkouts. */
export const CACHE = join(process.env['XDG_CACHE_HOME'] || join(homedir(), '.cache'), 'ironstage-peers')

/** Runs a real tool and gives its exit code and everything it printed. */
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
 * Makes sure that a program of a Debian package is there, installing the package when it is not.
 *
 * @throws when it cannot be installed: a missing peer is a failure, never a skip
 */
export async function debianProgram(program: string, packageName: string): Promise<void> {
  if (await onPath(program)) return
  await debianPackages([packageName])
  if (!(await onPath(program))) throw new Error(`${packageName} was installed but has no ${program}`)
}

/** The package lists are fetched once a process. */
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

async function onPath(program: string): Promise<boolean> {
  for (const folder of PATH.split(':')) if (await exists(`${folder}/${program}`)) return true
  return false
}

/**
 * The folder of a virtual environment with exactly what a list pins, installed the first time and named after the list's
 * hash. It is built aside and appears whole, so a run that was cut short leaves nothing that the next one would take for
 * complete. Scripts name the folder that they were installed in: run them as `bin/python bin/SCRIPT`, since it has moved.
 *
 * @param program one of its `bin`
 * @throws when it cannot be installed: a missing peer is a failure, never a skip
 */
export async function pythonPeer(list: string, program: string): Promise<string> {
  const pinned = await readFile(list)
  const venv = join(CACHE, createHash('sha256').update(pinned).digest('hex').slice(0, 16))
  if (await exists(join(venv, 'bin', program))) return venv
  await debianProgram('python3', 'python3')
  await mkdir(CACHE, { recursive: true })
  const building = await mkdtemp(join(CACHE, 'building-'))
  try {
    if ((await tool('python3', '-m', 'venv', building)).code !== 0) {
      // Debian has the module apart.
      await debianPackages(['python3-venv'])
      await done('making a virtual environment', tool('python3', '-m', 'venv', '--clear', building))
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
    await done(`installing ${list}`, tool(...pip, '--no-deps', '--requirement', list))
    await rename(building, venv).catch(async (error: unknown) => {
      // Another run was faster.
      if (!(await exists(join(venv, 'bin', program)))) throw error
    })
  } finally {
    await rm(building, { recursive: true, force: true })
  }
  return venv
}

async function done(what: string, running: ReturnType<typeof tool>): Promise<void> {
  const { code, stderr } = await running
  if (code !== 0) throw new Error(`${what} failed with ${code}: ${stderr.slice(-4000)}`)
}

const exists = (path: string): Promise<boolean> =>
  access(path).then(
    () => true,
    () => false,
  )
