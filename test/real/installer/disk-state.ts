import { lstat, mkdir, mkdtemp, readdir, readFile, readlink, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import lzma from 'lzma-native'
import { parseGpt, type Gpt } from '../../../machine/disk/gpt.js'
import { tool } from '../peers.js'

/** The disk GUID of an image as it was built: any other was drawn by the installer. */
const IMAGE_GUID = '00000000-0000-4000-a000-000000000001'

/** Where the image has it, whether or not a table says so. */
const BOOT = { offset: 6 * 2 ** 20, length: 24 * 2 ** 20 }

/** All that an installation decides of a disk. */
export interface DiskState {
  /** The table without its own GUID; null when there is none. */
  table: object | null
  /** Every byte but a random GUID. */
  bytes: Buffer
  boot: { files: Record<string, string>; clean: boolean } | null
}

export async function diskState(path: string, sectorSize: number): Promise<DiskState> {
  const bytes = await readFile(path)
  const gpt = tryParse(bytes, sectorSize)
  const filesystem = bytes.subarray(BOOT.offset, BOOT.offset + BOOT.length)
  const files = isExt4(filesystem) ? await bootFiles(filesystem) : null
  for (const at of [sectorSize, bytes.length - sectorSize]) forgetGuid(bytes.subarray(at, at + sectorSize))
  return { table: gpt ? readable(gpt) : null, bytes, boot: files }
}

function tryParse(bytes: Buffer, sectorSize: number): Gpt | undefined {
  try {
    return parseGpt(bytes, sectorSize)
  } catch {
    return undefined
  }
}

const readable = (gpt: Gpt) => ({
  ...gpt,
  diskGuid: gpt.diskGuid === IMAGE_GUID ? IMAGE_GUID : 'random',
  partitions: gpt.partitions.map((partition) => ({ ...partition, attributes: String(partition.attributes) })),
})

/** UEFI specification 5.3.2: the checksum at 16, the disk's GUID at 56. */
function forgetGuid(header: Buffer): void {
  if (header.toString('latin1', 0, 8) !== 'EFI PART') return
  // Its first three groups are stored backwards.
  const image = Buffer.from('0000000000000040a000000000000001', 'hex')
  if (header.subarray(56, 72).equals(image)) return
  header.fill(0, 16, 20)
  header.fill(0, 56, 72)
}

const isExt4 = (bytes: Buffer): boolean => bytes.length > 2048 && bytes.readUInt16LE(1024 + 56) === 0xef53

/** Every file of an ext4 filesystem with its bytes, mode and owner, as e2fsprogs reads it. */
async function bootFiles(filesystem: Buffer): Promise<NonNullable<DiskState['boot']>> {
  const folder = await mkdtemp(join(tmpdir(), 'ironstage-files-'))
  try {
    const image = join(folder, 'image')
    await writeFile(image, filesystem)
    const check = await tool('e2fsck', '-fn', image)
    const tree = join(folder, 'tree')
    await mkdir(tree)
    await tool('debugfs', '-R', `rdump / ${tree}`, image)
    const files: Record<string, string> = {}
    const walk = async (path: string): Promise<void> => {
      for (const entry of await readdir(path, { withFileTypes: true })) {
        const at = join(path, entry.name)
        files[relative(tree, at)] = await describe(at)
        if (entry.isDirectory()) await walk(at)
      }
    }
    await walk(tree)
    return { files, clean: check.code === 0 }
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

/** The content of an xz stream behind an initramfs: ours has one block where the real one has several. */
async function unpacked(bytes: Buffer): Promise<string> {
  const at = bytes.indexOf(Buffer.from('fd377a585a00', 'hex'))
  if (at < 0) return bytes.toString('latin1')
  const plain = await new Promise<Buffer>((resolve) => lzma.decompress(bytes.subarray(at), {}, resolve))
  return `${bytes.toString('latin1', 0, at)} and in xz ${plain.toString('latin1')}`
}

async function describe(path: string): Promise<string> {
  const { mode, uid, gid } = await lstat(path)
  const kind = mode & 0o170000
  const content =
    kind === 0o040000 ? '' : kind === 0o120000 ? await readlink(path) : await unpacked(await readFile(path))
  return `${mode.toString(8)} ${uid}:${gid} ${content}`
}

/**
 * Where two disks differ first; undefined where they do not.
 *
 * @param byFile leaves the boot filesystem out, whose blocks lie elsewhere
 */
export function firstDifference(one: Buffer, two: Buffer, byFile: boolean): string | undefined {
  if (byFile) for (const bytes of [one, two]) bytes.subarray(BOOT.offset, BOOT.offset + BOOT.length).fill(0)
  if (one.equals(two)) return undefined
  if (one.length !== two.length) return `${one.length} and ${two.length} bytes`
  const step = 4096
  const places: number[] = []
  for (let at = 0; at < one.length && places.length < 5; at += step)
    if (!one.subarray(at, at + step).equals(two.subarray(at, at + step))) places.push(at)
  const shown = places.map((at) => {
    let first = at
    while (one[first] === two[first]) first++
    return `at ${first}: ${one.toString('hex', first, first + 16)} and ${two.toString('hex', first, first + 16)}`
  })
  return shown.join('; ')
}
