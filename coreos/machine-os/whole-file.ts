import { createHash } from 'node:crypto'
import { open, rename, rm } from 'node:fs/promises'
import { withClockHeld, type Clock } from '../../base/runtime/index.js'

/**
 * Writes a file completely or not at all.
 *
 * @param ready called with the digest of the written bytes, before they replace what stands at `path`; rejects to keep that
 */
export async function writeWhole(
  path: string,
  parts: AsyncIterable<Uint8Array>,
  clock: Clock,
  ready: (sha256: string) => Promise<void> = () => Promise.resolve(),
): Promise<void> {
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
    await ready(hash.digest('hex'))
  } catch (error) {
    await rm(part, { force: true })
    throw error
  } finally {
    await file.close()
  }
  await io(() => rename(part, path))
}
