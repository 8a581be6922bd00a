import type { ValidateFunction } from 'ajv'
import { NotOnIso, type IsoEntry, type IsoFilesystem } from '../../bytes/index.js'
import { LiveImageError } from '../live-image-error.js'

/** Those of real images have a few hundred bytes. */
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
 * Reads what an image says of itself.
 *
 * @param what as in "decoding igninfo", for the error
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

/** @throws LiveImageError for what is no JSON or of another shape */
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
