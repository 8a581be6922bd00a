import { lstat, opendir, readFile, realpath } from 'node:fs/promises'
import { join, relative, sep } from 'node:path'
import { MIB, UserError } from '../../base/runtime/index.js'
import { unusableDump } from './dump-error.js'

/** Files of a dump: the largest public one, of a DGX H100, has 5,091. */
const MAX_DUMP_FILES = 20_000
/** Bytes of all files of a dump. */
const MAX_DUMP_BYTES = 256 * MIB
/** Bytes of one of them: registries of BIOS attributes have a few. */
const MAX_FILE_BYTES = 16 * MIB
const MAX_FOLDER_DEPTH = 40

/** A file of a dump. */
export interface DumpFile {
  /** Path from the top of the dump, with slashes: `redfish/v1/index.json`. */
  readonly path: string
  readonly text: string
}

/** Files that hold no resource: CSDL, times, texts for readers. */
const isRead = (path: string): boolean => /\.json$/i.test(path) && !/(^|\/)time\.json$/i.test(path)

const utf8 = new TextDecoder('utf-8')

/** Counts what is read of a dump, and refuses more than a BMC has. */
class DumpBudget {
  #files = 0
  #bytes = 0

  constructor(private readonly name: string) {}

  countFile(): void {
    if (++this.#files > MAX_DUMP_FILES)
      throw unusableDump(
        `${this.name} has more than ${MAX_DUMP_FILES} files, which is more than any BMC has resources`,
        'name the folder of one BMC',
      )
  }

  countBytes(path: string, bytes: number): void {
    if (bytes > MAX_FILE_BYTES)
      throw unusableDump(`${path} of ${this.name} has more than ${MAX_FILE_BYTES / MIB} MiB, as no resource has`)
    this.#bytes += bytes
    if (this.#bytes > MAX_DUMP_BYTES)
      throw unusableDump(
        `the files of ${this.name} have more than ${MAX_DUMP_BYTES / MIB} MiB`,
        'name the folder of one BMC',
      )
  }
}

/** The JSON files of a folder, in the order of their names. @throws UserError `bmc-dump` */
export async function folderFiles(folder: string): Promise<DumpFile[]> {
  const budget = new DumpBudget(folder)
  const root = await realpath(folder)
  const names = await fileNames(root, '', budget, 0, folder)
  const files: DumpFile[] = []
  for (const path of names.filter(isRead).sort()) {
    const file = join(root, path)
    const { size } = await lstat(await insideOf(root, file, `${path} of ${folder}`))
    budget.countBytes(path, size)
    files.push({ path: path.split(sep).join('/'), text: utf8.decode(await readFile(file)) })
  }
  return files
}

async function fileNames(
  root: string,
  below: string,
  budget: DumpBudget,
  depth: number,
  folder: string,
): Promise<string[]> {
  if (depth > MAX_FOLDER_DEPTH)
    throw unusableDump(`${below} of ${folder} is more than ${MAX_FOLDER_DEPTH} folders deep`)
  const found: string[] = []
  for await (const entry of await opendir(join(root, below))) {
    const path = join(below, entry.name)
    if (entry.isDirectory()) {
      found.push(...(await fileNames(root, path, budget, depth + 1, folder)))
      continue
    }
    budget.countFile()
    if (entry.isSymbolicLink()) await insideOf(root, join(root, path), `${path} of ${folder}`)
    else if (!entry.isFile()) throw unusableDump(`${path} of ${folder} is neither a file nor a folder`)
    found.push(path)
  }
  return found
}

/** The file behind a link. @throws UserError `bmc-dump` for a link that leads out of the dump, to a folder or nowhere */
async function insideOf(root: string, file: string, name: string): Promise<string> {
  let real: string
  try {
    real = await realpath(file)
  } catch (cause) {
    throw unusableDump(`${name} is a link to a file that there is not`, undefined, cause)
  }
  const place = relative(root, real)
  if (place.startsWith('..') || place === '')
    throw unusableDump(`${name} is a link to a file outside of the dump`, 'put the file itself in its place')
  if ((await lstat(real)).isDirectory())
    throw unusableDump(`${name} is a link to a folder`, 'put the folder itself in its place')
  return real
}

/** The JSON files of a zip, in the order of their names. @throws UserError `bmc-dump` */
export async function zipFiles(bytes: Uint8Array, name: string): Promise<DumpFile[]> {
  const { unzipSync } = await import('fflate')
  const budget = new DumpBudget(name)
  const seen = new Set<string>()
  const accepts = ({ name: path, originalSize }: { name: string; originalSize: number }): boolean => {
    budget.countFile()
    if (/^[/\\]|^[a-z]:|(^|[/\\])\.\.([/\\]|$)/i.test(path))
      throw unusableDump(`${name} has a file ${path}, whose path leads out of the dump`)
    if (path.endsWith('/') || !isRead(path)) return false
    if (seen.has(path)) throw unusableDump(`${name} has two files ${path}`)
    seen.add(path)
    budget.countBytes(path, originalSize)
    return true
  }
  try {
    const found = unzipSync(bytes, { filter: accepts })
    return Object.entries(found)
      .map(([path, contents]) => ({ path: path.replaceAll('\\', '/'), text: utf8.decode(contents) }))
      .sort((one, other) => (one.path < other.path ? -1 : 1))
  } catch (cause) {
    if (cause instanceof UserError) throw cause
    throw unusableDump(
      `${name} is no zip that can be read: it may be cut off`,
      'copy it again, or name a folder',
      cause,
    )
  }
}
