import { fileURLToPath } from 'node:url'
import { UserError } from '../../base/runtime/index.js'
import { shellWord } from '../supervised/shell-words.js'
import type { SupervisedExecutor } from '../supervised/supervised-executor.js'
import { ERRORS } from '../errors.js'

/** Command line of coreos-installer on this host. */
export interface Installer {
  /** Words before the program: flock, so that one installation runs at a time, and the terminal runner. */
  before: readonly string[]
  program: string
  /** Whether it prints to a terminal. */
  terminal: boolean
}

/**
 * Lock of installations on one host: after success coreos-installer makes the kernel read the partition tables of all disks
 * again. The installer's own process holds the kernel's lock, for as long as it lives.
 */
const LOCK = '/run/ironstage/install.lock'

/**
 * Finds the installer, flock and a terminal runner.
 *
 * @param named path of the installer; found on `PATH` by default
 * @param root folder of the tree that the installer runs in, by chroot
 * @throws UserError when the installer or flock is missing
 */
export async function findInstaller(
  host: SupervisedExecutor,
  { named, root = '', terminal = true }: { named?: string | undefined; root?: string; terminal?: boolean },
): Promise<Installer> {
  const lines = await host.lines(`
inside=${shellWord(root)}
for p in ${named === undefined ? '$(IFS=:; for p in $PATH; do echo "$p/coreos-installer"; done)' : shellWord(named)}; do
  [ -f "$inside$p" ] && [ -x "$inside$p" ] && { printf 'i %s\\n' "$p"; break; }
done
command -v flock >/dev/null 2>&1 && printf 'l\\n'`)
  const program = lines.find(({ tag }) => tag === 'i')?.text
  if (program === undefined)
    throw new UserError('no-installer', `coreos-installer is not there${named === undefined ? '' : ` as ${named}`}`, {
      remedy: 'install it (a package of Fedora, or cargo install coreos-installer), or name it with --installer PATH',
    })
  if (!lines.some(({ tag }) => tag === 'l'))
    throw new UserError(
      'no-flock',
      'flock is missing, which keeps two installations on one host from running at once',
      {
        remedy: ERRORS['no-flock'].remedy,
      },
    )
  const runner = terminal ? await terminalRunner() : null
  return {
    program,
    terminal: runner !== null,
    before: ['flock', LOCK, ...(runner === null ? [] : [process.execPath, runner])],
  }
}

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
