import type { Client, ParsedKey } from 'ssh2'
import { keyType } from './known-hosts.js'

/** Signature format and hash of each type of certificate. */
const SIGNATURES: Readonly<Record<string, { name: string; offered?: string; hash?: string; der?: boolean }>> = {
  'ssh-ed25519-cert-v01@openssh.com': { name: 'ssh-ed25519' },
  // Servers no longer accept SHA-1 (PROTOCOL.certkeys, "rsa-sha2").
  'ssh-rsa-cert-v01@openssh.com': {
    name: 'rsa-sha2-512',
    offered: 'rsa-sha2-512-cert-v01@openssh.com',
    hash: 'sha512',
  },
  'ecdsa-sha2-nistp256-cert-v01@openssh.com': { name: 'ecdsa-sha2-nistp256', der: true },
  'ecdsa-sha2-nistp384-cert-v01@openssh.com': { name: 'ecdsa-sha2-nistp384', der: true },
  'ecdsa-sha2-nistp521-cert-v01@openssh.com': { name: 'ecdsa-sha2-nistp521', der: true },
}

const certified = new WeakMap<object, string>()

/**
 * A private key with its certificate (`KEY-cert.pub`).
 *
 * @param text the line of the certificate file
 * @returns null when it is not a usable certificate of this key
 */
export function certifiedKey(key: ParsedKey, text: string): ParsedKey | null {
  const blob = Buffer.from(text.trim().split(/\s+/)[1] ?? '', 'base64')
  const signature = SIGNATURES[keyType(blob)]
  if (!signature || !blob.includes(publicPart(key))) return null
  const made = Object.create(key, {
    type: { value: signature.offered ?? keyType(blob) },
    getPublicSSH: { value: () => blob },
    sign: {
      value: (data: Buffer) => {
        const signed: unknown = key.sign(data, signature.hash)
        return Buffer.isBuffer(signed) && signature.der ? fromDer(signed) : signed
      },
    },
  }) as ParsedKey
  certified.set(made, signature.name)
  return made
}

/** The public key without the name of its type, as its certificate contains it after the nonce. */
function publicPart(key: ParsedKey): Buffer {
  const blob = key.getPublicSSH()
  return blob.subarray(4 + blob.readUInt32BE(0))
}

/** Converts an ECDSA signature, two numbers, from ASN.1; ssh2 does so only for types that it knows. */
function fromDer(signature: Buffer): Buffer {
  let at = signature[1]! & 0x80 ? 3 : 2
  const number = () => {
    const length = signature[at + 1]!
    const value = signature.subarray(at + 2, at + 2 + length)
    at += 2 + length
    return value
  }
  return Buffer.concat([encodeSshString(number()), encodeSshString(number())])
}

/** Internals of ssh2 used here; ssh2 is pinned, and a test with a real sshd checks them. */
interface AuthInternals {
  _protocol: {
    authPK(user: string, key: ParsedKey, algorithm: string | undefined, sign?: Sign): void
    _packetRW: {
      write: { allocStart: number; alloc(length: number): Buffer; finalize(packet: Buffer, force?: boolean): Buffer }
    }
  }
}
type Sign = (data: Buffer, done: (signature: Buffer) => void) => void

/**
 * Makes a client sign with certificates. Must be called right after `connect`. ssh2 writes the key's type as the algorithm
 * of a signature, which is right for keys and wrong for certificates (PROTOCOL.certkeys): `ssh-ed25519`, not
 * `ssh-ed25519-cert-v01@openssh.com`.
 */
export function signWithCertificates(client: Client): void {
  const { _protocol: protocol } = client as unknown as AuthInternals
  const original = protocol.authPK.bind(protocol)
  protocol.authPK = (user, key, algorithm, sign) => {
    const name = certified.get(key)
    if (name === undefined || !sign) return original(user, key, algorithm, sign)
    original(user, key, algorithm, (data, done) =>
      sign(data, (signature) => {
        const { write } = protocol._packetRW
        const { finalize } = write
        write.finalize = (packet, force) => {
          const payload = replaceAlgorithm(packet.subarray(write.allocStart), name)
          const other = write.alloc(payload.length)
          payload.copy(other, write.allocStart)
          return finalize.call(write, other, force)
        }
        try {
          done(signature)
        } finally {
          write.finalize = finalize
        }
      }),
    )
  }
}

/** Replaces the algorithm in the signature of a request for public key authentication (RFC 4252, section 7). */
function replaceAlgorithm(payload: Buffer, name: string): Buffer {
  let at = 1
  const skip = () => (at += 4 + payload.readUInt32BE(at))
  for (let strings = 0; strings < 3; strings++) skip()
  at += 1
  skip()
  skip()
  const head = payload.subarray(0, at)
  at += 4
  skip()
  const signature = payload.subarray(at + 4, at + 4 + payload.readUInt32BE(at))
  return Buffer.concat([
    head,
    encodeSshString(Buffer.concat([encodeSshString(Buffer.from(name)), encodeSshString(signature)])),
  ])
}

function encodeSshString(bytes: Uint8Array): Buffer {
  const length = Buffer.alloc(4)
  length.writeUInt32BE(bytes.length)
  return Buffer.concat([length, bytes])
}
