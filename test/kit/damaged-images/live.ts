import { gzipSync } from 'node:zlib'
import lzma from 'lzma-native'
import { systemClock } from '../../../base/runtime/index.js'
import { wrapFiles } from '../../../coreos/live/initramfs.js'
import { isoImage, liveFiles, liveInitramfs, type LiveArchitecture } from '../images/live-iso.js'
import { changeField, damage, type Chance } from './chance.js'
import { mutateGzip, mutateXz, mutateZstd } from './compressed.js'

const SECTOR = 2048
const DESCRIPTOR = 16 * SECTOR
const MIB = 2 ** 20

/** Archives as they are embedded and appended, in every compression. */
export interface Archives {
  plain: Buffer
  xz: Buffer
  gz: Buffer
  zst: Buffer
}

export async function archives(zst: Buffer): Promise<Archives> {
  const files = new Map([
    ['config.ign', Buffer.from('{"ignition":{"version":"3.3.0"}}')],
    ['etc/coreos-firstboot-network/eth0.nmconnection', Buffer.from('[connection]\nid=eth0\n')],
  ])
  const xz = await wrapFiles(files, systemClock())
  const plain = await new Promise<Buffer>((resolve) => void lzma.decompress(xz, {}, resolve))
  return { plain, xz, gz: gzipSync(plain), zst }
}

const hex = (value: number) => value.toString(16).padStart(8, '0')
const record = (path: string, size: number, nameLength = path.length + 1, mode = 0o100600) => {
  const fields = [0, mode, 0, 0, 1, 0, size, 0, 0, 0, 0, nameLength, 0]
  const header = Buffer.from(`070701${fields.map(hex).join('')}${path}\0`)
  return Buffer.concat([header, Buffer.alloc(-header.length & 3)])
}

/** An initramfs whose archives are damaged, compressed or not, after one that is as it should be. */
export function mutatedInitramfs(from: Archives, by: Chance): Buffer {
  const front = by.below(3) === 0 ? Buffer.alloc(0) : liveInitramfs()
  return Buffer.concat([front, Buffer.alloc(by.pick([0, 4, 512])), mutatedArchive(from, by)])
}

export function mutatedArchive({ plain, xz, gz, zst }: Archives, by: Chance): Buffer {
  switch (by.below(8)) {
    case 0:
      return mutateXz(Buffer.from(xz), by)
    case 1:
      return mutateGzip(Buffer.from(gz), by)
    case 2:
      return mutateZstd(Buffer.from(zst), by)
    case 3:
      return gzipSync(mutateCpio(Buffer.from(plain), by), { level: 1 })
    default:
      return mutateCpio(Buffer.from(plain), by)
  }
}

function mutateCpio(plain: Buffer, by: Chance): Buffer {
  switch (by.below(8)) {
    case 0: {
      // A field of the first entries, in hexadecimal digits or none.
      const starts = [...plain.toString('latin1').matchAll(/070701/g)].map(({ index }) => index)
      const at = by.pick(starts) + 6 + 8 * by.below(13)
      plain.write(
        by.pick(['ffffffff', '7fffffff', '00000000', '80000000', 'zzzzzzzz', '0x000001', '        ']),
        at,
        'latin1',
      )
      return plain
    }
    case 1:
      // Files and names of gigabytes.
      return Buffer.concat([record(by.pick(['config.ign', 'x']), by.pick([0x7fffffff, 0xffffffff, 70 * MIB])), plain])
    case 2:
      return Buffer.concat([record('config.ign', 0, by.pick([0, 1, 4096, 4097, 0x7fffffff, 0xffffffff])), plain])
    case 3: {
      const path = by.pick([
        '../../etc/passwd',
        '/etc/shadow',
        '',
        '.',
        'a\0b',
        'x/'.repeat(2000),
        'etc/coreos-firstboot-network/../../x',
      ])
      return Buffer.concat([record(path, 0), plain])
    }
    case 4: {
      const entry = record(
        by.pick(['config.ign', 'd/e']),
        0,
        undefined,
        by.pick([0o100600, 0o40755, 0o120777, 0, 0xffff]),
      )
      return Buffer.concat([...Array.from({ length: by.pick([2, 1000, 20_000]) }, () => entry), plain])
    }
    case 5:
      // Without its end, several times, or with something behind it.
      return by.pick([plain.subarray(0, plain.length - 124), Buffer.concat([plain, plain, by.bytes(7)])])
    default:
      return damage(plain, by)
  }
}

/** Changes an image's metadata in ways that its readers do not expect. */
function oddJson(text: string, by: Chance): string {
  const deep = by.pick([1000, 5000, 30_000])
  return by.pick([
    () => '['.repeat(deep),
    () => `${'['.repeat(deep)}${']'.repeat(deep)}`,
    () => `${'{"file":'.repeat(deep)}1${'}'.repeat(deep)}`,
    () => `{"file":"images/ignition.img","x":${'['.repeat(deep)}${']'.repeat(deep)}}`,
    () => 'null',
    () => '[]',
    () => '"x"',
    () => '\ufeff{}',
    () =>
      text.replace(
        /:\d+/,
        `:${by.pick(['-1', '1e400', '1e15', '0.5', '9007199254740993', '4294967296', '"1"', 'null'])}`,
      ),
    () =>
      text.replace(/"file":"[^"]*"/, `"file":"${by.pick(['../..', '', '/', 'coreos', 'images/x', 'x/'.repeat(900)])}"`),
    () => text.replace(/"path":"[^"]*"/, `"path":"${by.pick(['../..', '', '/', 'coreos', 'nowhere', '\\u0000'])}"`),
    () =>
      `{"file":"images/ignition.img","offset":${by.pick(['262144', '1e9', '-4'])},"length":${by.pick(['0', '1', '1e12'])}}`,
    () => text.replace('{', `{"__proto__":{"size":1},`),
    () => text.slice(0, by.below(text.length)),
  ])()
}

const ARCHITECTURES: readonly LiveArchitecture[] = ['x86_64', 'aarch64', 'ppc64le', 's390x']

/** A live ISO with damaged descriptors, folders (loops too), descriptions or embed areas. */
export function mutatedIso(from: Archives, by: Chance): Buffer {
  const files = liveFiles(by.pick(ARCHITECTURES))
  const kind = by.below(8)
  if (kind === 0) {
    const area = files['images/ignition.img']
    if (area) mutatedArchive(from, by).subarray(0, area.length).copy(area)
  }
  if (kind === 1) {
    const name = by.pick(['coreos/igninfo.json', 'coreos/kargs.json', 'coreos/features.json'])
    files[name] = Buffer.from(oddJson(files[name]?.toString() ?? '{}', by))
  }
  if (kind === 2) files['coreos/miniso.dat'] = miniso(from, by)
  const iso = isoImage(files)
  const folders = iso.readUInt32LE(DESCRIPTOR + 156 + 2) * SECTOR
  switch (kind) {
    case 3:
      changeField(
        iso,
        { at: DESCRIPTOR + by.pick([0, 6, 80, 120, 128, 132, 156, 158, 166, 181, 188]), width: by.pick([1, 4]) },
        by,
      )
      return iso
    case 4:
    case 5:
      for (let times = 1 + by.below(3); times > 0; times--) changeRecord(iso, folders + SECTOR * by.below(6), by)
      return iso
    case 6:
      return damage(iso, by, by.pick([DESCRIPTOR + SECTOR, folders + 8 * SECTOR, iso.length]))
    case 7:
      return iso.subarray(0, by.below(iso.length))
    default:
      return iso
  }
}

/** A record of a folder: its length, where and how long its contents are, what it is, its name. */
function changeRecord(iso: Buffer, folder: number, by: Chance): void {
  let at = folder
  for (let skipped = by.below(8); skipped > 0 && iso[at + iso[at]!]; skipped--) at += iso[at]!
  switch (by.below(5)) {
    case 0:
      iso[at] = by.pick([0, 1, 33, 34, 255])
      return
    case 1: // To itself or to another folder.
      iso.writeUInt32LE(folder / SECTOR + by.below(3) - 1, at + 2)
      iso[at + 25] = 2
      return
    case 2:
      changeField(iso, { at: at + by.pick([2, 10]), width: 4 }, by)
      return
    case 3:
      iso[at + 32] = by.below(256)
      return
    default:
      by.bytes(1 + by.below(10)).copy(iso, at + 33)
  }
}

/** The description of the minimal ISO in a full one, in bincode. */
function miniso({ xz }: Archives, by: Chance): Buffer {
  const number = () =>
    by.pick([
      () => [by.below(250)],
      () => [251, ...by.bytes(2)],
      () => [252, ...by.bytes(4)],
      () => [253, ...by.bytes(8)],
      () => [by.below(256)],
    ])()
  const count = by.pick([0, 1, 3, 250])
  const packed = mutateXz(Buffer.from(xz), by)
  const head = [
    ...Buffer.from('MINISO\0\0'),
    by.pick([1, 1, 1, 2]),
    1,
    0x37,
    by.pick([count, 253]),
    ...Array.from({ length: 3 * count }, number).flat(),
  ]
  return Buffer.concat([
    Buffer.from(head),
    by.bytes(32),
    Buffer.from([252, packed.length & 255, packed.length >> 8, 0, 0]),
    packed,
  ])
}
