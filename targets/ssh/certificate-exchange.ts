import type { Client } from 'ssh2'
import { HOST_CERTIFICATES, type HostCertificate } from './host-certificate.js'
import { keyType } from './known-hosts.js'

/** What this needs of ssh2's inside; ssh2 is pinned, and a test with a real sshd holds it. */
interface Inside {
  _protocol: {
    _offer: Offer
    _kex: { negotiated: { serverHostKey: string }; _hostKey: Buffer }
  }
}
interface Offer {
  constructor: new (lists: unknown) => Offer
  lists: {
    kex: List
    serverHostKey: List
    cs: { cipher: List; mac: List; compress: List; lang: List }
    sc: { cipher: List; mac: List; compress: List; lang: List }
  }
}
interface List {
  array: string[]
}

/** Asks the host for a certificate rather than for its key alone; right after `connect`, before anything was said. */
export function askForCertificate(client: Client): void {
  const { _protocol: protocol } = client as unknown as Inside
  const { kex, serverHostKey, cs, sc } = protocol._offer.lists
  const arrays = (lists: Offer['lists']['cs']) =>
    Object.fromEntries(Object.entries(lists).map(([name, { array }]) => [name, array]))
  protocol._offer = new protocol._offer.constructor({
    ...{ kex: kex.array, cs: arrays(cs), sc: arrays(sc) },
    serverHostKey: [...HOST_CERTIFICATES, ...serverHostKey.array],
  })
}

/**
 * Lets a client go on with the key in a certificate that was just shown to its verifier. ssh2 would look for a key and for a
 * signature by the certificate's name; what is signed has the certificate as it came, which it reads first.
 */
export function goOnWithKey(client: Client, certificate: Buffer, { key }: HostCertificate): void {
  const { _kex: exchange } = (client as unknown as Inside)._protocol
  exchange.negotiated.serverHostKey = keyType(key)
  let reads = 0
  Object.defineProperty(exchange, '_hostKey', {
    configurable: true,
    get: () => (reads++ === 0 ? certificate : key),
    // It is let go of in the end, with the whole exchange.
    set: () => {},
  })
}
