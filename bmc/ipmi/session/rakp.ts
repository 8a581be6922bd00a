import type { CipherSuite } from '../protocol/cipher-suites.js'
import { computeHmac } from '../protocol/cipher-suites.js'

/** Status codes of the messages that open a session; IPMI 2.0, table 13-15. */
export const RAKP_STATUS = {
  ok: 0x00,
  insufficientResources: 0x01,
  invalidSession: 0x02,
  invalidAuthentication: 0x04,
  invalidIntegrity: 0x05,
  invalidRole: 0x09,
  unauthorizedRole: 0x0a,
  invalidNameLength: 0x0c,
  unauthorizedName: 0x0d,
  invalidCheckValue: 0x0f,
  invalidConfidentiality: 0x10,
  noMatchingSuite: 0x11,
  illegalParameter: 0x12,
} as const

/** An open session request; IPMI 2.0, table 13-9. */
export interface OpenRequest {
  readonly tag: number
  /** 0 asks for the highest. */
  readonly privilege: number
  readonly remote: number
  /** The algorithms, in a list a kind: authentication, integrity, confidentiality. Undefined leaves the choice. */
  readonly algorithms: readonly (number | undefined)[]
}

const OPEN_REQUEST = 32
const ALGORITHM = 8

/** Undefined for what is too short to be answered; `status` for what cannot be read further. */
export function readOpenRequest(
  payload: Buffer,
): OpenRequest | { tag: number; remote: number; status: number } | undefined {
  if (payload.length < OPEN_REQUEST) return undefined
  const tag = payload[0]!
  const remote = payload.readUInt32LE(4)
  const algorithms: (number | undefined)[] = []
  for (let kind = 0; kind < 3; kind++) {
    const at = 8 + kind * ALGORITHM
    const length = payload[at + 3]!
    if (payload[at] !== kind || (length !== ALGORITHM && length !== 0))
      return { tag, remote, status: RAKP_STATUS.illegalParameter }
    algorithms.push(length === 0 ? undefined : payload[at + 4]! & 0x3f)
  }
  return { tag, remote, privilege: payload[1]! & 0x0f, algorithms }
}

/**
 * The best suite with these algorithms. If there is no such suite, the refusal names no single algorithm: callers that then
 * try another suite, as Ironic does, look for 'no matching cipher suite'.
 */
export function suiteFor(
  [authentication, integrity, confidentiality]: OpenRequest['algorithms'],
  suites: readonly CipherSuite[],
): CipherSuite | undefined {
  const fits = (wanted: number | undefined, own: number): boolean => wanted === undefined || wanted === own
  return suites.findLast(
    (suite) =>
      fits(authentication, suite.authentication) &&
      fits(integrity, suite.integrity) &&
      fits(confidentiality, suite.confidentiality),
  )
}

export function openResponse(
  { tag, remote }: Pick<OpenRequest, 'tag' | 'remote'>,
  { id, maximum, suite }: { id: number; maximum: number; suite: CipherSuite },
): Buffer {
  const answer = Buffer.alloc(12 + 3 * ALGORITHM)
  answer[0] = tag
  answer[2] = maximum
  answer.writeUInt32LE(remote, 4)
  answer.writeUInt32LE(id, 8)
  for (const [kind, value] of [suite.authentication, suite.integrity, suite.confidentiality].entries()) {
    const at = 12 + kind * ALGORITHM
    answer[at] = kind
    answer[at + 3] = ALGORITHM
    answer[at + 4] = value
  }
  return answer
}

/** The answer that refuses a message: nothing follows the caller's session id. */
export function rakpRefusal(tag: number, status: number, remote: number): Buffer {
  const answer = Buffer.alloc(8)
  answer[0] = tag
  answer[1] = status
  answer.writeUInt32LE(remote, 4)
  return answer
}

/** RAKP message 1; IPMI 2.0, table 13-11. */
export interface Rakp1 {
  readonly tag: number
  readonly session: number
  readonly random: Buffer
  /** Requested privilege, and whether the name alone decides about the user: a part of the keys. */
  readonly role: number
  readonly nameLength: number
  readonly name: Buffer
}

const RAKP1 = 28

export function readRakp1(payload: Buffer): Rakp1 | undefined {
  if (payload.length < RAKP1) return undefined
  const nameLength = payload[27]!
  if (payload.length < RAKP1 + Math.min(nameLength, 16)) return undefined
  return {
    tag: payload[0]!,
    session: payload.readUInt32LE(4),
    role: payload[24]!,
    nameLength,
    // Copies: a socket's buffer must not be held for as long as a session.
    random: Buffer.from(payload.subarray(8, 24)),
    name: Buffer.from(payload.subarray(RAKP1, RAKP1 + nameLength)),
  }
}

/** RAKP message 3; IPMI 2.0, table 13-13. */
export interface Rakp3 {
  readonly tag: number
  readonly status: number
  readonly session: number
  readonly code: Buffer
}

export function readRakp3(payload: Buffer): Rakp3 | undefined {
  if (payload.length < 8) return undefined
  return {
    tag: payload[0]!,
    status: payload[1]!,
    session: payload.readUInt32LE(4),
    code: payload.subarray(8),
  }
}

/** Both sides of a handshake, from which its codes and keys are made. */
export interface RakpHandshake {
  readonly suite: CipherSuite
  /** Session ids of the caller and of the BMC. */
  readonly remote: number
  readonly id: number
  readonly callerRandom: Buffer
  readonly bmcRandom: Buffer
  readonly guid: Buffer
  readonly role: number
  readonly name: Buffer
  /** The user's password, as a key of 20 bytes. */
  readonly key: Buffer
}

export const encodeUint32 = (value: number): Buffer => {
  const bytes = Buffer.alloc(4)
  bytes.writeUInt32LE(value)
  return bytes
}

const roleAndName = ({ role, name }: RakpHandshake): Buffer => Buffer.concat([Buffer.from([role, name.length]), name])

/** The code that RAKP message 2 has when the BMC knows the password. */
export const rakp2Code = (exchange: RakpHandshake): Buffer =>
  computeHmac(
    exchange.suite,
    exchange.key,
    encodeUint32(exchange.remote),
    encodeUint32(exchange.id),
    exchange.callerRandom,
    exchange.bmcRandom,
    exchange.guid,
    roleAndName(exchange),
  )

export function makeRakp2(tag: number, exchange: RakpHandshake): Buffer {
  const { remote, bmcRandom, guid } = exchange
  const head = Buffer.from([tag, 0, 0, 0])
  return Buffer.concat([head, encodeUint32(remote), bmcRandom, guid, rakp2Code(exchange)])
}

/** The code that RAKP message 3 has when the caller knows the password. */
export const rakp3Code = (exchange: RakpHandshake): Buffer =>
  computeHmac(exchange.suite, exchange.key, exchange.bmcRandom, encodeUint32(exchange.remote), roleAndName(exchange))

/** Session integrity key. There is no BMC key, so that it is made with the user's. */
export const integrityKey = (exchange: RakpHandshake): Buffer =>
  computeHmac(exchange.suite, exchange.key, exchange.callerRandom, exchange.bmcRandom, roleAndName(exchange))

/** The code of RAKP message 4. @param sik session integrity key */
export const rakp4Code = ({ suite, id, callerRandom, guid }: RakpHandshake, sik: Buffer): Buffer =>
  computeHmac(suite, sik, callerRandom, encodeUint32(id), guid).subarray(0, suite.codeLength)

export function makeRakp4(tag: number, exchange: RakpHandshake, sik: Buffer): Buffer {
  return Buffer.concat([Buffer.from([tag, 0, 0, 0]), encodeUint32(exchange.remote), rakp4Code(exchange, sik)])
}
