import type { Client } from 'ssh2'
import { HOST_CERTIFICATES, type HostCertificate } from './host-certificate.js'
import { keyType } from './known-hosts.js'

/** Internals of ssh2 used here; ssh2 is pinned, and a test with a real sshd checks them. */
interface KeyExchangeInternals {
  _protocol: {
    _offer: KeyExchangeOffer
    _kex: { negotiated: { serverHostKey: string }; _hostKey: Buffer }
  }
}
interface KeyExchangeOffer {
  constructor: new (lists: unknown) => KeyExchangeOffer
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

/** Asks the host for a certificate instead of its bare key. Must be called right after `connect`. */
export function askForCertificate(client: Client): void {
  const { _protocol: protocol } = client as unknown as KeyExchangeInternals
  const { kex, serverHostKey, cs, sc } = protocol._offer.lists
  const arrays = (lists: KeyExchangeOffer['lists']['cs']) =>
    Object.fromEntries(Object.entries(lists).map(([name, { array }]) => [name, array]))
  protocol._offer = new protocol._offer.constructor({
    kex: kex.array,
    cs: arrays(cs),
    sc: arrays(sc),
    serverHostKey: [...HOST_CERTIFICATES, ...serverHostKey.array],
  })
}

/**
 * Makes ssh2 continue with the key inside of a certificate that its host verifier has just accepted. ssh2 would otherwise
 * look for a key and a signature by the certificate's type. The signed data holds the whole certificate, so the first read
 * of the host key returns that.
 */
export function goOnWithKey(client: Client, certificate: Buffer, { key }: HostCertificate): void {
  const { _kex: exchange } = (client as unknown as KeyExchangeInternals)._protocol
  exchange.negotiated.serverHostKey = keyType(key)
  let reads = 0
  Object.defineProperty(exchange, '_hostKey', {
    configurable: true,
    get: () => (reads++ === 0 ? certificate : key),
    // ssh2 clears the field at the end of the exchange.
    set: () => {},
  })
}
