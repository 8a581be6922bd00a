import type { Client, ParsedKey } from 'ssh2'
import { keyType } from './known-hosts.js'

/** The format of each kind of certificate's signatures, and what they are made with. */
const SIGNATURES: Readonly<Record<string, { name: string; offered?: string; hash?: string; der?: boolean }>> = {
  'ssh-ed25519-cert-v01@openssh.com': { name: 'ssh-ed25519' },
  // With SHA-1 no server takes it any more (PROTOCOL.certkeys, "rsa-sha2").
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
 * A private key that is offered with its certificate (`KEY-cert.pub`).
 *
 * @param text the line of the certificate file
 * @returns null when it is no certificate that can be used
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

/** The key itself, which its certificate holds after the nonce, without the name of its type. */
function publicPart(key: ParsedKey): Buffer {
  const blob = key.getPublicSSH()
  return blob.subarray(4 + blob.readUInt32BE(0))
}

/** ECDSA signatures are two numbers, which ssh2 itself turns from ASN.1 only for types that it knows. */
function fromDer(signature: Buffer): Buffer {
  let at = signature[1]! & 0x80 ? 3 : 2
  const number = () => {
    const length = signature[at + 1]!
    const value = signature.subarray(at + 2, at + 2 + length)
    at += 2 + length
    return value
  }
  return Buffer.concat([text(number()), text(number())])
}

/** What this needs of ssh2's inside; ssh2 is pinned, and a test with a real sshd holds it. */
interface Inside {
  _protocol: {
    authPK(user: string, key: ParsedKey, algorithm: string | undefined, sign?: Sign): void
    _packetRW: {
      write: { allocStart: number; alloc(length: number): Buffer; finalize(packet: Buffer, force?: boolean): Buffer }
    }
  }
}
type Sign = (data: Buffer, done: (signature: Buffer) => void) => void

/**
 * Teaches a client certificates, right after `connect`. ssh2 names the algorithm of a signature as it names the key's,
 * which is the same for keys and differs for certificates (PROTOCOL.certkeys): `ssh-ed25519`, not
 * `ssh-ed25519-cert-v01@openssh.com`.
 */
export function teachCertificates(client: Client): void {
  const { _protocol: protocol } = client as unknown as Inside
  const original = protocol.authPK.bind(protocol)
  protocol.authPK = (user, key, algorithm, sign) => {
    const name = certified.get(key)
    if (name === undefined || !sign) return original(user, key, algorithm, sign)
    original(user, key, algorithm, (data, done) =>
      sign(data, (signature) => {
        const { write } = protocol._packetRW
        const { finalize } = write
        write.finalize = (packet, force) => {
          const payload = renamed(packet.subarray(write.allocStart), name)
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

/** A signed request for public key authentication (RFC 4252, 7) with another name in its signature. */
function renamed(payload: Buffer, name: string): Buffer {
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
  return Buffer.concat([head, text(Buffer.concat([text(Buffer.from(name)), text(signature)]))])
}

function text(bytes: Uint8Array): Buffer {
  const length = Buffer.alloc(4)
  length.writeUInt32BE(bytes.length)
  return Buffer.concat([length, bytes])
}
