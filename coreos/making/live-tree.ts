import { defined } from '../../base/runtime/index.js'
import { makeCpio } from '../../base/bytes/index.js'

/** Architectures of which CoreOS has live images. */
export const LIVE_ARCHITECTURES = ['x86_64', 'aarch64', 'ppc64le', 's390x'] as const
export type LiveArchitecture = (typeof LIVE_ARCHITECTURES)[number]

/** Files of a live ISO, by path. */
export type LiveTree = Record<string, Buffer>

export interface LiveTreeOptions {
  architecture: LiveArchitecture
  /** Name of the volume, by which the live system finds its root filesystem: `fedora-coreos-38.20230718.3.0`. */
  label: string
  /** Version of the operating system, for the initramfs. */
  version: string
  /** Contents of `features.json`; null for an image of before 2022, which has none. */
  features?: object | null
  /** Bytes of the area for kernel arguments. */
  kargsSize?: number
}

/** Bytes of the area for an Ignition config, as in published images. */
const IGNITION_AREA = 262_144
const KARGS_AREA = 1139
/** On s390x the area is in the boot image, and what it holds is the kernel's whole command line. */
const S390X_KARGS_AREA = 896
const S390X_KARGS = 66_688
const S390X_IGNITION = 132_096

const FEATURES = {
  'installer-config': true,
  'installer-config-directives': { 'append-karg': true, console: true },
  'live-initrd-network': true,
}

/** Default kernel arguments of a live ISO. */
export const liveIsoKargs = (label: string): string =>
  `mitigations=auto,nosmt coreos.liveiso=${label} ignition.firstboot ignition.platform.id=metal`

/**
 * Files of a small live ISO, in the layout of published ones: coreos-installer reads and changes it, simulated machines
 * boot it. What would run on a real machine is text.
 */
export function liveTree(options: LiveTreeOptions): LiveTree {
  const { architecture, label, features = FEATURES } = options
  const text = (what: string, times: number): Buffer =>
    Buffer.from(`${what} of ${label}, ${architecture}. `.repeat(times))
  const common: LiveTree = {
    ...defined({ 'coreos/features.json': features ? Buffer.from(JSON.stringify(features)) : undefined }),
    'images/pxeboot/vmlinuz': text('kernel', 80),
    'images/pxeboot/initrd.img': smallInitramfs(options),
    'images/pxeboot/rootfs.img': text('root filesystem', 1000),
  }
  return { ...common, ...(architecture === 's390x' ? s390xBoot(options) : bootFiles(options)) }
}

/** The initramfs of a live system: the files that it is known by, uncompressed. */
export function smallInitramfs({
  version,
  architecture,
  features = FEATURES,
}: Pick<LiveTreeOptions, 'version' | 'features'> & Partial<LiveTreeOptions>): Buffer {
  return makeCpio([
    { path: 'etc/coreos-live-initramfs', bytes: Buffer.alloc(0) },
    // Copied from the root filesystem, as by dracut.
    { path: 'usr/lib/initrd-release', bytes: Buffer.from(`OSTREE_VERSION='${version}'\n`) },
    ...(architecture === undefined
      ? []
      : [{ path: `usr/lib/modules/6.0.0-small.${architecture}/modules.dep`, bytes: Buffer.alloc(0) }]),
    ...(features ? [{ path: 'etc/coreos/features.json', bytes: Buffer.from(JSON.stringify(features)) }] : []),
  ])
}

const LINUX = 'linux /images/pxeboot/vmlinuz '

/** Boot loaders' menus, with the area for kernel arguments in each. */
function bootFiles({ architecture, label, kargsSize = KARGS_AREA }: LiveTreeOptions): LiveTree {
  const menu = (before: string, after: string): Buffer =>
    Buffer.concat([
      Buffer.from(before),
      Buffer.from(`${liveIsoKargs(label)}\n`.padEnd(kargsSize, '#')),
      Buffer.from(after),
    ])
  const grub = menu(LINUX, '\ninitrd /images/pxeboot/initrd.img\n')
  const offset = LINUX.length
  const embedded: LiveTree = {
    'coreos/igninfo.json': Buffer.from('{"file":"images/ignition.img"}'),
    'images/ignition.img': Buffer.alloc(IGNITION_AREA),
  }
  if (architecture === 'ppc64le') {
    const path = 'boot/grub/grub.cfg'
    return { ...embedded, [path]: grub, 'coreos/kargs.json': kargsInfo(label, kargsSize, [{ path, offset }]) }
  }
  const path = 'EFI/fedora/grub.cfg'
  if (architecture === 'aarch64')
    return {
      ...embedded,
      [path]: grub,
      'coreos/kargs.json': kargsInfo(label, kargsSize, [{ path, offset, pad: '#', end: '\n' }]),
    }
  const isolinux = 'isolinux/isolinux.cfg'
  return {
    ...embedded,
    [path]: grub,
    [isolinux]: menu('append ', '\n'),
    'coreos/kargs.json': kargsInfo(label, kargsSize, [
      { path, offset },
      { path: isolinux, offset: 'append '.length },
    ]),
  }
}

/** Both areas are inside of the file that the firmware boots. */
function s390xBoot({ label }: LiveTreeOptions): LiveTree {
  const file = 'images/cdboot.img'
  const boot = Buffer.alloc(S390X_IGNITION + IGNITION_AREA + 1000, 'Z')
  boot.fill(0, S390X_KARGS, S390X_KARGS + S390X_KARGS_AREA).write(liveIsoKargs(label), S390X_KARGS)
  boot.fill(0, S390X_IGNITION, S390X_IGNITION + IGNITION_AREA)
  return {
    [file]: boot,
    'coreos/igninfo.json': Buffer.from(JSON.stringify({ file, offset: S390X_IGNITION, length: IGNITION_AREA })),
    'coreos/kargs.json': kargsInfo(label, S390X_KARGS_AREA, [
      { path: file, offset: S390X_KARGS, pad: '\0', end: '\0' },
    ]),
  }
}

interface KargsPlace {
  path: string
  offset: number
  pad?: string
  end?: string
}

/** Padded, as in published images, which coreos-assembler writes before it knows the offsets. */
const kargsInfo = (label: string, size: number, files: readonly KargsPlace[]): Buffer =>
  Buffer.from(JSON.stringify({ default: liveIsoKargs(label), size, files }).padEnd(900))
