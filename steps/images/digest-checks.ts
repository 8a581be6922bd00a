import { digestOfFile, isZero, readParts } from '../../base/bytes/index.js'
import { withClockHeld, type Clock } from '../../base/runtime/index.js'
import { fileOf, type CacheFolder, type ImageRecord } from './cache-folder.js'
import { SharedWork } from './shared-work.js'
import { DIGEST_BLOCK_BYTES, blocksDigest } from './transcode.js'

/** Holds cached images against their digests, a file that has not changed since only once. */
export class DigestChecks {
  readonly #shared = new SharedWork<boolean, []>()
  /** Identities of files that have their digest. */
  readonly #passed = new Set<string>()

  constructor(
    readonly folder: CacheFolder,
    readonly clock: Clock,
  ) {}

  async isIntact(record: ImageRecord, { signal }: { signal: AbortSignal }): Promise<boolean> {
    const identity = await this.folder.identity(record)
    if (identity === null || this.#passed.has(identity)) return identity !== null
    const check = async (signal: AbortSignal) => {
      const intact = await hasItsDigest(this.folder.bytesOf(record), record, { clock: this.clock, signal })
      if (intact) this.#passed.add(identity)
      return intact
    }
    return this.#shared.join(identity, check, { signal })
  }

  /** Takes the file of an image as one that has its digest. */
  async passed(record: ImageRecord): Promise<void> {
    const identity = await this.folder.identity(record)
    if (identity !== null) this.#passed.add(identity)
  }
}

/** Hashes on other threads. */
const { subtle } = globalThis.crypto

/** Whether the file of a cached image is what its record says. */
export async function hasItsDigest(
  path: string,
  record: ImageRecord,
  { clock, signal }: { clock: Clock; signal: AbortSignal },
): Promise<boolean> {
  const { transcoded } = record
  return transcoded !== null && 'as' in transcoded
    ? (await blocksOfFile(path, clock, signal)) === transcoded.blocks
    : (await digestOfFile(path, clock, { signal })) === fileOf(record).sha256
}

/** The {@link blocksDigest} of a file. Node hashes the blocks on its threads, several at once. */
const blocksOfFile = (path: string, clock: Clock, signal: AbortSignal): Promise<string> =>
  withClockHeld(clock, `verifying ${path}`, async () => {
    const blocks: Promise<Uint8Array | null>[] = []
    await readParts(path, DIGEST_BLOCK_BYTES, signal, async (part) => {
      const digest = isZero(part) ? null : subtle.digest('SHA-256', part).then((digest) => new Uint8Array(digest))
      blocks.push(Promise.resolve(digest))
      // The next part takes the place of the one before this.
      await blocks.at(-2)
    })
    return blocksDigest(await Promise.all(blocks))
  })
