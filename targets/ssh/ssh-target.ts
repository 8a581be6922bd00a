import { delayed, opening, UserError, type Scope } from '../../runtime/index.js'
import { findConfinement } from '../confinement/confinement.js'
import { guardedTarget, type FoundDisk, type GuardedTarget } from '../disks/guarded-target.js'
import { diskSelector, quotedName, type DiskSelector } from '../disks/selector.js'
import type { StageOptions } from '../asset.js'
import type { Capability } from '../executor.js'
import { findInstaller } from '../local/installer.js'
import { SupervisedExecutor } from '../supervised/supervised-executor.js'
import { GRACE, sayUnfinished } from '../supervised/grace.js'
import { openSshShell, type SshShell, type SshShellOptions } from './ssh-shell.js'

export interface SshTargetOptions extends SshShellOptions {
  /** The disk that may be written: a serial number, WWN or by-id name; a kernel name with `yesErase`. */
  device: string
  yesErase?: string | undefined
  allow?: readonly Capability[]
  /** Nothing on the machine but what is on other disks matters, as on a live system. */
  disposable?: boolean
  /** Path of coreos-installer there; on its `PATH` without. */
  installer?: string | undefined
  /** Where the machine's own tree is, when the login leads into a container on it. */
  root?: string
  /** Nothing is written. */
  readOnly?: boolean
}

/** One disk of a machine behind SSH. */
export interface SshTarget extends AsyncDisposable {
  readonly target: GuardedTarget
  readonly disk: FoundDisk
  /** Path of the installer there; null when nothing is to be written and there is none. */
  readonly installer: string | null
  readonly shell: SshShell
  /**
   * Brings an image onto the machine, into its memory.
   *
   * @returns its path as programs see it that are run there
   */
  put(file: string, name: string, options: StageOptions): Promise<{ path: string } & AsyncDisposable>
}

/**
 * Logs in to a machine and looks for the disk. Nothing has been written when this is done but a folder in memory.
 *
 * @throws UserError for a disk that is not surely the one that is meant, and for a host that is not reached
 */
export async function openSshTarget(options: SshTargetOptions): Promise<SshTarget> {
  return opening((scope) => open(options, scope))
}

/**
 * As any disk is named; a loop device of the machine, which has neither a serial number nor a WWN, by its name and, in
 * place of those, the file that it stands on.
 *
 * @throws UserError (usage)
 */
export function sshDiskSelector(device: string, yesErase?: string): DiskSelector {
  const [, loop] = /^(?:\/dev\/)?(loop\d+)$/.exec(device) ?? []
  if (loop === undefined || !yesErase?.startsWith('/')) return diskSelector(device, yesErase)
  // The kernel tells a path with line breaks otherwise, and none is longer.
  if (!/^[^\0-\x1f\x7f\\]{1,4095}$/.test(yesErase))
    throw new UserError('device', `--yes-erase is ${quotedName(yesErase)}, which is no file of a loop device`, {
      kind: 'usage',
      remedy: 'give the path that losetup --list shows as BACK-FILE',
    })
  return { kind: 'loop', name: loop, file: yesErase, serial: `ironstage-${loop}` }
}

async function open(options: SshTargetOptions, scope: Scope): Promise<SshTarget> {
  const { device, yesErase, allow = [], disposable = false, root, readOnly = false, clock, random } = options
  const selector = sshDiskSelector(device, yesErase)
  const shell = scope.use(await openSshShell(options))
  const cut = delayed(options.signal, GRACE, clock)
  cut.addEventListener('abort', () => void shell[Symbol.asyncDispose](), { once: true })
  const host = scope.use(new SupervisedExecutor({ shell, clock, random, logger: options.logger, signal: cut }))
  const looked = { named: options.installer, root: root ?? '', terminal: false }
  const installer = await findInstaller(host, looked).catch((error: unknown) => {
    if (readOnly) return null
    throw error
  })
  const name = `ssh://${shell.name}`
  const unguarded = readOnly || allow.includes('unguarded')
  const confinement = await findConfinement({ host, name, unguarded, logger: options.logger })
  const target = scope.use(
    guardedTarget({
      ...{ name, disks: [selector], allow, disposable, confinement },
      ...{ shell, clock, random, logger: options.logger, signal: cut },
      ...(root === undefined ? {} : { root }),
      ...(installer ? { programs: { 'coreos-installer': installer } } : {}),
    }),
  )
  const [disk] = await target.findDisks()
  if (!disk) throw new UserError('no-disk', `${device} is not there`)
  return {
    ...{ target, disk, shell },
    installer: installer?.program ?? null,
    put: async (file, imageName, { signal, onProgress }) => {
      const folder = `${target.scratch}/images`
      const uploaded = await host.upload({ file, folder, name: imageName, signal, onProgress })
      return { ...uploaded, path: target.hostPath(uploaded.path) }
    },
    [Symbol.asyncDispose]: async () => {
      // There is nothing to clear up on a machine that has gone, and nobody waits for it to come back.
      if (options.signal?.aborted) await sayUnfinished(target, options.logger)
      else if (!(await shell.alive())) await shell[Symbol.asyncDispose]()
      await scope[Symbol.asyncDispose]()
    },
  }
}
