import { sha256Hex } from '../sha256.js'
import { stat } from 'node:fs/promises'
import { extname } from 'node:path'
import { withClockHeld, type Clock } from '../../runtime/index.js'
import { openFileSource } from '../file-source.js'
import type { Representation } from './answer.js'

const FILE_CONTENT_TYPES: Readonly<Record<string, string>> = { '.json': 'application/json', '.txt': 'text/plain' }

/**
 * A file of this host for one answer; undefined where there is no regular file.
 *
 * @param etag strong, with its quotes; by default made of size, time and inode
 */
export async function fileRepresentation(
  path: string,
  clock: Clock,
  etag?: string,
): Promise<Representation | undefined> {
  const found = await withClockHeld(clock, `looking at ${path}`, () => stat(path).catch(ignoreMissingFile))
  if (!found?.isFile()) return undefined
  const source = await openFileSource(path, clock)
  const { size, mtimeMs, ino } = found
  const version = sha256Hex(`${size} ${mtimeMs} ${ino}`).slice(0, 32)
  return {
    source,
    etag: etag ?? `"${version}"`,
    modified: mtimeMs,
    type: FILE_CONTENT_TYPES[extname(path)] ?? 'application/octet-stream',
    close: async () => source[Symbol.asyncDispose](),
  }
}

function ignoreMissingFile(error: unknown): undefined {
  const code = error instanceof Error && 'code' in error ? error.code : undefined
  if (code !== 'ENOENT' && code !== 'ENOTDIR' && code !== 'ENAMETOOLONG') throw error
}
