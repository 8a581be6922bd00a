import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { open, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { REHEARSAL_IMAGE } from '../../lab/index.js'
import { seededRandom } from '../../base/runtime/index.js'
import { fileDigest } from '../kit/images/image-files.js'
import { cachedPeer } from './peer-cache.js'
import { debianProgram } from './peers.js'

const run = promisify(execFile)
const MIB = 2 ** 20

/** Part of the name in the cache: change it with {@link write} and with the options of xz. */
const RECIPE = 'words of seed 4, xz preset 1 with 64 MiB'

export interface LargeImage {
  /** The compressed file; tests only read it. */
  readonly xz: string
  /** SHA-256 of the raw image. */
  readonly rawDigest: string
}

/**
 * The rehearsal image followed by data that compresses to about a third, as an operating system does, compressed with
 * the dictionary size of Fedora CoreOS. Cached beside the peers.
 */
export async function largeImage(mib: number): Promise<LargeImage> {
  const hash = createHash('sha256')
    .update(RECIPE)
    .update(await readFile(REHEARSAL_IMAGE))
  const folder = await cachedPeer(`image-${mib}-${hash.digest('hex').slice(0, 16)}`, async (building) => {
    await debianProgram('xz', 'xz-utils')
    const raw = join(building, 'image.raw')
    await write(raw, mib)
    await writeFile(join(building, 'raw.sha256'), await fileDigest(raw))
    await run('xz', ['-T2', '--lzma2=preset=1,dict=64MiB', raw])
    return building
  })
  return { xz: join(folder, 'image.raw.xz'), rawDigest: await readFile(join(folder, 'raw.sha256'), 'utf8') }
}

async function write(raw: string, mib: number): Promise<void> {
  await run('sh', ['-c', 'xz -dc "$1" > "$2"', 'sh', REHEARSAL_IMAGE, raw])
  const random = seededRandom(4)
  const words = Array.from({ length: 4096 }, () => Buffer.from(random.bytes(4 + Math.floor(random.next() * 24))))
  const file = await open(raw, 'r+')
  for (let at = (await file.stat()).size; at < mib * MIB;) {
    const block: Buffer[] = []
    for (let length = 0; length < MIB; length += block.at(-1)!.length)
      block.push(words[Math.floor(random.next() ** 2 * words.length)]!)
    at += (await file.write(Buffer.concat(block), 0, Math.min(MIB, mib * MIB - at), at)).bytesWritten
  }
  await file.close()
}
