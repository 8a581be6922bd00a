/** CoreOS live ISOs of a few hundred KiB, made here: the layouts of all architectures, and damaged ones. */

export type LiveArchitecture = 'x86_64' | 'aarch64' | 'ppc64le' | 's390x'

export const LIVE_KARGS =
  'mitigations=auto,nosmt coreos.liveiso=fake-coreos-99 ignition.firstboot ignition.platform.id=metal'
const AREA = 262144

/** The one file that a live initramfs is known by, uncompressed. */
export function liveInitramfs(features: object | null = FEATURES): Buffer {
  const files: [string, number, Buffer][] = [
    ['etc', 0o40755, Buffer.alloc(0)],
    ['etc/coreos-live-initramfs', 0o100644, Buffer.alloc(0)],
  ]
  if (features) files.push(['etc/coreos/features.json', 0o100644, Buffer.from(JSON.stringify(features))])
  const align = (bytes: Buffer) => Buffer.concat([bytes, Buffer.alloc(-bytes.length & 3)])
  return Buffer.concat(
    [...files, ['TRAILER!!!', 0, Buffer.alloc(0)] as const].flatMap(([path, mode, bytes], inode) => {
      const fields = [inode, mode, 0, 0, 1, 0, bytes.length, 0, 0, 0, 0, path.length + 1, 0]
      const hex = fields.map((field) => field.toString(16).padStart(8, '0')).join('')
      return [align(Buffer.from(`070701${hex}${path}\0`)), align(bytes)]
    }),
  )
}

const FEATURES = {
  'installer-config': true,
  'installer-config-directives': { 'append-karg': true, console: true },
  'live-initrd-network': true,
}

export type LiveFiles = Record<string, Buffer>

/** Files of a live ISO of an architecture, by their paths before ISO 9660 shortens and capitalises them. */
export function liveFiles(
  architecture: LiveArchitecture = 'x86_64',
  { features = FEATURES as object | null, size = 1139 } = {},
): LiveFiles {
  const info = (files: object[]) =>
    Buffer.from(JSON.stringify({ default: LIVE_KARGS, size: architecture === 's390x' ? 896 : size, files }).padEnd(900))
  const file = (before: string, after: string) =>
    Buffer.concat([Buffer.from(before), Buffer.from(`${LIVE_KARGS}\n`.padEnd(size, '#')), Buffer.from(after)])
  const grub = file('linux /images/pxeboot/vmlinuz ', '\ninitrd /images/pxeboot/initrd.img\n')
  const offset = 'linux /images/pxeboot/vmlinuz '.length
  const common = {
    ...(features ? { 'coreos/features.json': Buffer.from(JSON.stringify(features)) } : {}),
    'images/pxeboot/vmlinuz': Buffer.from('kernel '.repeat(500)),
    'images/pxeboot/initrd.img': liveInitramfs(features),
    'images/pxeboot/rootfs.img': Buffer.from('root filesystem '.repeat(3000)),
  }
  const ignition = {
    'coreos/igninfo.json': Buffer.from('{"file":"images/ignition.img"}'),
    'images/ignition.img': Buffer.alloc(AREA),
  }
  switch (architecture) {
    case 'x86_64':
      return {
        ...common,
        ...ignition,
        'EFI/fedora/grub.cfg': grub,
        'isolinux/isolinux.cfg': file('append ', '\n'),
        'coreos/kargs.json': info([
          { path: 'EFI/fedora/grub.cfg', offset },
          { path: 'isolinux/isolinux.cfg', offset: 7 },
        ]),
      }
    case 'aarch64':
      return {
        ...common,
        ...ignition,
        'EFI/fedora/grub.cfg': grub,
        'coreos/kargs.json': info([{ path: 'EFI/fedora/grub.cfg', offset, pad: '#', end: '\n' }]),
      }
    case 'ppc64le':
      return {
        ...common,
        ...ignition,
        'boot/grub/grub.cfg': grub,
        'coreos/kargs.json': info([{ path: 'boot/grub/grub.cfg', offset }]),
      }
    case 's390x': {
      // Both areas are inside of the file that the firmware boots.
      const boot = Buffer.alloc(132096 + AREA + 1000, 'Z')
      boot.fill(0, 66688, 66688 + 896).write(LIVE_KARGS, 66688)
      boot.fill(0, 132096, 132096 + AREA)
      return {
        ...common,
        'images/cdboot.img': boot,
        'coreos/igninfo.json': Buffer.from(JSON.stringify({ file: 'images/cdboot.img', offset: 132096, length: AREA })),
        'coreos/kargs.json': info([{ path: 'images/cdboot.img', offset: 66688, pad: '\0', end: '\0' }]),
      }
    }
  }
}

const SECTOR = 2048

interface Folder {
  folders: Map<string, Folder>
  files: Map<string, Buffer>
  sector: number
}

/** An ISO9660 image with the plain tree only; folders have to fit into one sector. */
export function isoImage(files: LiveFiles, volume = 'fake-coreos-99'): Buffer {
  const root = emptyFolder()
  for (const [path, bytes] of Object.entries(files)) {
    const parts = path.toUpperCase().split('/')
    let folder = root
    for (const part of parts.slice(0, -1)) {
      if (!folder.folders.has(part)) folder.folders.set(part, emptyFolder())
      folder = folder.folders.get(part)!
    }
    folder.files.set(`${shortened(parts.at(-1)!)};1`, bytes)
  }
  const sectors: Buffer[] = []
  let next = 18
  const all: Folder[] = []
  const place = (folder: Folder) => {
    folder.sector = next++
    all.push(folder)
    folder.folders.forEach(place)
  }
  place(root)
  const contents = new Map<Buffer, number>()
  for (const { files } of all)
    for (const bytes of files.values()) {
      contents.set(bytes, next)
      next += Math.ceil(bytes.length / SECTOR)
      sectors.push(padded(bytes))
    }
  const image = Buffer.alloc(18 * SECTOR)
  image.write('\x01CD001\x01', 16 * SECTOR, 'latin1')
  image.write(volume.padEnd(32), 16 * SECTOR + 40, 'latin1')
  image.writeUInt32LE(next, 16 * SECTOR + 80)
  entry('\0', root.sector, SECTOR, true).copy(image, 16 * SECTOR + 156)
  image.write('\xffCD001\x01', 17 * SECTOR, 'latin1')
  return Buffer.concat([image, ...all.map((folder) => folderSector(folder, contents)), ...sectors])
}

const emptyFolder = (): Folder => ({ folders: new Map(), files: new Map(), sector: 0 })

const shortened = (name: string): string =>
  name.replace(/^([^.]{1,8})[^.]*(?:\.(.{1,3}).*)?$/, (_, stem: string, extension = '') => `${stem}.${extension}`)

const padded = (bytes: Buffer): Buffer => Buffer.concat([bytes, Buffer.alloc(-bytes.length & (SECTOR - 1))])

function folderSector({ folders, files, sector }: Folder, contents: Map<Buffer, number>): Buffer {
  const records = [
    entry('\0', sector, SECTOR, true),
    entry('\x01', sector, SECTOR, true),
    ...[...folders].map(([name, folder]) => entry(name, folder.sector, SECTOR, true)),
    ...[...files].map(([name, bytes]) => entry(name, contents.get(bytes)!, bytes.length, false)),
  ]
  const bytes = Buffer.concat(records)
  if (bytes.length > SECTOR) throw new Error('a folder has too many files')
  return padded(bytes)
}

function entry(name: string, sector: number, size: number, folder: boolean): Buffer {
  const record = Buffer.alloc((33 + name.length + 1) & ~1)
  record[0] = record.length
  record.writeUInt32LE(sector, 2)
  record.writeUInt32LE(size, 10)
  record[25] = folder ? 2 : 0
  record[32] = name.length
  record.write(name, 33, 'latin1')
  return record
}
