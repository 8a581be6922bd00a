import { pathTable, TERMINATOR, volumeDescriptor } from './descriptors.js'
import { ISO_SECTOR_BYTES, wholeSectors } from './numbers.js'
import {
  encodeDirectory,
  encodeIdentifier,
  ROCK_RIDGE,
  type IsoExtent,
  type Naming,
  type PlainNames,
} from './iso-records.js'

export interface IsoOptions {
  /** At most 32 characters, of which Joliet has the first 16. */
  label: string
  /** Milliseconds since the epoch: all times in the image. */
  at: number
  /** Names in the plain tree: `short` are those of 8 and 3 capitals, which live ISOs of CoreOS have. */
  plainNames?: PlainNames
}

interface Folder {
  path: string
  name: string
  parent: Folder | null
}

const NAMINGS: readonly Naming[] = ['plain', 'joliet']

/**
 * Writes a read-only filesystem: ISO 9660 with Joliet and Rock Ridge, as `mkisofs -J -r` does (ECMA-119, SUSP 1.10,
 * RRIP 1.09). Equal input gives equal bytes.
 *
 * @param files by path, without leading slash
 */
export function writeIso(
  files: Readonly<Record<string, Uint8Array>>,
  { label, at, plainNames = 'long' }: IsoOptions,
): Buffer {
  const image = new IsoImage(files, at, plainNames)
  // Where everything is has to be known before anything is written; how long it is does not depend on that.
  const blocks = image.layOut()
  const bytes = Buffer.alloc(blocks * ISO_SECTOR_BYTES)
  const put = (sector: number, part: Uint8Array): void => bytes.set(part, sector * ISO_SECTOR_BYTES)
  NAMINGS.forEach((naming, index) =>
    put(16 + index, volumeDescriptor({ naming, label, at, blocks, ...image.volume(naming) })),
  )
  put(16 + NAMINGS.length, TERMINATOR)
  for (const [sector, part] of image.parts()) put(sector, part)
  return bytes
}

class IsoImage {
  readonly #files: ReadonlyMap<string, Uint8Array>
  readonly #folders: readonly Folder[]
  readonly #at: number
  readonly #plainNames: PlainNames
  readonly #places = new Map<string, IsoExtent>()

  constructor(files: Readonly<Record<string, Uint8Array>>, at: number, plainNames: PlainNames) {
    this.#files = new Map(Object.entries(files))
    this.#folders = foldersOf([...this.#files.keys()])
    this.#at = at
    this.#plainNames = plainNames
  }

  /** Gives a place to everything behind the descriptors; the number of blocks altogether. */
  layOut(): number {
    let next = 16 + NAMINGS.length + 1
    const place = (key: string, size: number): void => {
      this.#places.set(key, { sector: next, size })
      next += Math.max(1, Math.ceil(size / ISO_SECTOR_BYTES))
    }
    for (const naming of NAMINGS)
      for (const order of ['little', 'big'] as const) place(`${order} ${naming}`, this.#table(naming, order).length)
    place('announcement', ROCK_RIDGE.length)
    for (const naming of NAMINGS)
      for (const folder of this.#folders) place(`${naming} ${folder.path}`, this.#directory(folder, naming).length)
    for (const [path, bytes] of this.#files) place(`file ${path}`, bytes.length)
    return next
  }

  volume(naming: Naming) {
    const little = this.#place(`little ${naming}`)
    const big = this.#place(`big ${naming}`)
    // The root's record of itself, without what Rock Ridge says beside it.
    const root = Buffer.from(this.#directory(this.#folders[0]!, naming).subarray(0, 34))
    root[0] = 34
    return { root, table: { size: little.size, little: little.sector, big: big.sector } }
  }

  *parts(): Iterable<[sector: number, bytes: Uint8Array]> {
    for (const naming of NAMINGS) {
      for (const order of ['little', 'big'] as const)
        yield [this.#place(`${order} ${naming}`).sector, this.#table(naming, order)]
      for (const folder of this.#folders)
        yield [this.#place(`${naming} ${folder.path}`).sector, this.#directory(folder, naming)]
    }
    yield [this.#place('announcement').sector, wholeSectors(ROCK_RIDGE)]
    for (const [path, bytes] of this.#files) yield [this.#place(`file ${path}`).sector, bytes]
  }

  #place(key: string): IsoExtent {
    return this.#places.get(key) ?? { sector: 0, size: 0 }
  }

  #directory(folder: Folder, naming: Naming): Buffer {
    const self = this.#place(`${naming} ${folder.path}`)
    const folders = this.#folders
      .filter(({ parent }) => parent === folder)
      .map(({ name, path }) => ({ name, folder: true, ...this.#place(`${naming} ${path}`) }))
    const files = [...this.#files.keys()]
      .filter((path) => parentOf(path) === folder.path)
      .map((path) => ({ name: baseNameOf(path), folder: false, ...this.#place(`file ${path}`) }))
    return encodeDirectory([...folders, ...files], {
      naming,
      self,
      at: this.#at,
      plainNames: this.#plainNames,
      parent: folder.parent ? this.#place(`${naming} ${folder.parent.path}`) : self,
      announcement: folder.parent === null && naming === 'plain' ? this.#place('announcement').sector : null,
    })
  }

  #table(naming: Naming, order: 'little' | 'big'): Buffer {
    const entries = this.#folders.map(({ name, path, parent }) => ({
      identifier: parent ? encodeIdentifier({ name, folder: true }, naming, this.#plainNames) : Buffer.from([0]),
      sector: this.#place(`${naming} ${path}`).sector,
      parent: parent ? this.#folders.indexOf(parent) + 1 : 1,
    }))
    return pathTable(entries, order)
  }
}

const baseNameOf = (path: string): string => path.slice(path.lastIndexOf('/') + 1)
const parentOf = (path: string): string => path.slice(0, Math.max(0, path.lastIndexOf('/')))

/** The root and all that paths lead through, by depth, then by parent, then by name. */
function foldersOf(paths: readonly string[]): Folder[] {
  const found: Folder[] = [{ path: '', name: '', parent: null }]
  const parents = new Set(paths.flatMap(ancestors))
  const depth = (path: string): number => path.split('/').length
  for (const path of [...parents].sort((a, b) => depth(a) - depth(b) || (a < b ? -1 : 1)))
    found.push({ path, name: baseNameOf(path), parent: found.find((folder) => folder.path === parentOf(path))! })
  return found
}

function ancestors(path: string): string[] {
  const parent = parentOf(path)
  return parent === '' ? [] : [...ancestors(parent), parent]
}
