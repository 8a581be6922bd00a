import { open } from 'node:fs/promises'
import { createHash } from 'node:crypto'
import { withClockHeld, UserError, type Clock, MIB } from '../../base/runtime/index.js'
import type { Conversation } from './conversation.js'
import { taggedLines } from './tagged-lines.js'
import { shellWord } from './shell-words.js'

/** A copy of a file on the target; removed when disposed. */
export interface Uploaded extends AsyncDisposable {
  /** Path as the target's login shell sees it. */
  readonly path: string
}

export interface UploadOptions {
  /** Path on this host. */
  file: string
  /** Folder of the target, in memory; created when missing. */
  folder: string
  /** End of the file's name there; its extension shows the compression. */
  name: string
  clock: Clock
  signal: AbortSignal
  onProgress?: ((sent: number, total: number) => void) | undefined
}

/** Large enough to make the round trips negligible, small enough to make a lost link cheap. */
const PART = 8 * MIB
/** Memory left for the live system itself. */
const SPARE_MEMORY_BYTES = 512 * MIB

/**
 * Copies a file to the target over any number of lost links: each part is written again until the target confirms it. A
 * checksum then compares the copy with the file.
 *
 * @throws UserError when the target has no room for the file, or the copy is damaged
 */
export async function uploadFile(conversation: Conversation, options: UploadOptions): Promise<Uploaded> {
  const { file, folder, name, clock, signal, onProgress } = options
  await using source = await withClockHeld(clock, `opening ${file}`, () => open(file))
  const { size } = await source.stat()
  const path = `${folder}/${conversation.nonce()}-${name.replaceAll(/[^\w.-]/g, '_')}`
  await makeRoom(conversation, folder, path, size)
  const uploaded = { path, [Symbol.asyncDispose]: () => removed(conversation, path) }
  try {
    const hash = createHash('sha256')
    const part = Buffer.alloc(PART)
    for (let at = 0; at < size;) {
      signal.throwIfAborted()
      const { bytesRead } = await withClockHeld(clock, `reading ${file}`, () => source.read(part, 0, PART, at))
      if (bytesRead === 0) throw new UserError('upload', `${file} became shorter during the upload`)
      const bytes = part.subarray(0, bytesRead)
      hash.update(bytes)
      await conversation.put(path, at / MIB, bytes)
      at += bytesRead
      onProgress?.(at, size)
    }
    const [found] = await taggedLines(conversation, `printf 'd %s\\n' "$(sha256sum <${shellWord(path)})"`)
    if (!found?.text.startsWith(hash.digest('hex')))
      throw new UserError('upload', `${file} arrived damaged on ${conversation.name}`, { remedy: 'try it again' })
    return uploaded
  } catch (error) {
    await removed(conversation, path).catch(() => {})
    throw error
  }
}

async function makeRoom(conversation: Conversation, folder: string, path: string, size: number): Promise<void> {
  const found = await taggedLines(
    conversation,
    `mkdir -p ${shellWord(folder)} && : >${shellWord(path)}
set -- $(df -Pk ${shellWord(folder)} | tail -n 1)
printf 'r %s\\n' "$4"
printf 'm %s\\n' "$(sed -n 's/^MemAvailable: *\\([0-9]*\\).*/\\1/p' /proc/meminfo)"`,
  )
  const kib = (tag: string) => Number(found.find((line) => line.tag === tag)?.text || NaN) * 1024
  const room = kib('r')
  const memory = kib('m') - SPARE_MEMORY_BYTES
  // A value that the target does not report sets no limit.
  const least = Math.min(...[room, memory].filter((value) => !Number.isNaN(value)))
  if (least >= size) return
  await removed(conversation, path)
  throw new UserError(
    'no-room',
    `${conversation.name} has room for ${Math.max(0, least)} bytes in memory, not ${size}`,
    {
      remedy: 'leave out --stage-image: the image is then sent to the installer while it runs',
    },
  )
}

const removed = async (conversation: Conversation, path: string): Promise<void> =>
  void (await taggedLines(conversation, `rm -f ${shellWord(path)} ${shellWord(`${path}.part`)}`))
