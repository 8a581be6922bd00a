import { createSign, generateKeyPair } from 'node:crypto'
import { isIP } from 'node:net'
import { promisify } from 'node:util'
import { withClockHeld, systemClock, type Clock, type Random } from '../../base/runtime/index.js'
import type { TlsIdentity } from '../../base/wire/index.js'
import {
  bitString,
  derContextual,
  derInteger,
  derOctets,
  derOid,
  formatPem,
  derSequence,
  derSet,
  utcTime,
  derUtf8,
} from './der.js'

export interface CertificateOptions {
  /** The common name. */
  hostname: string
  /** Address by which the conductor reaches the agent: IPv4, IPv6 or a name. */
  address: string
  /** Further addresses and names of the same server. */
  also?: readonly string[]
  /** Days of validity; by default 30, as IPA. */
  days?: number
  /** Source of the serial number. */
  random: Random
  clock: Clock
  /** Curve by OpenSSL's name; IPA's option `tls_certificate_curve`. */
  curve?: CertificateCurve
}

/** OpenSSL's names of curves, by IPA's. */
export const CURVES = { p256: 'prime256v1', p384: 'secp384r1', p521: 'secp521r1' } as const
export type CertificateCurve = keyof typeof CURVES

/** Seconds by which the start of validity is set back, for conductors whose clocks are behind. */
const BACKDATED = 3600
const DAYS = 30

/**
 * Makes a key and a self-signed certificate as ironic-python-agent does: valid from an hour ago, for 30 days in all but
 * that hour, for exactly one address by default, signed with SHA-512 (recording agent-tls). Dates are of wall time, by
 * which peers check them. The key comes from the operating system's randomness, never the lab's: a seeded key would be
 * no secret.
 */
export async function selfSigned({
  hostname,
  address,
  also = [],
  days = DAYS,
  random,
  clock,
  curve = 'p384',
}: CertificateOptions): Promise<TlsIdentity> {
  const { publicKey, privateKey } = await withClockHeld(clock, 'making a key', () => {
    return promisify(generateKeyPair)('ec', { namedCurve: CURVES[curve] })
  })
  const now = Math.floor(systemClock().now() / 1000)
  const name = derSequence(derSet(derSequence(derOid('2.5.4.3'), derUtf8(hostname))))
  const algorithm = derSequence(derOid('1.2.840.10045.4.3.4'))
  const alternatives = derSequence(...[address, ...also].map(alternativeName))
  const critical = Uint8Array.of(0x01, 0x01, 0xff)
  const body = derSequence(
    derContextual(0, derInteger(Uint8Array.of(2))),
    derInteger(serial(random)),
    algorithm,
    name,
    derSequence(utcTime(now - BACKDATED), utcTime(now + days * 86_400)),
    name,
    publicKey.export({ type: 'spki', format: 'der' }),
    derContextual(3, derSequence(derSequence(derOid('2.5.29.17'), critical, derOctets(alternatives)))),
  )
  const signature = createSign('sha512').update(body).sign(privateKey)
  return {
    certificate: formatPem('CERTIFICATE', derSequence(body, algorithm, bitString(signature))),
    key: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
  }
}

function alternativeName(address: string): Uint8Array {
  const family = isIP(address)
  if (family === 4) return derContextual(7, Uint8Array.from(address.split('.').map(Number)), 'primitive')
  if (family === 6) return derContextual(7, parseIpv6(address), 'primitive')
  return derContextual(2, Buffer.from(address, 'ascii'), 'primitive')
}

/** Parses an IPv6 address by URL, which normalises it to groups of hexadecimal digits. */
function parseIpv6(address: string): Uint8Array {
  const written = new URL(`http://[${address.replace(/%.*$/, '')}]`).hostname.slice(1, -1)
  const [head = '', tail] = written.split('::')
  const groups = (text: string | undefined) => (text ? text.split(':') : [])
  const missing = tail === undefined ? 0 : 8 - groups(head).length - groups(tail).length
  const all = [...groups(head), ...Array.from({ length: missing }, () => '0'), ...groups(tail)]
  return Uint8Array.from(all.flatMap((group) => [Number.parseInt(group, 16) >> 8, Number.parseInt(group, 16) & 0xff]))
}

/** 159 bits, positive (RFC 5280, 4.1.2.2). */
const serial = (random: Random): Uint8Array =>
  Uint8Array.from({ length: 20 }, (_, index) => {
    const byte = Math.floor(random.next() * 256)
    return index === 0 ? (byte & 0x7f) | 0x40 : byte
  })
