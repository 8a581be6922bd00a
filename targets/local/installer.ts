import { existsSync } from 'node:fs'
import { isSea } from 'node:sea'
import { fileURLToPath } from 'node:url'
import { packageVersion, UserError } from '../../base/runtime/index.js'
import { shellWord } from '../supervised/shell-words.js'
import type { SupervisedExecutor } from '../supervised/supervised-executor.js'
import type { TaggedLine } from '../supervised/tagged-lines.js'
import { ERRORS } from '../errors.js'

/** Command line of coreos-installer on this host. */
export interface Installer {
  /** Words before the program: flock, so that one installation runs at a time, and the terminal runner. */
  before: readonly string[]
  program: string
  /** Words between the program and those of a step. */
  after: readonly string[]
  /** True if it prints to a terminal. */
  terminal: boolean
  /** Name for reports: path of the program, or that it is ironstage's own. */
  name: string
}

/** Value of `--installer` for ironstage's own installer, which needs neither udev nor a kernel that reads GPT. */
export const BUILT_IN = 'built-in'

/**
 * Lock of installations on one host: after success coreos-installer makes the kernel read the partition tables of all disks
 * again. The installer's own process holds the kernel's lock, for as long as it lives.
 */
const LOCK = '/run/ironstage/install.lock'

export interface InstallerWish {
  /** Path of the installer, or {@link BUILT_IN}; found on `PATH` by default. */
  named?: string | undefined
  /** Folder of the tree that the installer runs in, by chroot. */
  root?: string
  /** True if it gets a terminal where there is one. */
  terminal?: boolean
  /** False for a machine behind SSH, which has no ironstage. */
  local?: boolean
}

/**
 * Finds the installer, flock and a terminal runner.
 *
 * @throws UserError when the installer or flock is missing
 */
export async function findInstaller(
  host: SupervisedExecutor,
  { named, root = '', terminal = true, local = true }: InstallerWish,
): Promise<Installer> {
  if (named === BUILT_IN && !local)
    throw builtInError('a machine behind SSH has no ironstage', 'leave it out: the live system has coreos-installer')
  if (named === BUILT_IN) return builtInInstaller(host, root)
  const lines = await host.lines(`
inside=${shellWord(root)}
for p in ${named === undefined ? '$(IFS=:; for p in $PATH; do echo "$p/coreos-installer"; done)' : shellWord(named)}; do
  [ -f "$inside$p" ] && [ -x "$inside$p" ] && { printf 'i %s\\n' "$p"; break; }
done
command -v flock >/dev/null 2>&1 && printf 'l\\n'`)
  const program = lines.find(({ tag }) => tag === 'i')?.text
  if (program === undefined)
    throw new UserError(
      'no-installer',
      named === undefined ? 'coreos-installer was not found on PATH' : `there is no coreos-installer at ${named}`,
      {
        remedy: `install it (a package of Fedora, or cargo install coreos-installer), or name it with --installer PATH${local ? `, or take ironstage's own with --installer ${BUILT_IN}` : ''}`,
      },
    )
  refuseWithoutFlock(lines)
  const runner = terminal ? await terminalRunner() : null
  return {
    program,
    name: program,
    after: [],
    terminal: runner !== null,
    before: ['flock', LOCK, ...(runner === null ? [] : [process.execPath, runner])],
  }
}

function refuseWithoutFlock(lines: readonly TaggedLine[]): void {
  if (lines.some(({ tag }) => tag === 'l')) return
  throw new UserError('no-flock', 'flock is missing; it prevents two installations on one host at once', {
    remedy: ERRORS['no-flock'].remedy,
  })
}

/**
 * The installer that is a part of ironstage: `ironstage coreos-installer`, in the same cell and under the same lock.
 *
 * @throws UserError in a tree that has no ironstage, and where the sources run unbuilt
 */
async function builtInInstaller(host: SupervisedExecutor, root: string): Promise<Installer> {
  if (root !== '') throw builtInError(`it does not run in the tree ${root}`, 'leave out --target-root or --installer')
  const program = fileURLToPath(new URL('./ironstage.js', import.meta.url))
  if (!isSea() && !existsSync(program)) throw builtInError('ironstage runs from sources', 'build it: npm run build')
  refuseWithoutFlock(await host.lines(`command -v flock >/dev/null 2>&1 && printf 'l\\n'`))
  return {
    before: ['flock', LOCK],
    program: process.execPath,
    after: [...(isSea() ? [] : [program]), 'coreos-installer', '--block-device'],
    terminal: false,
    name: `${BUILT_IN} (ironstage ${packageVersion()})`,
  }
}

const builtInError = (why: string, remedy: string): UserError =>
  new UserError('built-in-installer', `the built-in installer cannot be used: ${why}`, { kind: 'usage', remedy })

/** Null where the optional node-pty is not installed, and when the TypeScript sources run unbuilt. */
async function terminalRunner(): Promise<string | null> {
  const runner = fileURLToPath(new URL('./pty-runner.js', import.meta.url))
  if (!/\.c?js$/.test(import.meta.url)) return null
  try {
    await import('node-pty')
    return runner
  } catch {
    return null
  }
}
