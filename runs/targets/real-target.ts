import { UserError, type Clock, type Logger, type Random } from '../../runtime/index.js'
import {
  diskSelector,
  openLocalTarget,
  openSshTarget,
  parsePins,
  parseSshTarget,
  sshDiskSelector,
  type Capability,
  type FoundDisk,
  type GuardedTarget,
  type SecretSource,
  type SshShell,
  type SshShellOptions,
  type SshTarget,
} from '../../targets/index.js'
import { realStage, type ImageCacheRequest } from '../../lab/index.js'
import { isSsh, sshAccess, type SshRequest } from './ssh-access.js'

/** What may be allowed on a real target, one by one; installing needs none of it. */
export const CAPABILITIES: readonly Capability[] = [
  'power',
  'reboot',
  'efi-variables',
  'hostname',
  'software-raid',
  'burn-in',
  'cleaning',
  'hand-over',
  'unguarded',
]

/** Which machine is to be worked on, and what may be done to it. */
export interface RealTargetRequest {
  /** `local:/dev/disk/by-id/...`, `local:FILE`, `local`, `ssh://user@host:port`. */
  target: string
  /** The disk, where the target does not say it: a serial number, a WWN, a by-id name; a kernel name with `yesErase`. */
  device?: string | undefined
  yesErase?: string | undefined
  allow: readonly Capability[]
  disposable: boolean
  /** Path of coreos-installer on the target. */
  installer?: string | undefined
  /** Where the machine's own tree is, when this runs in a container on it. */
  root?: string | undefined
  /** Where images from URLs are kept, and how they are fetched for it. */
  images?: ImageCacheRequest | undefined
  /** For a machine behind SSH. */
  ssh?: SshRequest | undefined
}

export interface RealTargetOptions extends RealTargetRequest {
  /** Only looked at; nothing is written. */
  readOnly?: boolean
  /** `PATH` and `HOME` for what is run on this host; for SSH also `USER` and `SSH_AUTH_SOCK`. */
  environment: Readonly<Record<string, string | undefined>>
  /** Passwords and passphrases; nobody has any without. */
  secrets?: SecretSource
  clock: Clock
  random: Random
  logger: Logger
  /** Aborted when the command is to stop: nothing is waited for any more, and what was opened is closed. */
  signal?: AbortSignal
}

/** A machine that is not simulated, with the disk that may be written. */
export interface RealTarget extends AsyncDisposable {
  readonly target: GuardedTarget
  readonly disk: FoundDisk
  /** Where coreos-installer is; null where it is not and nothing was to be written. */
  readonly installer: string | null
  /** The file that stands for the disk; null for a disk. */
  readonly file: string | null
  /** How a machine behind SSH is reached. */
  readonly ssh?: { shell: SshShell; access: SshShellOptions; put?: SshTarget['put'] }
  /** Opens it once more, by another connection and whatever boot it is in by now. */
  readonly reopen?: () => Promise<RealTarget>
}

/**
 * Opens a real target. Nothing has been written when this is done.
 *
 * @throws UserError (usage) for a disk that is not named so that it is surely the one that is meant; UserError when it is
 *   not there, or is in use
 */
export async function openRealTarget(options: RealTargetOptions): Promise<RealTarget> {
  const { target: name, root, readOnly = false, ...more } = options
  if (isSsh(name)) return unused(await openBehindSsh(options), options)
  const where = localDisk(options)
  const local = await openLocalTarget({ ...more, where, readOnly, ...(root === undefined ? {} : { root }) })
  const target = {
    ...local.target,
    stage: realStage({ kind: 'files', pathThere: seenIn(root) }, options.images, options),
  }
  return unused({ ...local, target, file: where.startsWith('/dev/') ? null : where }, options)
}

async function openBehindSsh(options: RealTargetOptions): Promise<RealTarget> {
  const { target, root, readOnly = false, ssh = { hostKeys: [] }, environment, secrets, ...more } = options
  const { clock, random, logger } = options
  const nobody: SecretSource = { ask: () => Promise.resolve(null) }
  const access = sshAccess(target, ssh, { environment, secrets: secrets ?? nobody, clock, random, logger })
  const device = sshDisk(options)
  const opened = await openSshTarget({ ...access, ...more, device, readOnly, ...(root === undefined ? {} : { root }) })
  const { shell, ...rest } = opened
  const put = ssh.stageImage ? { put: opened.put } : {}
  const reach = { kind: 'port', lend: (port: number) => shell.lend(port), ...put } as const
  const staging = { ...opened.target, stage: realStage(reach, options.images, options) }
  return {
    ...rest,
    target: staging,
    file: null,
    ssh: { shell, access, ...put },
    reopen: () => openRealTarget(options),
    [Symbol.asyncDispose]: () => opened[Symbol.asyncDispose](),
  }
}

/** Files of this process as programs see them that are run by chroot, which may have another tree. */
const seenIn =
  (root = '') =>
  (path: string): string | null =>
    root === '' ? path : path.startsWith(`${root}/`) ? path.slice(root.length) : null

/** @throws UserError (usage) when nobody names the disk */
function sshDisk({ target, device }: Pick<RealTargetRequest, 'target' | 'device'>): string {
  if (device !== undefined) return device
  throw new UserError('target', `no option says which disk of ${target} may be written`, {
    kind: 'usage',
    remedy: 'say --device SERIAL|WWN|BY-ID-NAME; lsblk -o NAME,SERIAL,WWN there shows them',
  })
}

async function unused(opened: RealTarget, { target, readOnly = false }: RealTargetOptions): Promise<RealTarget> {
  if (opened.disk.inUse === null || readOnly) return opened
  await opened[Symbol.asyncDispose]()
  throw new UserError('disk-in-use', `${target} is not touched: ${opened.disk.inUse}`, {
    remedy: 'unmount, stop or remove what uses the disk; nothing that is in use is ever written',
  })
}

/** @throws UserError (usage) when the target and the device do not name one disk together */
function localDisk({ target, device }: Pick<RealTargetRequest, 'target' | 'device'>): string {
  const usage = (message: string, remedy: string) => new UserError('target', message, { kind: 'usage', remedy })
  const [, kind, where = ''] = /^(local)(?::(.+))?$/.exec(target) ?? []
  if (kind === undefined) throw usage(`the target ${target} cannot be used`, 'use sim, local:DEVICE or local:FILE')
  if (where === '' && device === undefined)
    throw usage('a local target needs a disk', 'say --device SERIAL|WWN|BY-ID-NAME, or --target local:FILE')
  if (where === '') return asDevice(device!)
  if (device !== undefined)
    throw usage(`both --target ${target} and --device ${device} name a disk`, 'leave one of them out')
  return where
}

const asDevice = (device: string): string =>
  device.startsWith('/dev/')
    ? device
    : /^[a-z]+\d*[a-z]*\d*$/.test(device)
      ? `/dev/${device}`
      : `/dev/disk/by-id/${device}`

/** What would be done, as far as that can be told without asking the target anything. */
export function planText(request: RealTargetRequest, does: string): string[] {
  const { target, device, yesErase, allow, disposable, ssh } = request
  const disk = isSsh(target) ? sshDisk(request) : localDisk({ target, device })
  if (isSsh(target)) {
    parseSshTarget(target)
    parsePins(ssh?.hostKeys ?? [])
    sshDiskSelector(disk, yesErase)
  } else if (disk.startsWith('/dev/')) diskSelector(disk, yesErase)
  return [
    `plan for ${target}; nothing was contacted, read or written`,
    `  disk       ${disk}${yesErase === undefined ? '' : `, if its serial number or WWN is ${yesErase}`}; all others are hidden and refused`,
    `  does       ${does}`,
    `  allowed    ${allow.length === 0 ? 'nothing beside that' : allow.join(', ')}`,
    `  not done   ${CAPABILITIES.filter((capability) => capability !== 'unguarded' && !allow.includes(capability)).join(', ') || 'nothing'}`,
    ...(disposable ? ['  disposable the target itself may be changed'] : []),
    'see what is on the disk with --check, which only reads',
  ]
}
