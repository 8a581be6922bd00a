import { Agent, interceptors, request, type Dispatcher } from 'undici'
import { bytesSource, type ByteSource } from '../ignition/index.js'
import type { BootNetwork } from '../machine/index.js'
import { held, seconds, type Clock } from '../runtime/index.js'
import { ignitionFetch } from './ignition-fetch.js'

/** How long a server may be silent, in milliseconds of wall time. */
const SILENCE = seconds(30)
/** What is fetched at once; a live ISO's descriptors, folders and areas are in a few of these. */
const BLOCK = 256 * 1024
/** Blocks of one file that are remembered while it is booted. */
const BLOCKS = 8
/** A server that knows no ranges has to send all of a file, and all of it would be held. */
const LARGEST_WHOLE = 64 * 2 ** 20

export interface OpenBootNetwork extends BootNetwork, AsyncDisposable {}

/** The network of simulated machines at boot: http and https, by ranges, as BMCs read virtual media. */
export function bootNetwork(clock: Clock): OpenBootNetwork {
  const agent = new Agent({
    ...{ headersTimeout: SILENCE, bodyTimeout: SILENCE, connect: { timeout: SILENCE } },
    ...{ keepAliveTimeout: seconds(1), keepAliveMaxTimeout: seconds(1) },
  })
  const dispatcher = agent.compose(interceptors.redirect({ maxRedirections: 5 }))
  return {
    open: (url, signal) => openRemote(url, { clock, dispatcher, signal }),
    get: (resource, signal) => ignitionFetch({ clock, signal })(resource),
    [Symbol.asyncDispose]: () => agent.destroy(),
  }
}

interface Asking {
  clock: Clock
  dispatcher: Dispatcher
  signal: AbortSignal
}

interface Part {
  bytes: Buffer
  /** Of the whole file; null when the server sent the whole file. */
  total: number | null
  validator: string | undefined
}

async function openRemote(url: string, asking: Asking): Promise<ByteSource> {
  if (!URL.canParse(url) || !/^https?:$/.test(new URL(url).protocol))
    throw new Error(`${URL.canParse(url) ? `${new URL(url).protocol}//` : 'what is no URL'} cannot be fetched here`)
  const first = await part(url, 0, asking)
  if (first.total === null) return bytesSource(first.bytes)
  return new RemoteFile(url, asking, first, first.total)
}

/** A file of a server, block by block. */
class RemoteFile implements ByteSource {
  readonly #blocks = new Map<number, Promise<Buffer>>()

  constructor(
    private readonly url: string,
    private readonly asking: Asking,
    private readonly first: Part,
    readonly size: number,
  ) {
    this.#blocks.set(0, Promise.resolve(first.bytes))
  }

  async read(offset: number, length: number): Promise<Uint8Array> {
    const end = Math.min(offset + length, this.size)
    const parts: Uint8Array[] = []
    for (let at = offset; at < end;) {
      const number = Math.floor(at / BLOCK)
      const from = at - number * BLOCK
      const bytes = (await this.#block(number)).subarray(from, from + end - at)
      if (bytes.length === 0) throw new Error(`the server sent less than ${this.size} bytes`)
      parts.push(bytes)
      at += bytes.length
    }
    return parts.length === 1 ? parts[0]! : Buffer.concat(parts)
  }

  #block(number: number): Promise<Buffer> {
    const known = this.#blocks.get(number)
    if (known) return known
    const asked = this.#fetch(number)
    this.#blocks.set(number, asked)
    if (this.#blocks.size > BLOCKS) this.#blocks.delete(this.#blocks.keys().next().value!)
    return asked
  }

  async #fetch(number: number): Promise<Buffer> {
    const { bytes, total, validator } = await part(this.url, number * BLOCK, this.asking)
    if (total !== this.size || validator !== this.first.validator)
      throw new Error('the file changed while it was being read')
    return bytes
  }
}

/** @throws Error that says what the server did */
async function part(url: string, start: number, { clock, dispatcher, signal }: Asking): Promise<Part> {
  return held(clock, `booting from ${new URL(url).host}`, async () => {
    const range = `bytes=${start}-${start + BLOCK - 1}`
    const headers = { range, 'accept-encoding': 'identity' }
    const answer = await request(url, { dispatcher, signal, headers }).catch((error: unknown) => {
      signal.throwIfAborted()
      throw new Error(codeOf(error) ?? 'the server does not answer', { cause: error })
    })
    const { statusCode, body } = answer
    const header = (name: string) => [answer.headers[name]].flat()[0]
    if (statusCode !== 200 && statusCode !== 206) {
      await body.dump()
      throw new Error(`the server answered ${statusCode}`)
    }
    const bytes = await upTo(statusCode === 206 ? BLOCK : LARGEST_WHOLE, body)
    const total = /^bytes \d+-\d+\/(\d+)$/.exec(header('content-range') ?? '')?.[1]
    if (statusCode === 206 && total === undefined) throw new Error('the server sent a part of it is not known what')
    return { bytes, total: total === undefined ? null : Number(total), validator: header('etag') }
  })
}

async function upTo(most: number, body: AsyncIterable<Uint8Array>): Promise<Buffer> {
  const parts: Uint8Array[] = []
  let size = 0
  for await (const bytes of body) {
    size += bytes.length
    if (size > most) throw new Error(`the server knows no ranges, and the file has more than ${most} bytes`)
    parts.push(bytes)
  }
  return Buffer.concat(parts)
}

const codeOf = (error: unknown): string | undefined =>
  error instanceof Error && 'code' in error && typeof error.code === 'string'
    ? { ECONNREFUSED: 'connection refused', ENOTFOUND: 'there is no host of that name' }[error.code]
    : undefined
