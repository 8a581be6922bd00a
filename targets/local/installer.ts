import { fileURLToPath } from 'node:url'
import { UserError } from '../../runtime/index.js'
import { quoted } from '../supervised/sh.js'
import type { SupervisedExecutor } from '../supervised/supervised-executor.js'

/** How coreos-installer is run on this host. */
export interface Installer {
  /** Comes before the program: takes the host's turn, and gives it a terminal. */
  before: readonly string[]
  program: string
  /** Whether it prints to a terminal. */
  terminal: boolean
}

/**
 * After it succeeded, coreos-installer makes the kernel read the partition table of every disk of the host again: so one
 * runs at a time. The lock is the kernel's, and is held by the installer itself, for as long as it lives.
 */
const LOCK = '/run/ironstage/install.lock'

/**
 * Finds the installer, and what helps to run it.
 *
 * @param named path that was asked for; found on `PATH` without
 * @param root tree that it is run in by chroot
 * @throws UserError when it is not there
 */
export async function findInstaller(
  host: SupervisedExecutor,
  { named, root = '', terminal = true }: { named?: string | undefined; root?: string; terminal?: boolean },
): Promise<Installer> {
  const lines = await host.lines(`
inside=${quoted(root)}
for p in ${named === undefined ? '$(IFS=:; for p in $PATH; do echo "$p/coreos-installer"; done)' : quoted(named)}; do
  [ -f "$inside$p" ] && [ -x "$inside$p" ] && { printf 'i %s\\n' "$p"; break; }
done
command -v flock >/dev/null 2>&1 && printf 'l\\n'`)
  const program = lines.find(({ letter }) => letter === 'i')?.text
  if (program === undefined)
    throw new UserError('no-installer', `coreos-installer is not there${named === undefined ? '' : ` as ${named}`}`, {
      remedy: 'install it (a package of Fedora, or cargo install coreos-installer), or name it with --installer PATH',
    })
  if (!lines.some(({ letter }) => letter === 'l'))
    throw new UserError('no-flock', 'flock is not there, which keeps two installations on one host apart', {
      remedy: 'install util-linux',
    })
  const runner = terminal ? await terminalRunner() : null
  return {
    program,
    terminal: runner !== null,
    before: ['flock', LOCK, ...(runner === null ? [] : [process.execPath, runner])],
  }
}

/** Null where node-pty, which not every platform can build, is not there; and while the sources are run as they are. */
async function terminalRunner(): Promise<string | null> {
  const runner = fileURLToPath(new URL('./pty-runner.js', import.meta.url))
  if (!import.meta.url.endsWith('.js')) return null
  try {
    await import('node-pty')
    return runner
  } catch {
    return null
  }
}
