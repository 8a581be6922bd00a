import ssh2, { type ParsedKey } from 'ssh2'
import { describe, expect, test } from 'vitest'
import { newKey } from '../../test/kit/ssh-host.js'
import { certificateFault, readHostCertificate } from './host-certificate.js'
import { checkHostKey, parsePins } from './host-keys.js'
import { keyType } from './known-hosts.js'

const NOW = Date.parse('2026-05-01T00:00:00Z')
const HOUR = 3600

const parsed = (text: string) => ssh2.utils.parseKey(text) as ParsedKey
const field = (bytes: string | Buffer) => {
  const value = Buffer.from(bytes)
  const length = Buffer.alloc(4)
  length.writeUInt32BE(value.length)
  return Buffer.concat([length, value])
}
const number = (value: number, bytes: 4 | 8) => {
  const made = Buffer.alloc(bytes)
  if (bytes === 4) made.writeUInt32BE(value)
  else made.writeBigUInt64BE(BigInt(value))
  return made
}

type Kind = Parameters<typeof newKey>[0]
interface Made {
  key?: Kind
  authority?: Kind
  kind?: number
  names?: string[]
  after?: number
  before?: number
  critical?: string
  spoilt?: boolean
}

/** Makes a certificate as ssh-keygen -s does (PROTOCOL.certkeys). */
function certificate({
  key = 'ed25519',
  authority = 'ed25519',
  kind = 2,
  names = ['lab-7'],
  after = NOW / 1000 - HOUR,
  before = NOW / 1000 + HOUR,
  critical = '',
  spoilt = false,
}: Made = {}) {
  const own = parsed(newKey(key).private).getPublicSSH()
  const ca = parsed(newKey(authority).private)
  const signed = Buffer.concat([
    field(`${keyType(own)}-cert-v01@openssh.com`),
    field('nonce'),
    own.subarray(4 + own.readUInt32BE(0)),
    number(7, 8),
    number(kind, 4),
    field('id'),
    field(Buffer.concat(names.map(field))),
    number(after, 8),
    number(before, 8),
    field(critical),
    field(''),
    field(''),
    field(ca.getPublicSSH()),
  ])
  const made = ca.sign(signed, authority === 'rsa' ? 'sha512' : undefined) as unknown as Buffer
  const name = authority === 'rsa' ? 'rsa-sha2-512' : ca.type
  const value = authority === 'ecdsa' ? fromDer(made) : made
  if (spoilt) value[value.length - 1]! ^= 1
  const blob = Buffer.concat([signed, field(Buffer.concat([field(name), field(value)]))])
  return { blob, own, ca: ca.getPublicSSH() }
}

function fromDer(der: Buffer): Buffer {
  let at = 2
  const next = () => {
    const bytes = der.subarray(at + 2, at + 2 + der[at + 1]!)
    at += 2 + bytes.length
    return bytes
  }
  return Buffer.concat([field(next()), field(next())])
}

const line = (marker: string, hosts: string, key: Buffer) =>
  `${marker} ${hosts} ${keyType(key)} ${key.toString('base64')}\n`

describe('a certificate of a host', () => {
  test.each<[Kind, Kind]>([
    ['ed25519', 'ed25519'],
    ['ecdsa', 'ecdsa'],
    ['ed25519', 'rsa'],
    ['ecdsa', 'ed25519'],
  ])('of a key that is %s, signed by one that is %s', (key, authority) => {
    const { blob, own, ca } = certificate({ key, authority })
    const read = readHostCertificate(blob)!
    expect([read.key.equals(own), read.authority.equals(ca)]).toEqual([true, true])
    expect(certificateFault(read, 'lab-7', NOW)).toBeNull()
  })

  test.each<[string, Made, string, RegExp]>([
    ['for another host', {}, 'lab-8', /^is for lab-7$/],
    ['expired', { before: NOW / 1000 - 1 }, 'lab-7', /^was valid until 2026-04-30T23:59:59/],
    ['not valid yet', { after: NOW / 1000 + 1 }, 'lab-7', /^is not valid before 2026-05-01T00:00:01/],
    ['of a user', { kind: 1 }, 'lab-7', /not a host certificate/],
    ['with an unknown critical option', { critical: 'x' }, 'lab-7', /critical options/],
    ['changed after it was signed', { spoilt: true }, 'lab-7', /not signed by the authority/],
    ['changed after it was signed (ECDSA)', { spoilt: true, authority: 'ecdsa' }, 'lab-7', /not signed/],
  ])('is refused: %s', (_, made, host, fault) => {
    const { blob } = certificate(made)
    expect(certificateFault(readHostCertificate(blob)!, host, NOW)).toMatch(fault)
  })

  test('may be for any host, for a pattern, and without an end', () => {
    const fault = (made: Made, host: string) =>
      certificateFault(readHostCertificate(certificate(made).blob)!, host, NOW)
    expect(fault({ names: [] }, 'any')).toBeNull()
    expect(fault({ names: ['*.lab'] }, 'Seven.lab')).toBeNull()
    expect(fault({ before: Number.MAX_SAFE_INTEGER }, 'lab-7')).toBeNull()
  })

  test('cut off anywhere is not a certificate', () => {
    const { blob } = certificate()
    for (let length = 0; length < blob.length; length++)
      expect(readHostCertificate(blob.subarray(0, length))).toBeNull()
  })

  test('is trusted when it is valid and its authority is known for the host', () => {
    const { blob, own, ca } = certificate()
    const read = readHostCertificate(blob)
    const verdict = (text: string, host = 'lab-7', port = 22) => {
      const check = { name: { host, port }, files: [{ path: 'kh', text }], pins: parsePins([]), phase: 'live' } as const
      try {
        return checkHostKey({ ...check, now: NOW }, own, read)
      } catch (error) {
        return (error as Error).message
      }
    }
    expect(verdict(line('@cert-authority', 'lab-*', ca))).toBe('trusted')
    expect(verdict(line('@cert-authority', 'lab-*', ca), 'lab-7', 2222)).toBe('trusted')
    expect(verdict(line('@cert-authority', 'lab-*', ca), 'lab-8')).toMatch(/its certificate is for lab-7/)
    expect(verdict(line('@cert-authority', 'other', ca))).toMatch(/is not known for this host/)
    expect(verdict('')).toMatch(/is not known for this host/)
    expect(verdict(line('@cert-authority', '*', ca) + line('@revoked', '*', own))).toMatch(/is revoked in kh:2/)
    expect(verdict(line('@cert-authority', '*', ca) + line('@revoked', '*', ca))).toMatch(/that is revoked in kh:2/)
  })
})
