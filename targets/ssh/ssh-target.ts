import { defined, delaySignal, openInScope, UserError, userError, type Scope } from '../../base/runtime/index.js'
import { foreseeConfinement } from '../confinement/confinement.js'
import { guardedTarget, type FoundDisk, type GuardedTarget } from '../disks/guarded-target.js'
import { heldSelector } from '../disks/offered-disks.js'
import { diskSelector, quotedName, type DiskSelector } from '../disks/selector.js'
import type { StageAssetOptions } from '../asset.js'
import type { TargetCapability } from '../executor.js'
import { findInstaller } from '../local/installer.js'
import { SupervisedExecutor } from '../supervised/supervised-executor.js'
import { CLEANUP_TIMEOUT, warnOfUnfinished } from '../supervised/unfinished-runs.js'
import { openSshShell, type SshShell, type SshShellOptions } from './ssh-shell.js'

export interface SshTargetOptions extends SshShellOptions {
  /** The disk that may be written: a serial number, WWN, by-id or by-path name; a kernel name with `yesErase`. */
  device: string
  yesErase?: string | undefined
  allow?: readonly TargetCapability[]
  /** True if the machine's running system may be changed, as a live system may; its other disks may not. */
  disposable?: boolean
  /** Path of coreos-installer on the machine; found on its `PATH` by default. */
  installer?: string | undefined
  /** Folder of the machine's own tree, when the login leads into a container on it. */
  root?: string
  /** True if nothing is written. */
  readOnly?: boolean
}

/** One disk of a machine behind SSH. */
export interface SshTarget extends AsyncDisposable {
  readonly target: GuardedTarget
  readonly disk: FoundDisk
  /** Path of the installer on the machine; null when it is missing and `readOnly` is set. */
  readonly installer: string | null
  readonly shell: SshShell
  /**
   * Copies an image into the machine's memory.
   *
   * @returns its path as programs on the machine see it
   */
  put(file: string, name: string, options: StageAssetOptions): Promise<{ path: string } & AsyncDisposable>
}

/**
 * Logs in to a machine and finds the disk. Writes nothing but a folder in the machine's memory.
 *
 * @throws UserError for a name that does not identify one disk, and for a host that cannot be reached
 */
export async function openSshTarget(options: SshTargetOptions): Promise<SshTarget> {
  return openInScope((scope) => composeSshTarget(options, scope))
}

/**
 * Parses the name of a disk. A loop device has neither a serial number nor a WWN: its backing file takes their place in
 * `yesErase`.
 *
 * @throws UserError (usage)
 */
export function sshDiskSelector(device: string, yesErase?: string): DiskSelector {
  const [, loop] = /^(?:\/dev\/)?(loop\d+)$/.exec(device) ?? []
  if (loop === undefined || !yesErase?.startsWith('/')) return diskSelector(device, yesErase)
  // The kernel escapes line breaks in a path, and no path is longer.
  if (!/^[^\0-\x1f\x7f\\]{1,4095}$/.test(yesErase))
    throw new UserError(
      'device',
      `--yes-erase ${quotedName(yesErase)}: that is not the backing file of a loop device`,
      {
        kind: 'usage',
        remedy: 'give the path that losetup --list shows as BACK-FILE',
      },
    )
  return { kind: 'loop', name: loop, file: yesErase, serial: `ironstage-${loop}` }
}

async function composeSshTarget(options: SshTargetOptions, scope: Scope): Promise<SshTarget> {
  const { device, yesErase, allow = [], disposable = false, root, readOnly = false, clock, random } = options
  const named = sshDiskSelector(device, yesErase)
  const shell = scope.use(await openSshShell(options))
  const cut = delaySignal(options.signal, CLEANUP_TIMEOUT, clock)
  cut.addEventListener('abort', () => void shell[Symbol.asyncDispose](), { once: true })
  const host = scope.use(new SupervisedExecutor({ shell, clock, random, logger: options.logger, signal: cut }))
  const wanted = { named: options.installer, root: root ?? '', terminal: false, local: false }
  const installer = await findInstaller(host, wanted).catch((error: unknown) => {
    if (readOnly && userError(error)?.kind !== 'usage') return null
    throw error
  })
  const name = `ssh://${shell.name}`
  const selector = await heldSelector(host, named, name)
  const { logger } = options
  const unguarded = allow.includes('unguarded')
  const { confinement, refusal } = await foreseeConfinement({ host, name, unguarded, logger }, readOnly)
  const target = scope.use(
    guardedTarget({
      name,
      disks: [selector],
      allow,
      disposable,
      confinement,
      shell,
      facts: await host.facts(),
      clock,
      random,
      logger: options.logger,
      signal: cut,
      ...defined({
        root,
        installerFails: refusal ?? undefined,
        programs: installer ? { 'coreos-installer': installer } : undefined,
      }),
    }),
  )
  const [disk] = await target.findDisks()
  if (!disk) throw new UserError('no-disk', `there is no disk ${device}`)
  return {
    target,
    disk,
    shell,
    installer: installer?.name ?? null,
    put: async (file, imageName, { signal, onProgress }) => {
      const folder = `${target.scratch}/images`
      const uploaded = await host.upload({ file, folder, name: imageName, signal, onProgress })
      return { ...uploaded, path: target.hostPath(uploaded.path) }
    },
    [Symbol.asyncDispose]: async () => {
      // Without a link there is no cleanup, and no wait for the link.
      if (options.signal?.aborted) await warnOfUnfinished(target, options.logger)
      else if (!(await shell.alive())) await shell[Symbol.asyncDispose]()
      await scope[Symbol.asyncDispose]()
    },
  }
}
