import { SchemaCompiler, type SchemaCheck } from '../../base/schemas/index.js'
import { NotOnIso, type IsoEntry, type IsoFilesystem } from '../../base/bytes/index.js'
import { LiveImageError } from '../live-image-error.js'

/** Limit for a metadata file; real images have a few hundred bytes. */
const MAX_LIVE_JSON_BYTES = 64 * 1024

/** Schemas of the metadata files in an image. */
export const liveFileSchemas = new SchemaCompiler({ stopsAtFirst: true })

/** The file at `path`, or undefined. */
export async function findOptional(filesystem: IsoFilesystem, path: string): Promise<IsoEntry | undefined> {
  try {
    return await filesystem.find(path)
  } catch (error) {
    if (error instanceof NotOnIso) return undefined
    throw error
  }
}

/**
 * Reads a metadata file of an image.
 *
 * @param what describes the action in errors, such as "decoding igninfo"
 */
export async function readJsonFile<T>(
  filesystem: IsoFilesystem,
  entry: IsoEntry,
  check: SchemaCheck<T>,
  what: string,
): Promise<T> {
  if (entry.size > MAX_LIVE_JSON_BYTES)
    throw new LiveImageError(what, new LiveImageError(`${entry.size} bytes are too many`))
  const bytes = await filesystem.contents(entry).read(0, entry.size)
  return parseLiveJson(bytes, check, what)
}

/** @throws LiveImageError for invalid JSON, and for JSON of another shape */
export function parseLiveJson<T>(bytes: Uint8Array, check: SchemaCheck<T>, what: string): T {
  let value: unknown
  try {
    value = JSON.parse(Buffer.from(bytes).toString())
  } catch (cause) {
    throw new LiveImageError(what, cause)
  }
  if (check.accepts(value)) return value
  const [error] = check.errors()
  throw new LiveImageError(what, new LiveImageError(`${error?.instancePath || 'the whole'} ${error?.message}`))
}
