import { execFile } from 'node:child_process'
import { access } from 'node:fs/promises'
import { promisify } from 'node:util'

const run = promisify(execFile)

/** Where Debian puts what administrators use; often not on an ordinary user's PATH. */
const PATH = `${process.env['PATH'] ?? ''}:/usr/sbin:/sbin`

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
  const apt = { env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' } }
  const options = ['-o', 'DPkg::Lock::Timeout=300']
  await run('apt-get', [...options, 'update'], apt)
  await run('apt-get', [...options, 'install', '-y', '--no-install-recommends', packageName], apt)
  if (!(await onPath(program))) throw new Error(`${packageName} was installed but has no ${program}`)
}

async function onPath(program: string): Promise<boolean> {
  for (const folder of PATH.split(':'))
    if (
      await access(`${folder}/${program}`).then(
        () => true,
        () => false,
      )
    )
      return true
  return false
}
