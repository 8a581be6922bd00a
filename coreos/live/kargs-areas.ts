import type { ByteSource, IsoFilesystem, Patch } from '../../base/bytes/index.js'
import { findOptional, liveFileSchemas, readJsonFile } from './json-file.js'
import { LiveImageError } from '../live-image-error.js'

/** Kernel arguments of a live ISO. The image holds the same text in several areas, one for each boot loader. */
export interface KargsAreas {
  /** Arguments of the published image. */
  readonly default: string
  /** Arguments with which the image boots now. */
  readonly current: string
  /** Offset of each area. */
  readonly offsets: readonly number[]
  /** Bytes in each area. */
  readonly size: number
  /**
   * Patches that set other arguments.
   *
   * @throws LiveImageError `kargs too large for area: 1297 vs 1139`
   */
  write(kargs: string): Patch[]
}

/** `coreos/kargs.json` */
export interface KargsInfo {
  default: string
  size: number
  files: { path: string; offset: number; pad?: string; end?: string }[]
}

const character = { type: 'string', minLength: 1, maxLength: 1 }
const kargsInfo = liveFileSchemas.check<KargsInfo>({
  type: 'object',
  required: ['default', 'size', 'files'],
  properties: {
    default: { type: 'string' },
    size: { type: 'integer', minimum: 0 },
    files: {
      type: 'array',
      items: {
        type: 'object',
        required: ['path', 'offset'],
        properties: {
          path: { type: 'string' },
          offset: { type: 'integer', minimum: 0 },
          pad: character,
          end: character,
        },
      },
    },
  },
})

const MAX_KARGS_AREA_BYTES = 2048
export const KARGS_INFO = 'COREOS/KARGS.JSO'

interface KargsArea {
  offset: number
  pad: string
  end: string
}

/**
 * Finds and reads the areas, which must all hold the same text.
 *
 * @returns undefined for an image without areas
 */
export async function readKargsAreas(image: ByteSource, filesystem: IsoFilesystem): Promise<KargsAreas | undefined> {
  const found = (await fromInfo(filesystem)) ?? (await fromHeader(image))
  if (!found) return undefined
  const { areas, size, defaults } = found
  if (areas.length === 0) throw new LiveImageError('No karg embed areas found; corrupted CoreOS ISO image.')
  let current: string | undefined
  for (const area of areas) {
    if (area.offset + size > image.size)
      throw new LiveImageError(`karg embed area at ${area.offset} is not within the image`)
    const there = parseKargsArea(await image.read(area.offset, size), area)
    current ??= there
    if (there !== current)
      throw new LiveImageError(
        `kargs don't match at all offsets! (expected '${current}', but offset ${area.offset} has: '${there}')`,
      )
  }
  return {
    default: defaults,
    current: current!,
    offsets: areas.map(({ offset }) => offset),
    size,
    write: (kargs) => areas.map((area) => ({ offset: area.offset, bytes: areaContents(kargs, area, size) })),
  }
}

function checkSize(size: number): void {
  if (size > MAX_KARGS_AREA_BYTES)
    throw new LiveImageError(`karg embed area size larger than ${MAX_KARGS_AREA_BYTES} (found ${size})`)
}

interface FoundKargsAreas {
  areas: KargsArea[]
  size: number
  defaults: string
}

/** Areas as listed in `kargs.json`, which images have since 2021. */
async function fromInfo(filesystem: IsoFilesystem): Promise<FoundKargsAreas | undefined> {
  const entry = await findOptional(filesystem, KARGS_INFO)
  if (!entry) return undefined
  const info = await readJsonFile(filesystem, entry, kargsInfo, 'decoding kargs embed area info')
  checkSize(info.size)
  const areas: KargsArea[] = []
  for (const { path, offset, pad = '#', end = '\n' } of info.files) {
    const file = await LiveImageError.during(`looking up '${path}'`, () => filesystem.find(path))
    if (offset + info.size > file.size)
      throw new LiveImageError(`karg embed area is not within ${path}: ${offset + info.size} > ${file.size}`)
    areas.push({ offset: file.offset + offset, pad, end })
  }
  return { areas, size: info.size, defaults: info.default }
}

const KARGS_HEADER_OFFSET = 32768 - 24 - 72
const KARGS_MAGIC = 'coreKarg'
/** Position after the magic, an area's length, and the defaults' offset. */
const FIRST_OFFSET = 24

/** Areas as listed in the header before the first ISO descriptor, which images of 2020 have. */
async function fromHeader(image: ByteSource): Promise<FoundKargsAreas | undefined> {
  const header = Buffer.from(await image.read(KARGS_HEADER_OFFSET, 72))
  if (header.toString('latin1', 0, 8) !== KARGS_MAGIC) return undefined
  const number = (at: number): number => Number(header.readBigUInt64LE(at))
  const size = number(8)
  checkSize(size)
  const area = (offset: number): KargsArea => ({ offset, pad: '#', end: '\n' })
  const areas: KargsArea[] = []
  for (let at = FIRST_OFFSET; at < header.length && number(at) !== 0; at += 8) areas.push(area(number(at)))
  if (number(16) + size > image.size) throw new LiveImageError('default kargs are not within the image')
  return { areas, size, defaults: parseKargsArea(await image.read(number(16), size), area(0)) }
}

function parseKargsArea(bytes: Uint8Array, { pad, end }: KargsArea): string {
  let text: string
  try {
    text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
  } catch {
    throw new LiveImageError('invalid UTF-8 in kargs')
  }
  return trimmed(trimmed(text, pad), end).trim()
}

function trimmed(text: string, character: string): string {
  let length = text.length
  while (length > 0 && text[length - 1] === character) length--
  return text.slice(0, length)
}

function areaContents(kargs: string, { pad, end }: KargsArea, size: number): Uint8Array {
  const bytes = Buffer.from(kargs + end)
  if (bytes.length > size) throw new LiveImageError(`kargs too large for area: ${bytes.length} vs ${size}`)
  return Buffer.concat([bytes, Buffer.alloc(size - bytes.length, pad)])
}
