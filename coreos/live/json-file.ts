import type { ValidateFunction } from 'ajv'
import { NotOnIso, type IsoEntry, type IsoFilesystem } from '../../bytes/index.js'
import { LiveImageError } from '../live-image-error.js'

/** Limit for a metadata file; real images have a few hundred bytes. */
const LARGEST = 64 * 1024

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
  validate: ValidateFunction<T>,
  what: string,
): Promise<T> {
  if (entry.size > LARGEST) throw new LiveImageError(what, new LiveImageError(`${entry.size} bytes are too many`))
  const bytes = await filesystem.contents(entry).read(0, entry.size)
  return parseJson(bytes, validate, what)
}

/** @throws LiveImageError for invalid JSON, and for JSON of another shape */
export function parseJson<T>(bytes: Uint8Array, validate: ValidateFunction<T>, what: string): T {
  let value: unknown
  try {
    value = JSON.parse(Buffer.from(bytes).toString())
  } catch (cause) {
    throw new LiveImageError(what, cause)
  }
  if (validate(value)) return value
  const [error] = validate.errors ?? []
  throw new LiveImageError(what, new LiveImageError(`${error?.instancePath || 'the whole'} ${error?.message}`))
}
