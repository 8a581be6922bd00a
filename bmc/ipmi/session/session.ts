import { type CipherSuite, decryptPayload, encryptPayload, computeHmac, sameCode } from '../protocol/cipher-suites.js'
import { type Packet, sessionPacket } from '../protocol/packet.js'
import { PRIVILEGE } from '../protocol/privilege.js'
import { rmcpDatagram, RMCP_IPMI } from '../protocol/rmcp.js'
import { SequenceWindow } from './sequence-window.js'

/** IPMI 2.0, 'Session Inactivity Timeouts': a session without packets ends after 60 s. */
export const IPMI_SESSION_TIMEOUT = 60_000

/** Result of a handshake. */
export interface Agreement {
  /** Session id of the BMC. */
  readonly id: number
  /** Session id of the caller. */
  readonly remote: number
  readonly suite: CipherSuite
  readonly username: string
  /** The highest privilege level that the caller may ask for. */
  readonly maximum: number
  /** Session integrity key. */
  readonly sik: Buffer
}

/** Sends a datagram to a caller. */
export type Send = (datagram: Buffer) => void

/** An open session: who speaks, with which keys. */
export class Session {
  readonly id: number
  readonly remote: number
  readonly suite: CipherSuite
  readonly username: string
  readonly maximum: number
  /** Each session begins as a user's. */
  privilege: number
  /** Lab time of the latest packet. */
  usedAt: number
  /** Sends to where the latest packet came from. */
  send: Send
  /** The packets that opened it, for a caller who asks again because the last one was lost. */
  readonly opening: { readonly asked: Buffer; readonly answered: Buffer }
  readonly #k1: Buffer
  readonly #k2: Buffer
  readonly #window = new SequenceWindow()
  readonly #iv: () => Buffer
  #sequence = 0

  constructor(
    { id, remote, suite, username, maximum, sik }: Agreement,
    parts: { now: number; send: Send; iv: () => Buffer; opening: Session['opening'] },
  ) {
    this.id = id
    this.remote = remote
    this.suite = suite
    this.username = username
    this.maximum = maximum
    this.privilege = Math.min(PRIVILEGE.user, maximum)
    this.usedAt = parts.now
    this.send = parts.send
    this.opening = parts.opening
    this.#iv = parts.iv
    this.#k1 = computeHmac(suite, sik, constant(1))
    this.#k2 = computeHmac(suite, sik, constant(2)).subarray(0, 16)
  }

  /** The payload of a packet; undefined for one that is not the caller's, is damaged or repeated. */
  open({ isEncrypted, isAuthenticated, covered, authCode, sequence, payload }: Packet): Buffer | undefined {
    if (!isEncrypted || !isAuthenticated || !sameCode(this.#sign(covered), authCode)) return undefined
    // After authentication only: a forged packet must not move the window.
    if (!this.#window.accepts(sequence)) return undefined
    return decryptPayload(this.#k2, payload)
  }

  /** The datagram of a payload to the caller. */
  seal(payloadType: number, payload: Buffer): Buffer {
    this.#sequence = (this.#sequence + 1) >>> 0 || 1
    const packet = sessionPacket({
      payloadType,
      payload,
      session: this.remote,
      sequence: this.#sequence,
      encrypt: (plain) => encryptPayload(this.#k2, this.#iv(), plain),
      sign: (covered) => this.#sign(covered),
    })
    return rmcpDatagram(RMCP_IPMI, packet)
  }

  #sign(covered: Buffer): Buffer {
    return computeHmac(this.suite, this.#k1, covered).subarray(0, this.suite.codeLength)
  }
}

/** The constants of IPMI 2.0, 13.32: 20 bytes for each hash. */
const constant = (value: number): Buffer => Buffer.alloc(20, value)
