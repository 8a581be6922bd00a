import { Agent as PlainAgent } from 'node:http'
import { Agent, type AgentOptions } from 'node:https'
import type { Duplex } from 'node:stream'
import { connect, type ConnectionOptions, type TLSSocket } from 'node:tls'
import { UserError } from '../../../base/runtime/index.js'

/** Connections that stay open for the next request; a BMC has few. */
const KEEP_ALIVE_OPTIONS: AgentOptions = { keepAlive: true, maxSockets: 2, timeout: 20_000 }

export interface BmcTrust {
  /** SHA-256 fingerprint of the certificate, in hex; colons do not matter. */
  certificate?: string | undefined
  /** Believe any certificate. */
  insecure?: boolean | undefined
}

/** Connections to one BMC, which is believed by its fingerprint, by the usual authorities, or without. */
export function bmcAgent(url: URL, { certificate, insecure = false }: BmcTrust): PlainAgent {
  if (url.protocol !== 'https:') return new PlainAgent(KEEP_ALIVE_OPTIONS)
  if (certificate !== undefined) return new PinnedAgent(normalized(certificate), url.host)
  return new Agent({ ...KEEP_ALIVE_OPTIONS, rejectUnauthorized: !insecure })
}

const normalized = (fingerprint: string): string =>
  fingerprint
    .replace(/^sha256:/i, '')
    .replaceAll(':', '')
    .toLowerCase()

/** Looks at the certificate before anything is sent. Its dates and names do not matter: BMCs make their own. */
class PinnedAgent extends Agent {
  constructor(
    private readonly fingerprint: string,
    private readonly host: string,
  ) {
    super(KEEP_ALIVE_OPTIONS)
  }

  override createConnection(
    options: ConnectionOptions,
    done: (error: Error | null, socket?: Duplex) => void,
  ): undefined {
    const socket: TLSSocket = connect({ ...options, rejectUnauthorized: false })
    const failed = (error: Error) => done(error)
    socket.once('error', failed)
    socket.once('secureConnect', () => {
      socket.off('error', failed)
      const found = normalized(socket.getPeerCertificate().fingerprint256 ?? '')
      if (found === this.fingerprint) return done(null, socket)
      socket.on('error', () => {})
      socket.destroy()
      done(
        new UserError('bmc-certificate', `${this.host} shows the certificate sha256:${found}, and not the pinned one`, {
          remedy: 'nothing was sent; compare it with the one that the BMC shows, and correct bmc.certificate',
        }),
      )
    })
    return undefined
  }
}
