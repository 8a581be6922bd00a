import { ownMember } from '../../base/runtime/index.js'
import { knownHostPattern, keyType } from './known-hosts.js'
import { loadSsh2 } from './ssh2.js'

/** A host's key, signed by an authority (OpenSSH's PROTOCOL.certkeys). */
export interface HostCertificate {
  /** The host's key in SSH's wire format. */
  key: Buffer
  /** Host names and patterns; an empty list matches every host. */
  principals: string[]
  /** Milliseconds since 1970. */
  validAfter: number
  validBefore: number
  /** Public key of the authority. */
  authority: Buffer
  /** Defect that makes it invalid for every host; null for none. */
  fault: string | null
}

/** Number of fields of the key, by the type of its certificate. Without RSA, whose certificates ssh2 cannot accept. */
const KEY_FIELDS: Readonly<Record<string, number>> = {
  'ssh-ed25519-cert-v01@openssh.com': 1,
  'ecdsa-sha2-nistp256-cert-v01@openssh.com': 2,
  'ecdsa-sha2-nistp384-cert-v01@openssh.com': 2,
  'ecdsa-sha2-nistp521-cert-v01@openssh.com': 2,
}

/** Types of certificates to ask a host for. */
export const HOST_CERTIFICATES: readonly string[] = Object.keys(KEY_FIELDS)

const HOST_CERTIFICATE = 2
const MAX_DATE_TIME = 8.64e15

/** @returns null when the bytes are not a usable certificate */
export function readHostCertificate(blob: Uint8Array): HostCertificate | null {
  const type = keyType(blob)
  const count = ownMember(KEY_FIELDS, type)
  if (count === undefined) return null
  try {
    const fields = new Fields(blob)
    fields.text()
    fields.text()
    const parts = Array.from({ length: count }, () => fields.text())
    fields.number(8)
    const kind = fields.number(4)
    fields.text()
    const principals = new Fields(fields.text()).all().map((name) => name.toString('utf8'))
    const validAfter = fields.number(8)
    const validBefore = fields.number(8)
    const critical = fields.text()
    fields.text()
    fields.text()
    const authority = fields.text()
    const signed = fields.before()
    const signature = fields.text()
    const fault =
      kind !== HOST_CERTIFICATE
        ? 'is not a host certificate'
        : critical.length > 0
          ? 'has unknown critical options'
          : signedBy(authority, signed, signature)
            ? null
            : 'is not signed by the authority that it names'
    return {
      key: Buffer.concat([Buffer.from(type.replace('-cert-v01@openssh.com', '')), ...parts].map(encodeSshField)),
      principals,
      authority,
      fault,
      validAfter: Math.min(validAfter * 1000, MAX_DATE_TIME),
      validBefore: Math.min(validBefore * 1000, MAX_DATE_TIME),
    }
  } catch (error) {
    if (error instanceof RangeError) return null
    throw error
  }
}

/** Reason why a certificate is invalid for a host; null when it is valid. Does not check whether the authority is trusted. */
export function certificateFault(
  { fault, principals, validAfter, validBefore }: HostCertificate,
  host: string,
  now: number,
): string | null {
  if (fault !== null) return fault
  if (now < validAfter) return `is not valid before ${new Date(validAfter).toISOString()}`
  if (now >= validBefore) return `was valid until ${new Date(validBefore).toISOString()}`
  if (principals.length > 0 && !principals.some((pattern) => knownHostPattern(pattern).test(host)))
    return `is for ${principals.join(', ')}`
  return null
}

/** Accepted hashes; SHA-1 is refused, as in OpenSSH since 8.2. */
const HASHES: Readonly<Record<string, string | undefined>> = { 'rsa-sha2-256': 'sha256', 'rsa-sha2-512': 'sha512' }

function signedBy(authority: Buffer, data: Buffer, signature: Buffer): boolean {
  const type = keyType(authority)
  const parsed = loadSsh2().utils.parseKey(`${type} ${authority.toString('base64')}`)
  if (parsed instanceof Error) return false
  const fields = new Fields(signature)
  const name = fields.text().toString('latin1')
  const bytes = fields.text()
  const hash = ownMember(HASHES, name)
  if (type === 'ssh-rsa' ? hash === undefined : name !== type) return false
  const value = type.startsWith('ecdsa-') ? toDer(bytes) : bytes
  return parsed.verify(data, value, hash) === true
}

/** Converts an ECDSA signature, two numbers, from SSH's format to ASN.1. */
function toDer(signature: Buffer): Buffer {
  const numbers = new Fields(signature).all().map((bytes) => Buffer.concat([Buffer.from([0x02, bytes.length]), bytes]))
  const all = Buffer.concat(numbers)
  return Buffer.concat([Buffer.from(all.length < 0x80 ? [0x30, all.length] : [0x30, 0x81, all.length]), all])
}

function encodeSshField(bytes: Uint8Array): Buffer {
  const length = Buffer.alloc(4)
  length.writeUInt32BE(bytes.length)
  return Buffer.concat([length, bytes])
}

/** Reads fields one after the other; throws a RangeError at the end. */
class Fields {
  #at = 0
  readonly #bytes: Buffer

  constructor(bytes: Uint8Array) {
    this.#bytes = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  }

  text(): Buffer {
    const length = this.number(4)
    if (this.#at + length > this.#bytes.length) throw new RangeError('it is cut off')
    return this.#bytes.subarray(this.#at, (this.#at += length))
  }

  /** Large numbers lose their last digits, which no date needs. */
  number(length: 4 | 8): number {
    const value = length === 4 ? this.#bytes.readUInt32BE(this.#at) : Number(this.#bytes.readBigUInt64BE(this.#at))
    this.#at += length
    return value
  }

  all(): Buffer[] {
    const texts: Buffer[] = []
    while (this.#at < this.#bytes.length) texts.push(this.text())
    return texts
  }

  before(): Buffer {
    return this.#bytes.subarray(0, this.#at)
  }
}
