import type { Clock } from '../../base/runtime/index.js'
import { parseFeatures, type OsFeatures } from './features.js'
import { readInitramfs, wrapFiles, type InitramfsFiles } from './initramfs.js'
import { type ByteSource, type IsoFilesystem, type Patch, readIso9660 } from '../../base/bytes/index.js'
import { findOptional, liveFileSchemas, readJsonFile } from './json-file.js'
import { readKargsAreas, type KargsAreas } from './kargs-areas.js'
import { LiveImageError } from '../live-image-error.js'

/** A range of bytes in an image. */
interface IsoArea {
  offset: number
  size: number
}

/**
 * A CoreOS live ISO and its embedded files. Only its descriptors and embed areas are read. Changes are returned as
 * {@link Patch}es, for the file itself (`FileSource.replace`) or for an overlay on it.
 */
export interface LiveIso {
  readonly filesystem: IsoFilesystem
  /** Position of the replaceable initramfs. */
  readonly area: IsoArea
  /** Files in that initramfs. */
  readonly files: InitramfsFiles
  /** Undefined for an image whose kernel arguments cannot be changed. */
  readonly kargs: KargsAreas | undefined
  features(): Promise<OsFeatures>
  /**
   * Patch of the whole area that embeds other files; zeros for none.
   *
   * @throws LiveImageError `Compressed initramfs is too large: 409036 > 262144`
   */
  embed(files: InitramfsFiles): Promise<Patch>
  /** Patches that restore the image as published, byte for byte. */
  pristine(): Patch[]
  /** True if files were embedded or kernel arguments changed. */
  readonly customized: boolean
}

const ignitionInfo = liveFileSchemas.check<{
  file: string
  offset?: number
  length?: number
}>({
  type: 'object',
  required: ['file'],
  properties: {
    file: { type: 'string', minLength: 1 },
    offset: { type: 'integer', minimum: 0 },
    length: { type: 'integer', minimum: 0 },
  },
})

/** Real images have 256 KiB. The limit keeps a damaged image from allocating gigabytes. */
const MAX_IGNITION_AREA_BYTES = 64 * 1024 * 1024

/**
 * Reads an image of any architecture: the image itself lists its areas.
 *
 * @throws LiveImageError in coreos-installer's words
 * @example
 * await using file = await openFileSource('live.iso', clock, true)
 * const iso = await openLiveIso(file, clock)
 * await file.replace([await iso.embed(new Map([[IGNITION_FILE, config]]))])
 */
export async function openLiveIso(image: ByteSource, clock: Clock): Promise<LiveIso> {
  const filesystem = await readIso9660(image)
  const { area, files } = await LiveImageError.during('Unrecognized CoreOS ISO image.', async () => {
    const area = await initramfsArea(filesystem)
    const bytes = await image.read(area.offset, area.size)
    return { area, files: await LiveImageError.during('decoding initrd embed area', () => readInitramfs(bytes, clock)) }
  })
  const kargs = await readKargsAreas(image, filesystem)
  checkApart([area, ...(kargs?.offsets ?? []).map((offset) => ({ offset, size: kargs!.size }))])
  const embed = async (wanted: InitramfsFiles): Promise<Patch> => {
    const bytes = wanted.size === 0 ? Buffer.alloc(0) : await wrapFiles(wanted, clock)
    if (bytes.length > area.size)
      throw new LiveImageError(`Compressed initramfs is too large: ${bytes.length} > ${area.size}`)
    return { offset: area.offset, bytes: Buffer.concat([bytes], area.size) }
  }
  return {
    filesystem,
    area,
    files,
    kargs,
    embed,
    customized: files.size > 0 || (kargs !== undefined && kargs.current !== kargs.default),
    pristine: () => [
      { offset: area.offset, bytes: Buffer.alloc(area.size) },
      ...(kargs ? kargs.write(kargs.default) : []),
    ],
    async features() {
      const entry = await findOptional(filesystem, 'COREOS/FEATURES.JSO')
      if (!entry) return {}
      if (entry.size > 64 * 1024) throw new LiveImageError(`OS features of ${entry.size} bytes are too large`)
      return parseFeatures(await filesystem.contents(entry).read(0, entry.size))
    },
  }
}

async function initramfsArea(filesystem: IsoFilesystem): Promise<IsoArea> {
  const described = await findOptional(filesystem, 'COREOS/IGNINFO.JSO')
  const info = described
    ? await readJsonFile(filesystem, described, ignitionInfo, 'decoding igninfo')
    : { file: 'images/ignition.img' }
  const { file, offset = 0, length } = info
  const entry = await LiveImageError.during('finding initrd embed area', () => filesystem.find(file))
  const size = length ?? entry.size - offset
  if (size < 0 || offset + size > entry.size)
    throw new LiveImageError(`initrd embed area is not within ${file}: ${offset + size} > ${entry.size}`)
  if (size > MAX_IGNITION_AREA_BYTES) throw new LiveImageError(`initrd embed area of ${size} bytes is too large`)
  return { offset: entry.offset + offset, size }
}

/** Refuses areas that overlap, since writing one would damage the other. */
function checkApart(areas: readonly IsoArea[]): void {
  const sorted = [...areas].sort((a, b) => a.offset - b.offset)
  for (const [index, { offset, size }] of sorted.entries()) {
    const next = sorted[index + 1]
    if (next && offset + size > next.offset)
      throw new LiveImageError(`embed areas overlap: one at ${offset} has ${size} bytes, another is at ${next.offset}`)
  }
}
