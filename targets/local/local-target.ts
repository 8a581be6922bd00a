import { statfs } from 'node:fs/promises'
import {
  defined,
  delaySignal,
  openInScope,
  UserError,
  userError,
  type Clock,
  type Logger,
  type Random,
  type Scope,
} from '../../base/runtime/index.js'
import type { TargetCapability } from '../executor.js'
import { foreseeConfinement } from '../confinement/confinement.js'
import { guardedTarget, type FoundDisk, type GuardedTarget } from '../disks/guarded-target.js'
import { heldSelector, offeredDisks } from '../disks/offered-disks.js'
import { diskSelector, type DiskSelector } from '../disks/selector.js'
import { SupervisedExecutor } from '../supervised/supervised-executor.js'
import { localShell } from '../supervised/local-shell.js'
import { missingGptParser, missingUdev } from './host-lacks.js'
import { BUILT_IN, findInstaller } from './installer.js'
import { CLEANUP_TIMEOUT, warnOfUnfinished } from '../supervised/unfinished-runs.js'
import { attachLoop } from './loop-device.js'
import { ERRORS } from '../errors.js'

export interface LocalTargetOptions {
  /** A path below /dev, or a file that stands for the disk. */
  where: string
  /** For a kernel name: the serial number or WWN that the disk must have. */
  yesErase?: string | undefined
  allow?: readonly TargetCapability[]
  /** True if this host itself may be changed. */
  disposable?: boolean
  /** Path of coreos-installer, or `built-in`; found on `PATH` by default. */
  installer?: string | undefined
  /** Folder of the machine's own tree, when this process runs in a container on it: `/mnt/coreos`. */
  root?: string
  /** True if the installer gets a terminal where node-pty is installed; true by default. */
  terminal?: boolean
  /** True if nothing is written, not even by steps; a file is then attached for reading only. */
  readOnly?: boolean
  /** `PATH` and `HOME` of the programs. */
  environment: Readonly<Record<string, string | undefined>>
  clock: Clock
  random: Random
  logger: Logger
  /** Aborts work under way with its reason; cleanup gets {@link CLEANUP_TIMEOUT} first. */
  signal?: AbortSignal
}

/** One disk of this host, or a file in its place. */
export interface LocalTarget extends AsyncDisposable {
  readonly target: GuardedTarget
  readonly disk: FoundDisk
  /** Name of the installer for reports; null when it is missing and `readOnly` is set. */
  readonly installer: string | null
}

/** Capabilities that change this host instead of the named disk. */
const HOST_CAPABILITIES: readonly TargetCapability[] = [
  'power',
  'reboot',
  'efi-variables',
  'hostname',
  'burn-in',
  'hand-over',
]

/**
 * Opens a disk of this host, or a file as one, for steps to write.
 *
 * @throws UserError (usage) for a name that does not identify one disk, and for a capability that changes this host unless
 *   the target is disposable; UserError when the disk or the installer is missing
 */
export async function openLocalTarget(options: LocalTargetOptions): Promise<LocalTarget> {
  return openInScope((scope) => composeLocalTarget(options, scope))
}

async function composeLocalTarget(options: LocalTargetOptions, scope: Scope): Promise<LocalTarget> {
  const { where, yesErase, allow = [], disposable = false, root, readOnly = false, clock, random, logger } = options
  refuseHostActions(allow, disposable)
  const shell = localShell(clock, options.environment)
  const cut = delaySignal(options.signal, CLEANUP_TIMEOUT, clock)
  const host = scope.use(new SupervisedExecutor({ shell, clock, random }))
  const named = where.startsWith('/dev/') ? await namedSelector(where, yesErase, host) : null
  const installer = await findInstaller(host, { named: options.installer, ...options, root: root ?? '' }).catch(
    (error: unknown) => {
      if (readOnly && userError(error)?.kind !== 'usage') return null
      throw error
    },
  )
  const [noGpt, noUdev] = await Promise.all([missingGptParser(host), missingUdev(host, root)])
  const isBuiltIn = options.installer === BUILT_IN
  if (noGpt !== null && !isBuiltIn) logger('warn', `${noGpt.message}; ${noGpt.remedy}`)
  options.signal?.throwIfAborted()
  const selector = named ? await heldSelector(host, named, `local:${where}`) : await fileSelector(options, host, scope)
  const unguarded = isBuiltIn ? 'never' : allow.includes('unguarded')
  const { confinement, refusal } = await foreseeConfinement({ host, name: shell.name, unguarded, logger }, readOnly)
  const guarded = scope.use(
    guardedTarget({
      name: `local:${where}`,
      disks: [selector],
      allow,
      disposable,
      confinement,
      shell,
      facts: await host.facts(),
      clock,
      random,
      logger,
      signal: cut,
      ...defined({
        readsPartitions: noGpt === null && noUdev === null ? undefined : false,
        installerFails: (isBuiltIn ? null : noUdev) ?? refusal ?? undefined,
        root,
        programs: installer ? { 'coreos-installer': installer } : undefined,
      }),
    }),
  )
  const target = selector.kind === 'loop' ? { ...guarded, diskFile: () => diskFile(selector.file) } : guarded
  const [disk] = await target.findDisks()
  if (!disk) throw new UserError('no-disk', `there is no disk ${where}`)
  return {
    target,
    disk,
    installer: installer?.name ?? null,
    [Symbol.asyncDispose]: async () => {
      if (options.signal?.aborted) await warnOfUnfinished(target, logger)
      await scope[Symbol.asyncDispose]()
    },
  }
}

/** @throws UserError (usage) with the disks of this host, for a name that does not stay with a disk */
async function namedSelector(
  device: string,
  yesErase: string | undefined,
  host: SupervisedExecutor,
): Promise<DiskSelector> {
  try {
    return diskSelector(device, yesErase)
  } catch (error) {
    const refused = userError(error)
    const offered = refused && (await offeredDisks(host))
    if (!refused || !offered) throw error
    throw new UserError(refused.code, refused.message, {
      kind: refused.kind,
      cause: refused.cause,
      remedy: [refused.remedy, offered].filter(Boolean).join('; '),
    })
  }
}

async function diskFile(path: string): Promise<{ path: string; roomLeft: number }> {
  const { bavail, bsize } = await statfs(path)
  return { path, roomLeft: bavail * bsize }
}

function refuseHostActions(allow: readonly TargetCapability[], disposable: boolean): void {
  const ofHost = allow.find((capability) => HOST_CAPABILITIES.includes(capability))
  if (ofHost === undefined || disposable) return
  throw new UserError('host-action', `--allow ${ofHost} on a local target would act on this host`, {
    kind: 'usage',
    remedy: ERRORS['host-action'].remedy,
  })
}

async function fileSelector(
  { where, readOnly = false, clock, logger, signal }: LocalTargetOptions,
  host: SupervisedExecutor,
  scope: Scope,
): Promise<DiskSelector> {
  const loop = scope.use(await attachLoop({ file: where, readOnly, host, owner: process.pid, clock, logger, signal }))
  return { kind: 'loop', name: loop.name, file: loop.file, serial: `ironstage-${loop.name}` }
}
