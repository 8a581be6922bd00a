import type { ConsolePoint } from '../../../machine/index.js'
import { Timer, type Clock, type Probe } from '../../../base/runtime/index.js'
import { PAYLOAD } from '../protocol/packet.js'
import { IPMI_SESSION_TIMEOUT, type Session } from '../session/session.js'
import { readSol, solPacket } from './sol-packet.js'

/** Most characters of a packet, in both directions. */
export const MAX_SOL_CHARACTERS = 200
/** Attempts to send a packet, and the milliseconds between them: the factory values of the SOL configuration. */
export const SOL_RETRIES = 7
export const SOL_RETRY_INTERVAL = 500
/** Characters that wait for a caller; older ones make room. */
const MAX_WAITING_CHARACTERS = 64 * 1024

interface SentCharacters {
  sequence: number
  characters: Buffer
  left: number
}

/** A machine's console for one session at a time: what appears on it from the activation on. */
export class SerialConsole {
  readonly #probe: Probe
  readonly #machine: string
  readonly #clock: Clock
  readonly #retry: Timer
  #active: { session: Session; listener: Disposable } | undefined
  #waiting = Buffer.alloc(0)
  #sent: SentCharacters | undefined
  #sequence = 0

  constructor(parts: { probe: Probe; clock: Clock; machine: string }) {
    this.#probe = parts.probe
    this.#machine = parts.machine
    this.#clock = parts.clock
    this.#retry = new Timer(parts.clock)
  }

  /** The session that has activated it. */
  get session(): Session | undefined {
    return this.#active?.session
  }

  activate(session: Session): void {
    const listener = this.#probe.attach<ConsolePoint>(
      (point, next) => {
        if (point.machine === this.#machine) this.#say(point.line)
        return next()
      },
      ['console'],
    )
    this.#active = { session, listener }
  }

  deactivate(): void {
    this.#active?.listener[Symbol.dispose]()
    this.#active = undefined
    this.#retry.stop()
    this.#waiting = Buffer.alloc(0)
    this.#sent = undefined
    this.#sequence = 0
  }

  /** Takes a packet of the session that has activated it. */
  receive(payload: Buffer): void {
    const packet = readSol(payload)
    const session = this.session
    if (!packet || !session) return
    const { sequence, acknowledged, accepted, isNack, characters } = packet
    if (this.#sent && acknowledged === this.#sent.sequence) {
      const taken = isNack ? Math.min(accepted, this.#sent.characters.length) : this.#sent.characters.length
      this.#waiting = Buffer.concat([this.#sent.characters.subarray(taken), this.#waiting])
      this.#sent = undefined
      this.#retry.stop()
    }
    // The machine takes no input: what is typed is acknowledged, and lost.
    if (sequence !== 0)
      session.send(session.seal(PAYLOAD.sol, solPacket({ sequence: 0, acknowledged: sequence, accepted: characters })))
    this.#go()
  }

  #say(line: string): void {
    // A caller that has gone without a word is noticed when there is something to send.
    if (this.session && this.#clock.now() - this.session.usedAt > IPMI_SESSION_TIMEOUT) return this.deactivate()
    const all = Buffer.concat([this.#waiting, Buffer.from(`${line}\r\n`)])
    this.#waiting = all.subarray(Math.max(0, all.length - MAX_WAITING_CHARACTERS))
    this.#go()
  }

  /** Sends the next packet, when the one before is acknowledged. */
  #go(): void {
    if (!this.#active || this.#sent || this.#waiting.length === 0) return
    this.#sequence = (this.#sequence % 15) + 1
    const characters = this.#waiting.subarray(0, MAX_SOL_CHARACTERS)
    this.#waiting = this.#waiting.subarray(characters.length)
    this.#sent = { sequence: this.#sequence, characters, left: SOL_RETRIES }
    this.#send()
  }

  #send(): void {
    const { session } = this
    const sent = this.#sent
    if (!session || !sent) return
    const { sequence, characters } = sent
    session.send(session.seal(PAYLOAD.sol, solPacket({ sequence, acknowledged: 0, accepted: 0, data: characters })))
    const again = () => {
      if (this.#sent !== sent) return
      if (sent.left-- > 0) return this.#send()
      // After the last try the characters are lost, as in the specification.
      this.#sent = undefined
      this.#go()
    }
    this.#retry.start(SOL_RETRY_INTERVAL, again, { weak: true })
  }
}
