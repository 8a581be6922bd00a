import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { constants, setPriority } from 'node:os'
import { pipeline } from 'node:stream/promises'
import { MAX_XZ_MEMORY } from './xz-coder.js'
import { withClockHeld, startFailure, type Clock } from '../../runtime/index.js'
import { fileStream } from '../byte-stream.js'
import { DecodeError } from './decode-error.js'
import { withoutLostTail } from './lost-tail.js'
import { largestDictionary, type XzIndex } from './xz-index.js'

const ITERATION_END = { done: true, value: undefined } as const

let there: Promise<Version | null> | undefined

type Version = readonly [major: number, minor: number]

/** Whether this computer has xz. */
export const hasXzProgram = async (clock: Clock): Promise<boolean> => (await findXzVersion(clock)) !== null

function findXzVersion(clock: Clock): Promise<Version | null> {
  return withClockHeld(clock, 'looking for xz', () => (there ??= answers()))
}

async function answers(): Promise<Version | null> {
  const child = spawn('xz', ['--version'], { stdio: ['ignore', 'pipe', 'ignore'] })
  const failure = startFailure(child)
  if (failure) return failure.catch(() => null)
  let printed = ''
  child.stdout.on('data', (text: Buffer) => (printed += text.toString()))
  return new Promise((resolve) => {
    child.once('error', () => resolve(null))
    child.once('close', (code) => {
      const [, major, minor] = /(\d+)\.(\d+)/.exec(printed) ?? []
      resolve(code === 0 ? [Number(major ?? 0), Number(minor ?? 0)] : null)
    })
  })
}

/**
 * The decompressed bytes of an .xz file that is one whole stream, by the xz of this computer: half the time of the
 * decoder that npm ships, which is compiled without optimisation, and on a core of its own. Before
 * damage it gives what coreos-installer would give.
 *
 * @param read called with the number of compressed bytes that were read so far
 * @throws DecodeError
 */
export const unxzByProgram = (
  path: string,
  clock: Clock,
  read: (position: number) => void = () => {},
  options: UnxzOptions = {},
): AsyncGenerator<Uint8Array, void, undefined> => withoutLostTail(decodeByProgram(path, clock, read, options))

export interface UnxzOptions {
  /** The file's index: its blocks are decompressed side by side then, on as many cores as there are. */
  index?: XzIndex
  /** The program gets a processor only where nothing else wants one. */
  background?: boolean
  /** Ends the program at once, also while it hangs. */
  signal?: AbortSignal
}

/** The first version that decompresses blocks side by side (its NEWS). */
const PARALLEL: Version = [5, 4]
/** Memory for blocks side by side; a file whose blocks need more goes block by block. */
const MAX_PARALLEL_MEMORY = 256 * 1024 * 1024
const MAX_DECODED_DICTIONARY = 64 * 1024 * 1024

/**
 * Options of xz for a file. The limit of coreos-installer would also count blocks that wait for each other: without it go
 * only files whose dictionaries stay within it.
 */
async function limits(path: string, { index }: UnxzOptions, clock: Clock): Promise<string[]> {
  const [major, minor] = (await findXzVersion(clock)) ?? [0, 0]
  const knows = major > PARALLEL[0] || (major === PARALLEL[0] && minor >= PARALLEL[1])
  if (
    knows &&
    index &&
    index.blocks.length > 1 &&
    (await largestDictionary(path, index, clock)) <= MAX_DECODED_DICTIONARY
  )
    return ['--threads=0', `--memlimit-mt-decompress=${MAX_PARALLEL_MEMORY}`]
  return [`--memlimit-decompress=${MAX_XZ_MEMORY}`]
}

async function* decodeByProgram(
  path: string,
  clock: Clock,
  read: (position: number) => void,
  options: UnxzOptions,
): AsyncGenerator<Uint8Array, void, undefined> {
  const more = await limits(path, options, clock)
  const child = spawn('xz', ['--decompress', '--stdout', '--single-stream', ...more], { stdio: 'pipe' })
  const failure = startFailure(child)
  if (failure) await failure
  const ended = once(child, 'close')
  ended.catch(() => {})
  let printed = ''
  child.stderr.on('data', (text: Buffer) => (printed += text.toString()))
  const fed = feed(path, child.stdin, clock, read)
  fed.catch(() => child.stdout.destroy())
  const stop = () => child.kill('SIGKILL')
  options.signal?.addEventListener('abort', stop, { once: true })
  try {
    if (options.signal?.aborted) stop()
    if (options.background && child.pid !== undefined) setPriority(child.pid, constants.priority.PRIORITY_LOW)
    const output = child.stdout[Symbol.asyncIterator]() as AsyncIterator<Buffer, undefined>
    for (;;) {
      const { done, value } = await withClockHeld(clock, `decompressing ${path}`, () =>
        output.next().catch(() => ITERATION_END),
      )
      if (done) break
      yield value
    }
    // First of all why there was nothing more to decompress.
    await withClockHeld(clock, `decompressing ${path}`, async () => {
      await fed
      await ended
    })
    if (child.exitCode !== 0) {
      const sentence = /memory usage limit/i.test(printed) ? 'memory limit reached' : 'lzma data error'
      throw new DecodeError(sentence, { cause: new Error(printed.trim()) })
    }
  } finally {
    options.signal?.removeEventListener('abort', stop)
    stop()
    // The program counts as closed when its output is.
    child.stdout.destroy()
    await withClockHeld(clock, 'ending xz', () => Promise.allSettled([fed, ended]))
  }
}

async function feed(
  path: string,
  input: NodeJS.WritableStream,
  clock: Clock,
  read: (position: number) => void,
): Promise<void> {
  const source = await fileStream(path, clock)
  async function* bytes() {
    let position = 0
    for (let part = await source.next(); part; part = await source.next()) {
      position += part.length
      read(position)
      yield part
    }
  }
  try {
    await pipeline(bytes(), input)
  } catch (error) {
    // When it has enough of a damaged file it closes its input.
    const code = error instanceof Error && 'code' in error ? error.code : undefined
    if (code !== 'EPIPE' && code !== 'ERR_STREAM_PREMATURE_CLOSE') throw error
  } finally {
    await source[Symbol.asyncDispose]()
  }
}
