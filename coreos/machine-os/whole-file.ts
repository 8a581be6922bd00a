import { createHash } from 'node:crypto'
import { open, rename, rm } from 'node:fs/promises'
import { withClockHeld, type Clock } from '../../base/runtime/index.js'

/** Writes a file completely or not at all. Returns the digest of the written bytes. */
export async function writeWhole(path: string, parts: AsyncIterable<Uint8Array>, clock: Clock): Promise<string> {
  const part = `${path}.part`
  const hash = createHash('sha256')
  const io = <T>(work: () => Promise<T>): Promise<T> => withClockHeld(clock, `writing ${path}`, work)
  const file = await io(() => open(part, 'w'))
  try {
    for await (const bytes of parts) {
      hash.update(bytes)
      await io(() => file.writeFile(bytes))
    }
    await io(() => file.datasync())
  } catch (error) {
    await rm(part, { force: true })
    throw error
  } finally {
    await file.close()
  }
  await io(() => rename(part, path))
  return hash.digest('hex')
}
