import { defined } from '../../base/runtime/index.js'
import type { CellNeeds } from '../confinement/needs.js'
import type { TargetCapability } from '../executor.js'

/** Effect of a known program, and the rights that it needs for that. */
export type KnownProgram = {
  /** Whether a command line changes nothing. */
  readsOnly?: (words: readonly string[]) => boolean
  needs?: (words: readonly string[]) => Partial<CellNeeds>
} & (
  | { kind: 'harmless' }
  /** Changes the devices that it names, and must name one. */
  | { kind: 'devices'; capability?: TargetCapability; arrays?: true }
  /** Changes the files that it names, and may name devices. */
  | { kind: 'files' }
  /** Mounts or unmounts; the supervisor does so itself, outside of any cell, so that later commands see the mount. */
  | { kind: 'mounts' }
  /** Changes the machine itself; `outside`: it asks the service manager to, and so runs outside of any cell. */
  | { kind: 'machine'; capability: (words: readonly string[]) => TargetCapability; outside: boolean }
)

const assignToNames = <T>(names: readonly string[], value: T): Record<string, T> =>
  Object.fromEntries(names.map((name) => [name, value]))
const only =
  (...patterns: RegExp[]) =>
  (words: readonly string[]): boolean =>
    words.length > 0 && words.every((word) => patterns.some((pattern) => pattern.test(word)))
const starts =
  (pattern: RegExp) =>
  ([first = '']: readonly string[]): boolean =>
    pattern.test(first)
const matchAnyWord =
  (pattern: RegExp) =>
  (words: readonly string[]): boolean =>
    words.some((word) => pattern.test(word))
const none =
  (pattern: RegExp) =>
  (words: readonly string[]): boolean =>
    !words.some((word) => pattern.test(word))

/** Making the kernel read a partition table takes CAP_SYS_ADMIN. */
const tables = () => ({ capabilities: ['sys_admin'], partitions: true })
const machine = (capability: TargetCapability): KnownProgram => ({
  kind: 'machine',
  capability: () => capability,
  outside: false,
})
const serviceProgram = (capability: TargetCapability, readsOnly?: KnownProgram['readsOnly']): KnownProgram => ({
  kind: 'machine',
  capability: () => capability,
  outside: true,
  ...defined({ readsOnly }),
})
const filesProgram: KnownProgram = { kind: 'files' }
const devices: KnownProgram = { kind: 'devices' }
const networkProgram: KnownProgram = { kind: 'harmless', readsOnly: () => true, needs: () => ({ network: true }) }

/** Programs by plain names that a shell finds on its PATH; a program with a path is unknown. */
const KNOWN_PROGRAMS: Readonly<Record<string, KnownProgram>> = {
  ...assignToNames(['sync', 'true'], { kind: 'harmless' }),
  udevadm: {
    kind: 'harmless',
    readsOnly: starts(/^(settle|info|--version)$/),
    needs: ([verb]) => (verb === 'settle' ? { udevControl: true } : {}),
  },
  'coreos-installer': {
    kind: 'devices',
    readsOnly: (words) =>
      words[0] !== 'install' && !matchAnyWord(/^(-o|-O|--output|-d|-C|--directory|--dest-device|-i)$/)(words),
    needs: ([verb]) => ({
      network: true,
      udevControl: true,
      // They verify signatures by gpg, which has helpers.
      unixSockets: verb === 'install' || verb === 'download',
      ...(verb === 'install' ? tables() : {}),
    }),
  },
  ...assignToNames(['shred', 'blkdiscard', 'mke2fs', 'mkswap', 'tune2fs', 'resize2fs', 'xfs_admin'], devices),
  // Device-mapper maps can reach other disks, so no cell has the device mapper.
  kpartx: { kind: 'devices', readsOnly: starts(/^-l/) },
  wipefs: { kind: 'devices', readsOnly: none(/^(-\w*[ao]\w*|--(all|offset)(=.*)?)$/) },
  sgdisk: {
    kind: 'devices',
    readsOnly: only(/^-[pviP]$/, /^--(print|verify|info=.*|pretend)$/, /^\d+$/, /^\//),
    needs: tables,
  },
  sfdisk: {
    kind: 'devices',
    readsOnly: starts(/^(-[dJlgs]|--(dump|json|list|show-size|show-geometry|verify))$/),
    needs: tables,
  },
  parted: { kind: 'devices', readsOnly: matchAnyWord(/^print$/), needs: tables },
  partprobe: { kind: 'devices', readsOnly: matchAnyWord(/^(-d|--dry-run)$/), needs: tables },
  partx: { kind: 'devices', readsOnly: matchAnyWord(/^(-[sl]|--(show|list))$/), needs: tables },
  blockdev: { kind: 'devices', readsOnly: only(/^--(get.*|report|v|verbose)$/, /^\//), needs: tables },
  hdparm: {
    kind: 'devices',
    readsOnly: only(/^-[iIgCH]$/, /^\//),
    needs: () => ({ capabilities: ['sys_rawio', 'sys_admin'] }),
  },
  nvme: {
    kind: 'devices',
    readsOnly: starts(/^(id-ctrl|id-ns|list|list-ns|smart-log|sanitize-log|show-regs)$/),
    needs: () => ({ capabilities: ['sys_admin'], devices: ['nvme[0-9]', 'nvme[0-9][0-9]'] }),
  },
  mdadm: {
    kind: 'devices',
    capability: 'software-raid',
    arrays: true,
    readsOnly: starts(/^(-D|-E|-Q|--detail|--examine|--query|--detail-platform)$/),
    // Its other modes start programs, or act on all arrays that a file lists.
    needs: (words) =>
      starts(/^(-D|-E|-Q|-C|-S|--detail|--examine|--query|--create|--stop|--zero-superblock|--fail|--remove)$/)(words)
        ? { capabilities: ['sys_admin', 'mknod'], sysfs: true, partitions: true }
        : {},
  },
  dd: { kind: 'files', readsOnly: none(/^of=/) },
  ...assignToNames(
    ['mkdir', 'rmdir', 'rm', 'cp', 'mv', 'ln', 'chmod', 'chown', 'touch', 'tee', 'truncate', 'install'],
    filesProgram,
  ),
  // Needs a named device: only the loop device that stands for the disk may be changed.
  losetup: {
    kind: 'devices',
    readsOnly: (words) => words.length === 0 || matchAnyWord(/^(-[alj]|--(all|list|associated))$/)(words),
  },
  mount: { kind: 'mounts', readsOnly: (words) => words.length === 0 || only(/^-l$/)(words) },
  umount: { kind: 'mounts' },
  efibootmgr: {
    kind: 'machine',
    capability: () => 'efi-variables',
    outside: false,
    readsOnly: (words) => words.every((word) => /^(-v|--verbose|-u|--unicode)$/.test(word)),
    needs: () => ({ efiVariables: true, capabilities: ['linux_immutable'] }),
  },
  hostname: serviceProgram('hostname', none(/^[^-]|^-[bF]|^--(boot|file)/)),
  hostnamectl: serviceProgram('hostname', none(/^(set-)?(hostname|icon-name|chassis|deployment|location)$/)),
  ...assignToNames(['stress-ng', 'fio'], machine('burn-in')),
  ...assignToNames(['gpu_burn', 'gpu-burn'], {
    ...machine('burn-in'),
    needs: () => ({ devices: ['nvidia*', 'nvidia-caps/*', 'dri/*', 'kfd'] }),
  } as KnownProgram),
  ...assignToNames(['poweroff', 'halt'], serviceProgram('power')),
  reboot: serviceProgram('reboot'),
  systemctl: {
    kind: 'machine',
    outside: true,
    readsOnly: starts(/^(is-active|is-enabled|is-failed|is-system-running|status|show|cat|list-.*)$/),
    capability: (words) =>
      words.some((word) => /^(poweroff|halt)$/.test(word))
        ? 'power'
        : words.some((word) => /^(reboot|soft-reboot|kexec)$/.test(word))
          ? 'reboot'
          : 'hand-over',
  },
  // They read the target's networks, which a cell hides by default.
  ...assignToNames(['ip', 'ethtool', 'lshw', 'hardware-detect', 'curl'], networkProgram),
  tcpdump: {
    kind: 'harmless',
    readsOnly: () => true,
    needs: () => ({ network: true, capabilities: ['net_raw', 'net_admin'] }),
  },
  ipmitool: {
    kind: 'harmless',
    readsOnly: ([lan = '', print = '']) => /^lan6?$/.test(lan) && print === 'print',
    needs: () => ({ devices: ['ipmi[0-9]', 'ipmi/[0-9]', 'ipmidev/[0-9]'] }),
  },
}

/** Null for an unknown program, whose effects cannot be judged. */
export function knownProgram(name: string): KnownProgram | null {
  const plain = name.startsWith('mkfs.') || name === 'mkfs' ? 'mke2fs' : name
  return Object.hasOwn(KNOWN_PROGRAMS, plain) ? KNOWN_PROGRAMS[plain]! : null
}
