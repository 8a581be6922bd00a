import { createHash } from 'node:crypto'
import { open, rename, rm } from 'node:fs/promises'
import { withClockHeld, type Clock } from '../../base/runtime/index.js'

/** A file to be written, with the bytes of it. */
export interface WholeFile {
  path: string
  parts: () => AsyncIterable<Uint8Array>
}

/**
 * Writes files completely or not at all: the files that stand there change only after all new ones are on the disk.
 *
 * @param ready called with the digests of the written bytes, before they replace what stands there; rejects to keep that
 */
export async function writeWhole(
  files: readonly WholeFile[],
  clock: Clock,
  ready: (digests: readonly string[]) => Promise<void> = () => Promise.resolve(),
): Promise<void> {
  const paths = files.map(({ path }) => path)
  try {
    const digests: string[] = []
    for (const file of files) digests.push(await writePart(file, clock))
    await ready(digests)
  } catch (error) {
    for (const path of paths) await rm(partOf(path), { force: true }).catch(() => {})
    throw error
  }
  for (const path of paths) await withClockHeld(clock, `writing ${path}`, () => rename(partOf(path), path))
}

const partOf = (path: string): string => `${path}.part`

/** @returns SHA-256 of the bytes */
async function writePart({ path, parts }: WholeFile, clock: Clock): Promise<string> {
  const hash = createHash('sha256')
  const io = <T>(work: () => Promise<T>): Promise<T> => withClockHeld(clock, `writing ${path}`, work)
  const file = await io(() => open(partOf(path), 'w'))
  try {
    for await (const bytes of parts()) {
      hash.update(bytes)
      await io(() => file.writeFile(bytes))
    }
    await io(() => file.datasync())
  } finally {
    await file.close()
  }
  return hash.digest('hex')
}
