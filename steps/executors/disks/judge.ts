import { posix } from 'node:path'
import type { Capability, Command } from '../executor.js'
import type { GuardedOperands } from './guard-script.js'

/** What may be done on a target. */
export interface Allowances {
  has(capability: Capability): boolean
  /** Nothing on the machine itself matters: programs whose effect cannot be told may run. */
  disposable: boolean
  /** Folders that may be written, apart from the runs' own. */
  folders: readonly string[]
}

export type Judgement = { kind: 'run'; operands: GuardedOperands | null } | { kind: 'refuse'; why: string }

type Rule =
  /** Changes nothing that matters. */
  | { kind: 'harmless' }
  /** Changes the devices that it names, and must name one. */
  | { kind: 'devices'; capability?: Capability; arrays?: true }
  /** Changes the files that it names, and may name devices. */
  | { kind: 'files' }
  | { kind: 'machine'; capability: (argv: readonly string[]) => Capability }

const devices: Rule = { kind: 'devices' }
const files: Rule = { kind: 'files' }
const machine = (capability: Capability): Rule => ({ kind: 'machine', capability: () => capability })

/** What programs change. Whatever is not here cannot be judged. */
const RULES: Readonly<Record<string, Rule>> = {
  ...Object.fromEntries(['sync', 'udevadm', 'true', 'modprobe'].map((name) => [name, { kind: 'harmless' } as const])),
  ...Object.fromEntries(
    ['coreos-installer', 'sgdisk', 'sfdisk', 'parted', 'wipefs', 'blkdiscard', 'shred', 'hdparm', 'nvme'].map(
      (name) => [name, devices],
    ),
  ),
  ...Object.fromEntries(
    ['blockdev', 'partx', 'partprobe', 'kpartx', 'mke2fs', 'mkswap', 'tune2fs', 'resize2fs', 'xfs_admin'].map(
      (name) => [name, devices],
    ),
  ),
  ...Object.fromEntries(
    [
      'dd',
      'mkdir',
      'rmdir',
      'rm',
      'cp',
      'mv',
      'ln',
      'chmod',
      'chown',
      'touch',
      'tee',
      'truncate',
      'mount',
      'umount',
    ].map((name) => [name, files]),
  ),
  mdadm: { kind: 'devices', capability: 'software-raid', arrays: true },
  efibootmgr: machine('efi-variables'),
  hostname: machine('hostname'),
  hostnamectl: machine('hostname'),
  'stress-ng': machine('burn-in'),
  fio: machine('burn-in'),
  gpu_burn: machine('burn-in'),
  poweroff: machine('power'),
  halt: machine('power'),
  reboot: machine('reboot'),
  systemctl: {
    kind: 'machine',
    capability: (argv) =>
      argv.some((word) => /^(poweroff|halt)$/.test(word))
        ? 'power'
        : argv.some((word) => /^(reboot|soft-reboot|kexec)$/.test(word))
          ? 'reboot'
          : 'hand-over',
  },
}

/** Nodes that are no disks. */
const NO_DISKS = /^\/dev\/(null|zero|full|u?random|tty|stdin|stdout|stderr|fd\/\d+)$/

/**
 * What a command that changes something would change, by its words; the disks that they name are looked at on the
 * target, right before it runs. A mount counts however it was announced: a file system may be repaired by it.
 */
export function judge({ argv, effect }: Pick<Command, 'argv' | 'effect'>, allowances: Allowances): Judgement {
  const program = posix.basename(argv[0])
  if (effect === 'reads' && program !== 'mount') return { kind: 'run', operands: null }
  const rule = RULES[program.startsWith('mkfs') ? 'mke2fs' : program]
  const operands = { devices: devicesIn(argv), paths: [] as string[], arrays: false }
  if (!rule) {
    if (allowances.disposable) return { kind: 'run', operands }
    return refuse(`what ${program} would change is not known`)
  }
  switch (rule.kind) {
    case 'harmless':
      return operands.devices.length === 0 ? { kind: 'run', operands: null } : { kind: 'run', operands }
    case 'devices': {
      const { capability, arrays = false } = rule
      if (capability && !allowances.has(capability)) return refuse(`it was not allowed to use ${capability}`)
      if (operands.devices.length === 0) return refuse(`${program} names no disk, so it could mean any`)
      // A wiped array is one that is about to be taken apart.
      const ofArray = program === 'wipefs' && argv.some((word) => /^\/dev\/md/.test(word))
      const judged = { ...operands, arrays: arrays || (ofArray && allowances.has('software-raid')) }
      const made = program === 'mdadm' ? argv[argv.indexOf('--create') + 1] : undefined
      if (!argv.includes('--create') || made === undefined) return { kind: 'run', operands: judged }
      return {
        kind: 'run',
        operands: { ...judged, devices: judged.devices.filter((path) => path !== made), made: [made] },
      }
    }
    case 'files': {
      const paths = pathsIn(program, argv).filter((path) => !allowances.folders.some((folder) => isBelow(path, folder)))
      return { kind: 'run', operands: { ...operands, paths: allowances.disposable ? [] : paths } }
    }
    case 'machine': {
      const capability = rule.capability(argv)
      return allowances.has(capability) ? { kind: 'run', operands } : refuse(`it was not allowed to use ${capability}`)
    }
  }
}

const refuse = (why: string): Judgement => ({ kind: 'refuse', why })

/** Every device that is mentioned anywhere, as in `of=/dev/sda` and `--filename=/dev/sda:/dev/sdb`. */
function devicesIn(argv: readonly string[]): string[] {
  const named = argv.slice(1).flatMap((word) => word.match(/\/dev\/[^\s,;:='"|&<>()]+/g) ?? [])
  return [...new Set(named.map((path) => posix.normalize(path)))].filter((path) => !NO_DISKS.test(path))
}

/** The files that are mentioned, devices apart. Folders that links come out of are looked at on the target. */
function pathsIn(program: string, argv: readonly string[]): string[] {
  const named = argv.slice(1).flatMap((word) => {
    if (program === 'dd') return /^of=(.*)$/.exec(word)?.[1] ?? []
    if (word.startsWith('/')) return word
    // Options and their values; a relative path would be one of the root folder.
    return /^[\w.]+\//.test(word) ? `/${word}` : []
  })
  return [...new Set(named.map((path) => posix.normalize(path)))].filter((path) => !path.startsWith('/dev/'))
}

export const isBelow = (path: string, folder: string): boolean =>
  posix.normalize(path) === folder || posix.normalize(path).startsWith(`${folder}/`)
