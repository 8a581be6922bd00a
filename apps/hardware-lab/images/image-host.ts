import { networkInterfaces } from 'node:os'
import { fileRepresentation, serveFiles } from '../../../base/bytes/index.js'
import { UserError, type Clock, type Logger, type Random } from '../../../base/runtime/index.js'
import type { ImageReach } from '../../../steps/index.js'

export interface ImageHostOptions {
  /** `192.0.2.1`, `192.0.2.1:8080` or `[2001:db8::1]:8080`: an address of this machine that hosts reach. */
  address: string
  clock: Clock
  random: Random
  logger: Logger
}

/** A server of images for all hosts of a run, with ranges, at an address of this machine that they reach. */
export interface ImageHost extends AsyncDisposable {
  readonly url: string
  readonly reach: ImageReach
}

/**
 * Listens for hosts. A path has a part that cannot be guessed, and the SHA-256 of the image; nothing else is served.
 *
 * @throws UserError `run-options` for an address that is none of this machine
 */
export async function openImageHost({ address, clock, random, logger }: ImageHostOptions): Promise<ImageHost> {
  const { host, port } = placeIn(address)
  const files = new Map<string, { path: string; digest: string }>()
  const server = await serveFiles({
    host,
    port,
    clock,
    random,
    logger,
    find: (asked) => {
      const file = files.get(asked)
      return file && fileRepresentation(file.path, clock, `"${file.digest}"`)
    },
  }).catch((cause: unknown) => {
    const own = ownAddresses()
    throw new UserError('run-options', `no image can be served at ${address}`, {
      kind: 'usage',
      cause,
      remedy: `name an address of this machine that the hosts reach${own.length > 0 ? `: ${own.join(', ')}` : ''}`,
    })
  })
  const token = Buffer.from(random.bytes(12)).toString('hex')
  return {
    url: server.url,
    reach: {
      kind: 'network',
      serve: ({ path, digest }, name) => {
        const at = `/${token}/${digest}/${encodeURIComponent(name)}`
        files.set(at, { path, digest })
        // Another host may be fetching it still.
        return { url: `${server.url}${at}`, [Symbol.dispose]: () => {} }
      },
    },
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  }
}

function placeIn(address: string): { host: string; port: number } {
  const [, six, four, port = '0'] = /^(?:\[([0-9a-fA-F:.]+)\]|([^:[\]]+))(?::(\d{1,5}))?$/.exec(address) ?? []
  const host = six ?? four
  if (host === undefined || Number(port) > 65535)
    throw new UserError('run-options', `--serve-image ${address} is not an address`, {
      kind: 'usage',
      remedy: 'write HOST, HOST:PORT or [IPV6]:PORT',
    })
  if (host === '0.0.0.0' || host === '::')
    throw new UserError('run-options', `--serve-image ${address}: hosts cannot connect to ${host}`, {
      kind: 'usage',
      remedy: 'name the address of this machine that they reach',
    })
  return { host, port: Number(port) }
}

const ownAddresses = (): string[] =>
  Object.values(networkInterfaces())
    .flatMap((each) => each ?? [])
    .filter(({ internal, scopeid = 0 }) => !internal && scopeid === 0)
    .map(({ address }) => address)
