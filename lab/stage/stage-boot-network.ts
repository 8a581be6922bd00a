import {
  basicAuthorization,
  contentRange,
  FetchFailure,
  type FileAnswer,
  HttpClient,
  type ProxySettings,
} from '../../base/bytes/index.js'
import { bytesSource, type ByteSource } from '../../base/bytes/index.js'
import type { BootNetwork } from '../../machine/index.js'
import { defined, seconds, type Clock } from '../../base/runtime/index.js'

/** Milliseconds of wall time that a server may be silent. */
const BOOT_SERVER_TIMEOUT = seconds(30)
/** Size of one request; a live ISO's descriptors, folders and areas fit in a few blocks. */
const BOOT_BLOCK_BYTES = 256 * 1024
/** Number of cached blocks for each file. */
const MAX_CACHED_BLOCKS = 8
/** Largest file from a server without ranges, which has to be read into memory as a whole. */
const MAX_WHOLE_FILE_BYTES = 64 * 2 ** 20

export interface BootNetworkOptions {
  clock: Clock
  /** Proxies to the servers of media. */
  proxies?: ProxySettings | undefined
  /** Throws for a URL that is not reached. */
  allow?: ((url: string) => void) | undefined
  /** Certificates that servers of media are checked by; `none` checks none, as BMCs do by default. */
  trust?: { ca: string } | 'none' | undefined
  /** URL of the boot script that a DHCP server would name. */
  bootScript?: string | undefined
}

/** Network of simulated machines at boot: reads http and https by ranges, as BMCs read virtual media. */
export function bootNetwork({ clock, proxies, allow, trust, bootScript }: BootNetworkOptions): BootNetwork {
  const options = {
    ...defined({ allow, proxies }),
    clock,
    redirects: 5,
    limits: { connect: BOOT_SERVER_TIMEOUT, header: BOOT_SERVER_TIMEOUT, silence: BOOT_SERVER_TIMEOUT },
  }
  return {
    open: (url, { signal, credentials, verifiedBy, through }) => {
      const http = new HttpClient({ ...options, ...verification(trust, verifiedBy), ...defined({ through }) })
      return openRemote(url, { http, signal, authorization: credentials && basicAuthorization(credentials) })
    },
    ...defined({ bootScript }),
  }
}

/**
 * How a server is verified: by the authorities of the medium, if it has to be verified, and those of the network; without any by
 * those that this host trusts.
 */
function verification(
  trust: BootNetworkOptions['trust'],
  medium: readonly string[] | undefined,
): { insecure?: boolean; ca?: string } {
  if (trust === 'none' && medium === undefined) return { insecure: true }
  const authorities = [...(medium ?? []), ...(typeof trust === 'object' ? [trust.ca] : [])]
  return authorities.length === 0 ? {} : { ca: authorities.join('\n') }
}

interface BootFetchOptions {
  http: HttpClient
  signal: AbortSignal
  authorization: string | undefined
}

interface Part {
  bytes: Buffer
  /** Size of the file; null when the server sent the whole file. */
  total: number | null
  validator: string | undefined
}

async function openRemote(url: string, asking: BootFetchOptions): Promise<ByteSource> {
  const first = await part(url, 0, asking)
  if (first.total === null) return bytesSource(first.bytes)
  return new RemoteFile(url, asking, first, first.total)
}

/** A file on a server, read block by block. */
class RemoteFile implements ByteSource {
  readonly #blocks = new Map<number, Promise<Buffer>>()

  constructor(
    private readonly url: string,
    private readonly asking: BootFetchOptions,
    private readonly first: Part,
    readonly size: number,
  ) {
    this.#blocks.set(0, Promise.resolve(first.bytes))
  }

  async read(offset: number, length: number): Promise<Uint8Array> {
    const end = Math.min(offset + length, this.size)
    const parts: Uint8Array[] = []
    for (let at = offset; at < end;) {
      const number = Math.floor(at / BOOT_BLOCK_BYTES)
      const from = at - number * BOOT_BLOCK_BYTES
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
    if (this.#blocks.size > MAX_CACHED_BLOCKS) this.#blocks.delete(this.#blocks.keys().next().value!)
    return asked
  }

  async #fetch(number: number): Promise<Buffer> {
    const { bytes, total, validator } = await part(this.url, number * BOOT_BLOCK_BYTES, this.asking)
    if (total !== this.size || validator !== this.first.validator)
      throw new Error('the file changed while it was being read')
    return bytes
  }
}

/** @throws FetchFailure; Error with the server's answer */
async function part(url: string, start: number, { http, signal, authorization }: BootFetchOptions): Promise<Part> {
  const range = `bytes=${start}-${start + BOOT_BLOCK_BYTES - 1}`
  const answer = await http.get({
    url,
    headers: { range, ...defined({ authorization: authorization || undefined }) },
    signal,
  })
  try {
    const { status, headers } = answer
    if (status === 401 || status === 403)
      throw new Error(
        `the server answered ${status}: ${authorization === undefined ? 'it asks for credentials, and none came with the medium' : 'it does not accept the credentials of the medium'}`,
      )
    if (status !== 200 && status !== 206) throw new Error(`the server answered ${status}`)
    if (status === 200) return { bytes: await wholeFile(answer), total: null, validator: undefined }
    const sent = contentRange(headers['content-range'])
    if (!sent || sent.size === null) throw new Error('the server sent a part without saying which (Content-Range)')
    const bytes = await answer.bytes(BOOT_BLOCK_BYTES)
    if (sent.first !== start || sent.last !== start + bytes.length - 1)
      throw new Error(`the server sent another part (bytes ${sent.first}-${sent.last}) than requested (from ${start})`)
    return { bytes, total: sent.size, validator: headers['etag'] }
  } finally {
    await answer.close()
  }
}

async function wholeFile(answer: FileAnswer): Promise<Buffer> {
  try {
    return await answer.bytes(MAX_WHOLE_FILE_BYTES)
  } catch (error) {
    if (error instanceof FetchFailure && error.code === 'too-large')
      throw new Error(`the server knows no ranges, and the file has more than ${MAX_WHOLE_FILE_BYTES} bytes`)
    throw error
  }
}
