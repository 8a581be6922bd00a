import { UserError, defined, type Clock, type Logger, type Random } from '../../../base/runtime/index.js'
import {
  diskSelector,
  openLocalTarget,
  openSshTarget,
  parsePins,
  parseSshTarget,
  sshDiskSelector,
  type TargetCapability,
  type FoundDisk,
  type GuardedTarget,
  type SecretSource,
  type SshShell,
  type SshShellOptions,
  type SshTarget,
} from '../../../targets/index.js'
import { realStaging, type ImageCacheRequest } from '../../../lab/index.js'
import type { ImageReach } from '../../../steps/index.js'
import { isSsh, sshAccess, type SshRequest } from './ssh-access.js'

/** Capabilities that can be allowed on a real target, one by one; an installation needs none of them. */
export const REAL_CAPABILITIES: readonly TargetCapability[] = [
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

/** The requested target, and the permitted actions on it. */
export interface RealTargetRequest {
  /** `local:/dev/disk/by-id/...`, `local:FILE`, `local`, `ssh://user@host:port`. */
  target: string
  /** The disk, when the target has none: a serial number, a WWN, a by-id or by-path name; or a kernel name with `yesErase`. */
  device?: string | undefined
  yesErase?: string | undefined
  allow: readonly TargetCapability[]
  disposable: boolean
  /** Path of coreos-installer on the target, or `built-in`. */
  installer?: string | undefined
  /** Path of the machine's root file system, when this runs in a container on it. */
  root?: string | undefined
  /** Image cache, and options for downloads. */
  images?: ImageCacheRequest | undefined
  /** Options for a machine behind SSH. */
  ssh?: SshRequest | undefined
  /** How a machine behind SSH gets images; by default through that connection. */
  reach?: ImageReach | undefined
}

export interface RealTargetOptions extends RealTargetRequest {
  /** Only reads the target. */
  readOnly?: boolean
  /** `PATH` and `HOME` for programs on this host; for SSH also `USER` and `SSH_AUTH_SOCK`. */
  environment: Readonly<Record<string, string | undefined>>
  /** Source of passwords and passphrases; default none. */
  secrets?: SecretSource
  clock: Clock
  random: Random
  logger: Logger
  /** Aborted when the command must stop: ends all waits, and closes what was opened. */
  signal?: AbortSignal
}

/** A real machine, with the disk that may be written. */
export interface RealTarget extends AsyncDisposable {
  readonly target: GuardedTarget
  readonly disk: FoundDisk
  /** Name of the installer for reports; null when it is missing and the target is read only. */
  readonly installer: string | null
  /** File that is used as the disk; null for a real disk. */
  readonly file: string | null
  /** Connection to a machine behind SSH. */
  readonly ssh?: { shell: SshShell; access: SshShellOptions; put?: SshTarget['put'] }
  /** Opens the target again on a new connection, also after a reboot. */
  readonly reopen?: () => Promise<RealTarget>
}

/**
 * Opens a real target without writing to it.
 *
 * @throws UserError (usage) for an ambiguous name of the disk; UserError when the disk does not exist or is in use
 */
export async function openRealTarget(options: RealTargetOptions): Promise<RealTarget> {
  const { target: name, root, readOnly = false, ...more } = options
  if (isSsh(name)) return refuseInUse(await openBehindSsh(options), options)
  const where = localDisk(options)
  const local = await openLocalTarget({ ...more, where, readOnly, ...defined({ root }) })
  const target = {
    ...local.target,
    stage: realStaging({ kind: 'files', pathThere: seenIn(root) }, options.images, options),
  }
  return refuseInUse({ ...local, target, file: where.startsWith('/dev/') ? null : where }, options)
}

async function openBehindSsh(options: RealTargetOptions): Promise<RealTarget> {
  const { target, root, readOnly = false, ssh = { hostKeys: [] }, environment, secrets, ...more } = options
  const { clock, random, logger } = options
  const noSecrets: SecretSource = { ask: () => Promise.resolve(null) }
  const access = sshAccess(target, ssh, { environment, secrets: secrets ?? noSecrets, clock, random, logger })
  const device = sshDisk(options)
  const opened = await openSshTarget({ ...access, ...more, device, readOnly, ...defined({ root }) })
  const { shell, ...rest } = opened
  const put = ssh.stageImage ? { put: opened.put } : {}
  const byLink = { kind: 'port', forward: (port: number) => shell.forward(port), ...put } as const
  const reach = options.reach ?? byLink
  const staging = { ...opened.target, stage: realStaging(reach, options.images, options) }
  return {
    ...rest,
    target: staging,
    file: null,
    ssh: { shell, access, ...put },
    reopen: () => openRealTarget(options),
    [Symbol.asyncDispose]: () => opened[Symbol.asyncDispose](),
  }
}

/** Maps a path of this process to the path that programs see in a chroot; null when they cannot see the file. */
const seenIn =
  (root = '') =>
  (path: string): string | null =>
    root === '' ? path : path.startsWith(`${root}/`) ? path.slice(root.length) : null

/** @throws UserError (usage) without a disk */
function sshDisk({ target, device }: Pick<RealTargetRequest, 'target' | 'device'>): string {
  if (device !== undefined) return device
  throw new UserError('target', `no option says which disk of ${target} may be written`, {
    kind: 'usage',
    remedy: 'use --device SERIAL|WWN|BY-ID-NAME; lsblk -o NAME,SERIAL,WWN and ls /dev/disk/by-path there show them',
  })
}

async function refuseInUse(opened: RealTarget, { target, readOnly = false }: RealTargetOptions): Promise<RealTarget> {
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
    throw usage('a local target needs a disk', 'use --device SERIAL|WWN|BY-ID-NAME, or --target local:FILE')
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

const byPlace = (disk: string): boolean => disk.startsWith('/dev/disk/by-path/')

/** Text of `--plan`: the actions, as far as they are known without contacting the target. */
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
    `  disk       ${disk}${yesErase === undefined ? '' : `, if its ${byPlace(disk) ? 'size' : 'serial number or WWN'} is ${yesErase}`}; all others are hidden and refused`,
    `  does       ${does}`,
    `  allowed    ${allow.length === 0 ? 'nothing beside that' : allow.join(', ')}`,
    `  not done   ${REAL_CAPABILITIES.filter((capability) => capability !== 'unguarded' && !allow.includes(capability)).join(', ') || 'nothing'}`,
    ...(disposable ? ['  disposable the target itself may be changed'] : []),
    'see what is on the disk with --check, which only reads',
  ]
}
