import type { Clock, Random } from '../../../base/runtime/index.js'
import { sameCode, type CipherSuite } from '../protocol/cipher-suites.js'
import { PAYLOAD } from '../protocol/packet.js'
import { PRIVILEGE } from '../protocol/privilege.js'
import {
  integrityKey,
  openResponse,
  makeRakp2,
  rakp3Code,
  makeRakp4,
  readOpenRequest,
  readRakp1,
  readRakp3,
  rakpRefusal,
  RAKP_STATUS,
  suiteFor,
  type RakpHandshake,
} from './rakp.js'
import { IPMI_SESSION_TIMEOUT, Session, type Send } from './session.js'

export interface SessionParts {
  clock: Clock
  random: Random
  guid: Buffer
  /** Password of a user as a key of 20 bytes; undefined for an unknown user. */
  keyOf: (username: string) => Buffer | undefined
  /** Cipher suites that the BMC offers, the better one last. */
  suites: readonly CipherSuite[]
  /** Called when a session is over. */
  closed: (session: Session) => void
}

/** A handshake that is under way. */
interface Handshake {
  readonly id: number
  readonly remote: number
  readonly suite: CipherSuite
  readonly maximum: number
  readonly at: number
  exchange?: RakpHandshake
}

/** Open sessions, and handshakes under way, that a BMC has room for. */
const MAX_IPMI_SESSIONS = 16

/** The sessions of a BMC, and the handshakes that open them. Their time is looked at when a packet comes. */
export class Sessions {
  readonly #parts: SessionParts
  readonly #open = new Map<number, Session>()
  readonly #handshakes = new Map<number, Handshake>()

  constructor(parts: SessionParts) {
    this.#parts = parts
  }

  get(id: number): Session | undefined {
    this.#expire()
    return this.#open.get(id)
  }

  list(): readonly Session[] {
    this.#expire()
    return [...this.#open.values()]
  }

  /** @returns whether there was such a session */
  close(id: number): boolean {
    const session = this.#open.get(id)
    if (!session) return false
    this.#open.delete(id)
    this.#parts.closed(session)
    return true
  }

  closeAll(): void {
    this.#handshakes.clear()
    for (const id of [...this.#open.keys()]) this.close(id)
  }

  /** The answer to a message of a handshake; undefined for none. */
  answer(payloadType: number, payload: Buffer, send: Send): { type: number; payload: Buffer } | undefined {
    this.#expire()
    const step = HANDSHAKE[payloadType]
    const answered = step && this[step.method](payload, send)
    return answered && { type: step.answer, payload: answered }
  }

  opening(payload: Buffer): Buffer | undefined {
    const request = readOpenRequest(payload)
    if (!request) return undefined
    const { tag, remote } = request
    if ('status' in request) return rakpRefusal(tag, request.status, remote)
    if (remote === 0) return rakpRefusal(tag, RAKP_STATUS.invalidSession, remote)
    if (request.privilege > PRIVILEGE.administrator) return rakpRefusal(tag, RAKP_STATUS.invalidRole, remote)
    const suite = suiteFor(request.algorithms, this.#parts.suites)
    if (!suite) return rakpRefusal(tag, RAKP_STATUS.noMatchingSuite, remote)
    if (this.#open.size >= MAX_IPMI_SESSIONS) return rakpRefusal(tag, RAKP_STATUS.insufficientResources, remote)
    // Handshakes that never go on must not keep others out: the oldest makes room.
    if (this.#handshakes.size >= MAX_IPMI_SESSIONS) this.#handshakes.delete(this.#handshakes.keys().next().value!)
    const maximum = request.privilege === 0 ? PRIVILEGE.administrator : request.privilege
    const handshake = { id: this.#freeId(), remote, suite, maximum, at: this.#parts.clock.now() }
    this.#handshakes.set(handshake.id, handshake)
    return openResponse(request, handshake)
  }

  challenging(payload: Buffer): Buffer | undefined {
    const message = readRakp1(payload)
    if (!message) return undefined
    const { tag, session, random: callerRandom, role, name, nameLength } = message
    const handshake = this.#handshakes.get(session)
    if (!handshake) return rakpRefusal(tag, RAKP_STATUS.invalidSession, 0)
    const { remote, suite, id, maximum } = handshake
    if (nameLength > 16) return rakpRefusal(tag, RAKP_STATUS.invalidNameLength, remote)
    const level = role & 0x0f
    if (level < PRIVILEGE.callback || level > PRIVILEGE.administrator)
      return rakpRefusal(tag, RAKP_STATUS.invalidRole, remote)
    if (level > maximum) return rakpRefusal(tag, RAKP_STATUS.unauthorizedRole, remote)
    const key = this.#parts.keyOf(name.toString('utf8'))
    if (!key) return rakpRefusal(tag, RAKP_STATUS.unauthorizedName, remote)
    const { guid, random } = this.#parts
    const bmcRandom = Buffer.from(random.bytes(16))
    handshake.exchange = { suite, remote, id, callerRandom, bmcRandom, guid, role, name, key }
    return makeRakp2(tag, handshake.exchange)
  }

  proving(payload: Buffer, send: Send): Buffer | undefined {
    const message = readRakp3(payload)
    if (!message) return undefined
    const { tag, status, session: id, code } = message
    const open = this.#open.get(id)
    if (open) return open.opening.asked.equals(payload) ? open.opening.answered : undefined
    const { exchange } = this.#handshakes.get(id) ?? {}
    if (!exchange) return rakpRefusal(tag, RAKP_STATUS.invalidSession, 0)
    this.#handshakes.delete(id)
    // The caller has found the BMC's code wrong, most often since it has the wrong password.
    if (status !== RAKP_STATUS.ok) return undefined
    const { remote, suite } = exchange
    if (!sameCode(code, rakp3Code(exchange))) return rakpRefusal(tag, RAKP_STATUS.invalidCheckValue, remote)
    if (this.#open.size >= MAX_IPMI_SESSIONS) return rakpRefusal(tag, RAKP_STATUS.insufficientResources, remote)
    const sik = integrityKey(exchange)
    const answered = makeRakp4(tag, exchange, sik)
    const { clock, random } = this.#parts
    const agreement = {
      id,
      remote,
      suite,
      username: exchange.name.toString('utf8'),
      maximum: exchange.role & 0x0f,
      sik,
    }
    const session = new Session(agreement, {
      now: clock.now(),
      send,
      iv: () => Buffer.from(random.bytes(16)),
      opening: { asked: Buffer.from(payload), answered },
    })
    this.#open.set(id, session)
    return answered
  }

  #freeId(): number {
    for (;;) {
      const id = Buffer.from(this.#parts.random.bytes(4)).readUInt32LE()
      if (id !== 0 && !this.#open.has(id) && !this.#handshakes.has(id)) return id
    }
  }

  #expire(): void {
    const since = this.#parts.clock.now() - IPMI_SESSION_TIMEOUT
    for (const [id, { at }] of this.#handshakes) if (at < since) this.#handshakes.delete(id)
    for (const [id, { usedAt }] of this.#open) if (usedAt < since) this.close(id)
  }
}

const HANDSHAKE: Readonly<
  Record<number, { method: 'opening' | 'challenging' | 'proving'; answer: number } | undefined>
> = {
  [PAYLOAD.openRequest]: { method: 'opening', answer: PAYLOAD.openResponse },
  [PAYLOAD.rakp1]: { method: 'challenging', answer: PAYLOAD.rakp2 },
  [PAYLOAD.rakp3]: { method: 'proving', answer: PAYLOAD.rakp4 },
}
