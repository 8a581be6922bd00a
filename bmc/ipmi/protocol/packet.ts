/** Payload types; IPMI 2.0, table 13-16. */
export const PAYLOAD = {
  ipmi: 0x00,
  sol: 0x01,
  openRequest: 0x10,
  openResponse: 0x11,
  rakp1: 0x12,
  rakp2: 0x13,
  rakp3: 0x14,
  rakp4: 0x15,
} as const

/** The session header and payload of an IPMI packet. */
export interface Packet {
  /** 1.5 for a packet without session: commands that need none come in them. */
  readonly version: '1.5' | '2.0'
  readonly payloadType: number
  readonly isEncrypted: boolean
  readonly isAuthenticated: boolean
  /** 0 for none. */
  readonly session: number
  readonly sequence: number
  /** As it was sent: encrypted where {@link isEncrypted}. */
  readonly payload: Buffer
  /** The bytes that the authentication code covers; empty without one. */
  readonly covered: Buffer
  readonly authCode: Buffer
}

const AUTHENTICATION_NONE = 0x00
const RMCP_PLUS = 0x06
const HEADER_15 = 10
const HEADER_20 = 12
const NEXT_HEADER = 0x07

/**
 * Reads a packet; undefined for a damaged one.
 *
 * @param authCodeLength bytes of the authentication code, by session
 */
export function readPacket(bytes: Buffer, authCodeLength: (session: number) => number | undefined): Packet | undefined {
  if (bytes[0] === RMCP_PLUS) return readPacket20(bytes, authCodeLength)
  // Sessions of IPMI 1.5 are not offered: no other packet of it has a meaning.
  if (bytes.length < HEADER_15 || bytes[0] !== AUTHENTICATION_NONE) return undefined
  const length = bytes[9]!
  if (bytes.readUInt32LE(5) !== 0 || bytes.length < HEADER_15 + length) return undefined
  return {
    version: '1.5',
    payloadType: PAYLOAD.ipmi,
    isEncrypted: false,
    isAuthenticated: false,
    session: 0,
    sequence: 0,
    payload: bytes.subarray(HEADER_15, HEADER_15 + length),
    covered: NO_BYTES,
    authCode: NO_BYTES,
  }
}

const NO_BYTES = Buffer.alloc(0)

function readPacket20(bytes: Buffer, authCodeLength: (session: number) => number | undefined): Packet | undefined {
  if (bytes.length < HEADER_20) return undefined
  const session = bytes.readUInt32LE(2)
  const length = bytes.readUInt16LE(10)
  const end = HEADER_20 + length
  if (bytes.length < end) return undefined
  const isAuthenticated = (bytes[1]! & 0x40) !== 0
  const codeLength = isAuthenticated ? authCodeLength(session) : 0
  if (codeLength === undefined) return undefined
  const covered = isAuthenticated ? bytes.subarray(0, bytes.length - codeLength) : NO_BYTES
  if (isAuthenticated && !isPadded(covered, end)) return undefined
  return {
    version: '2.0',
    payloadType: bytes[1]! & 0x3f,
    isEncrypted: (bytes[1]! & 0x80) !== 0,
    isAuthenticated,
    session,
    sequence: bytes.readUInt32LE(6),
    payload: bytes.subarray(HEADER_20, end),
    covered,
    authCode: isAuthenticated ? bytes.subarray(bytes.length - codeLength) : NO_BYTES,
  }
}

/** Whether the session trailer is whole: pad bytes, their number, the next header. */
function isPadded(covered: Buffer, payloadEnd: number): boolean {
  const trailer = covered.subarray(payloadEnd)
  return trailer.length >= 2 && trailer.at(-1) === NEXT_HEADER && trailer.at(-2) === trailer.length - 2
}

/** The packet of a payload outside of sessions, in the form in which its request came. */
export function plainPacket(version: '1.5' | '2.0', payloadType: number, payload: Buffer): Buffer {
  if (version === '2.0') return Buffer.concat([header20(payloadType, 0, 0, payload.length), payload])
  const header = Buffer.alloc(HEADER_15)
  header[9] = payload.length
  return Buffer.concat([header, payload])
}

function header20(type: number, session: number, sequence: number, length: number): Buffer {
  const header = Buffer.alloc(HEADER_20)
  header[0] = RMCP_PLUS
  header[1] = type
  header.writeUInt32LE(session, 2)
  header.writeUInt32LE(sequence, 6)
  header.writeUInt16LE(length, 10)
  return header
}

export interface SessionPacket {
  readonly payloadType: number
  readonly session: number
  readonly sequence: number
  readonly payload: Buffer
  readonly encrypt: (payload: Buffer) => Buffer
  readonly sign: (covered: Buffer) => Buffer
}

/** An encrypted and authenticated packet of a session. */
export function sessionPacket({ payloadType, session, sequence, payload, encrypt, sign }: SessionPacket): Buffer {
  const encrypted = encrypt(payload)
  const header = header20(0xc0 | payloadType, session, sequence, encrypted.length)
  // The code covers a multiple of four bytes, with the trailer's two.
  const pad = (4 - ((header.length + encrypted.length + 2) % 4)) % 4
  const covered = Buffer.concat([header, encrypted, Buffer.alloc(pad, 0xff), Buffer.from([pad, NEXT_HEADER])])
  return Buffer.concat([covered, sign(covered)])
}
