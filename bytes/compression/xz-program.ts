import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { pipeline } from 'node:stream/promises'
import { XZ_MEMORY_LIMIT } from './xz-coder.js'
import { held, type Clock } from '../../runtime/index.js'
import { fileStream } from '../byte-stream.js'
import { DecodeError } from './decode-error.js'
import { withoutLostTail } from './lost-tail.js'

const END = { done: true, value: undefined } as const

let there: Promise<boolean> | undefined

/** Whether this computer has xz. */
export function hasXzProgram(clock: Clock): Promise<boolean> {
  return held(clock, 'looking for xz', () => (there ??= answers()))
}

async function answers(): Promise<boolean> {
  const child = spawn('xz', ['--version'], { stdio: 'ignore' })
  return new Promise((resolve) => {
    child.once('error', () => resolve(false))
    child.once('exit', (code) => resolve(code === 0))
  })
}

/**
 * The decompressed bytes of an .xz file that is one whole stream, by the xz of this computer: half the time of the
 * decoder that npm ships, which is compiled without optimisation, and on a core of its own. Before
 * damage it gives what coreos-installer would give.
 *
 * @param read told how many compressed bytes were read in all
 * @throws DecodeError
 */
export const unxzByProgram = (
  path: string,
  clock: Clock,
  read: (position: number) => void,
): AsyncGenerator<Uint8Array, void, undefined> => withoutLostTail(decodeByProgram(path, clock, read))

async function* decodeByProgram(
  path: string,
  clock: Clock,
  read: (position: number) => void,
): AsyncGenerator<Uint8Array, void, undefined> {
  const child = spawn(
    'xz',
    ['--decompress', '--stdout', '--single-stream', `--memlimit-decompress=${XZ_MEMORY_LIMIT}`],
    { stdio: 'pipe' },
  )
  const ended = once(child, 'close')
  ended.catch(() => {})
  let printed = ''
  child.stderr.on('data', (text: Buffer) => (printed += text.toString()))
  const fed = feed(path, child.stdin, clock, read)
  fed.catch(() => child.stdout.destroy())
  try {
    const output = child.stdout[Symbol.asyncIterator]() as AsyncIterator<Buffer, undefined>
    for (;;) {
      const { done, value } = await held(clock, `decompressing ${path}`, () => output.next().catch(() => END))
      if (done) break
      yield value
    }
    // First of all why there was nothing more to decompress.
    await held(clock, `decompressing ${path}`, async () => {
      await fed
      await ended
    })
    if (child.exitCode !== 0) {
      const sentence = /memory usage limit/i.test(printed) ? 'memory limit reached' : 'lzma data error'
      throw new DecodeError(sentence, { cause: new Error(printed.trim()) })
    }
  } finally {
    child.kill('SIGKILL')
    // It counts as closed when its output is.
    child.stdout.destroy()
    await held(clock, 'ending xz', () => Promise.allSettled([fed, ended]))
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
