/** Contents of a detached signature. */
export interface PgpSignature {
  /** Seconds since 1970. */
  made: number
  /** Name of the algorithm in gpg's output. */
  algorithm: string
  /** Fingerprint, or only the key id in older signatures; upper-case hex. */
  key: string
  /** Signer's user id in the signature. */
  issuer: string | undefined
}

/** Packet tags of RFC 4880, 4.3. */
const SIGNATURE = 2
/** Tags of one-pass signatures, compressed and literal data, which come with a signature that includes its text. */
const INLINE_TAGS = new Set([4, 8, 11])

/** gpg 2.2's names for the numbers of RFC 4880, 9.1 and later. */
const ALGORITHMS: Record<number, string> = { 1: 'RSA', 3: 'RSA', 16: 'ELG', 17: 'DSA', 19: 'ECDSA', 22: 'EDDSA' }

/** The bytes are no signature; the message has gpg's lines. */
export class NoSignature extends Error {
  override name = 'NoSignature'

  constructor(readonly lines: readonly string[]) {
    super(lines[0])
  }
}

const NO_DATA = [
  'gpg: no valid OpenPGP data found.',
  'gpg: the signature could not be verified.',
  'Please remember that the signature file (.sig or .asc)',
  'should be the first file given on the command line.',
]
const FAILED = 'gpg: verify signatures failed: Unknown system error'

/**
 * The signatures of a .sig file, armoured or not.
 *
 * @throws NoSignature
 */
export function readSignatures(bytes: Uint8Array): PgpSignature[] {
  const binary = dearmour(Buffer.from(bytes))
  if (binary.length === 0) throw new NoSignature([FAILED])
  const signatures: PgpSignature[] = []
  for (let at = 0; at < binary.length;) {
    const packet = packetAt(binary, at)
    if (packet && INLINE_TAGS.has(packet.tag)) throw new NoSignature(['gpg: not a detached signature'])
    if (!packet || (packet.tag !== SIGNATURE && signatures.length === 0)) throw new NoSignature(NO_DATA)
    if (packet.tag === SIGNATURE) signatures.push(parseSignature(packet.body, packet.whole))
    at = packet.end
  }
  return signatures
}

/** Decodes armour (RFC 4880, 6.2): the lines between the empty line and the checksum. */
function dearmour(bytes: Buffer): Buffer {
  const text = bytes.toString('latin1')
  if (text.includes('-----BEGIN PGP SIGNED MESSAGE-----')) throw new NoSignature(['gpg: not a detached signature'])
  const block =
    /-----BEGIN PGP SIGNATURE-----\r?\n(?:[^\n]+\n)*\r?\n([A-Za-z0-9+/=\r\n]*?)\r?\n(?:=[A-Za-z0-9+/]{4}\r?\n)?-----END/.exec(
      text,
    )
  return block ? Buffer.from(block[1]!.replaceAll(/\s/g, ''), 'base64') : bytes
}

/** Header of the packet at an offset (RFC 4880, 4.2); undefined when there is none. */
function packetAt(bytes: Buffer, at: number) {
  const first = bytes[at]!
  if ((first & 0x80) === 0) return undefined
  const byte = (index: number) => bytes[at + index] ?? 0
  let tag = 0
  let header = 0
  let length = 0
  if ((first & 0x40) === 0) {
    const sizes = [1, 2, 4, 0]
    tag = (first >> 2) & 0xf
    header = 1 + sizes[first & 3]!
    for (let index = 1; index < header; index++) length = length * 256 + byte(index)
    if ((first & 3) === 3) length = bytes.length - at - 1
  } else {
    tag = first & 0x3f
    if (byte(1) < 192) [header, length] = [2, byte(1)]
    else if (byte(1) < 224) [header, length] = [3, (byte(1) - 192) * 256 + byte(2) + 192]
    else [header, length] = [6, bytes.length >= at + 6 ? bytes.readUInt32BE(at + 2) : 0]
  }
  const end = at + header + length
  return { tag, body: bytes.subarray(at + header, end), end, whole: end <= bytes.length }
}

/** Parses a signature packet (RFC 4880, 5.2) of version 3 or 4. */
function parseSignature(body: Buffer, whole: boolean): PgpSignature {
  const algorithmOf = (number: number | undefined) => ALGORITHMS[number ?? 0] ?? `unknown algorithm ${number}`
  if (body[0] === 3 && body.length >= 19)
    return {
      made: body.readUInt32BE(3),
      algorithm: algorithmOf(body[15]),
      key: body.toString('hex', 7, 15).toUpperCase(),
      issuer: undefined,
    }
  if (body[0] !== 4 && body[0] !== 5) throw new NoSignature(NO_DATA)
  const cutShort = (what: string) =>
    new NoSignature([`gpg: premature eof while reading ${what} signature data`, FAILED])
  if (body.length < 6) throw cutShort('hashed')
  const hashedEnd = 6 + body.readUInt16BE(4)
  if (body.length < hashedEnd) throw cutShort('hashed')
  if (body.length < hashedEnd + 2) throw cutShort('unhashed')
  const unhashedEnd = hashedEnd + 2 + body.readUInt16BE(hashedEnd)
  if (body.length < unhashedEnd || !whole) throw cutShort('unhashed')
  const parts = new Map([
    ...subpackets(body.subarray(hashedEnd + 2, unhashedEnd)),
    ...subpackets(body.subarray(6, hashedEnd)),
  ])
  // RFC 4880, 5.2.3: creation time, issuer, issuer's fingerprint, signer's user id.
  const made = parts.get(2)
  const issuerId = parts.get(16)
  const fingerprint = parts.get(33)
  const user = parts.get(28)
  return {
    made: made && made.length >= 4 ? made.readUInt32BE(0) : 0,
    algorithm: algorithmOf(body[2]),
    key: (fingerprint?.subarray(1) ?? issuerId ?? Buffer.alloc(8)).toString('hex').toUpperCase(),
    issuer: user?.toString('utf8'),
  }
}

function* subpackets(bytes: Buffer): Generator<[number, Buffer]> {
  for (let at = 0; at < bytes.length;) {
    const first = bytes[at]!
    let header = 1
    let length = first
    if (first === 255) [header, length] = [5, at + 5 <= bytes.length ? bytes.readUInt32BE(at + 1) : 0]
    else if (first >= 192) [header, length] = [2, (first - 192) * 256 + (bytes[at + 1] ?? 0) + 192]
    if (length === 0) return
    yield [bytes[at + header]! & 0x7f, bytes.subarray(at + header + 1, at + header + length)]
    at += header + length
  }
}
