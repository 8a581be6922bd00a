import { dialectOf } from '../dialects/index.js'
import type { Machine } from '../../machine/index.js'
import { defined, errorChain, Probe, silent, type Clock, type Logger, type Random } from '../../base/runtime/index.js'
import { passwordKeyOf, type IpmiAccounts } from './ipmi-accounts.js'
import { BmcMemory } from './commands/bmc-memory.js'
import type { CommandBmc, IpmiCall, IpmiCommand } from './commands/command.js'
import { guidOf } from './commands/identity-commands.js'
import { commandOf, RAW_CALL } from './commands/table.js'
import { suitesOf } from './protocol/cipher-suites.js'
import { COMPLETION, IpmiCommandError } from './protocol/completion.js'
import { readRequest, responseTo, type IpmiRequest } from './protocol/ipmi-message.js'
import { PAYLOAD, plainPacket, readPacket, type Packet } from './protocol/packet.js'
import { PRIVILEGE } from './protocol/privilege.js'
import { pongTo, readRmcp, RMCP_ASF, RMCP_IPMI, rmcpDatagram } from './protocol/rmcp.js'
import type { Send, Session } from './session/session.js'
import { Sessions } from './session/ipmi-sessions.js'
import { SerialConsole } from './sol/serial-console.js'

/** Probe point around a command, which is a call of a BMC. `next()` resolves with its {@link Answered}. */
export interface IpmiPoint {
  readonly kind: 'bmc'
  /** Name of the call. */
  readonly call: string
  readonly method: 'IPMI'
  /** Name of the command. */
  readonly target: string
  /** Id of the machine. */
  readonly machine: string
  /** The node, which a probe that passes the point on adds. */
  readonly node?: string | undefined
}

export interface IpmiParts {
  accounts: IpmiAccounts
  clock: Clock
  random: Random
  /** Every command passes here as a call of a BMC; a call that fails here is not answered. */
  probe?: Probe
  /** The probe of the machines, which passes the lines of their consoles. Default: {@link probe}. */
  consoles?: Probe
  logger?: Logger
}

/** The BMC of one machine, as it speaks IPMI over LAN. */
export interface IpmiBmc extends Disposable {
  /**
   * Takes a datagram, and sends its answer if it has one. Resolves when both are done; never rejects.
   *
   * @param send sends to where the datagram came from
   */
  receive(datagram: Buffer, send: Send): Promise<void>
}

/** Larger datagrams have no meaning in IPMI over LAN. */
const MAX_DATAGRAM_BYTES = 1024

/** @param address where it listens */
export function createIpmiBmc(
  machine: Machine,
  parts: IpmiParts,
  address: { readonly host: string; readonly port: number } = { host: '0.0.0.0', port: 623 },
): IpmiBmc {
  return new SimulatedBmc(machine, parts, address)
}

/** The answer of an overloaded BMC. */
export const NODE_BUSY: Answered = { completion: COMPLETION.nodeBusy }

/** Result of a command. */
export interface Answered {
  completion: number
  data?: Uint8Array
  after?: (() => void) | undefined
}

class SimulatedBmc implements IpmiBmc {
  readonly #bmc: CommandBmc
  readonly #probe: Probe

  constructor(machine: Machine, parts: IpmiParts, address: CommandBmc['address']) {
    const { accounts, clock, random, probe = new Probe(), consoles = probe, logger = silent } = parts
    const serial = new SerialConsole({ probe: consoles, clock, machine: machine.spec.id })
    const sessions = new Sessions({
      clock,
      random,
      guid: guidOf(machine.spec),
      suites: suitesOf(dialectOf(machine.spec).ipmi.cipherSuites),
      keyOf: (username) => passwordKeyOf(accounts.of(machine), username),
      closed: (session) => {
        if (serial.session === session) serial.deactivate()
      },
    })
    this.#probe = probe
    this.#bmc = {
      machine,
      accounts,
      clock,
      random,
      logger,
      sessions,
      address,
      memory: new BmcMemory(clock),
      console: serial,
    }
  }

  [Symbol.dispose](): void {
    this.#bmc.sessions.closeAll()
    this.#bmc.memory[Symbol.dispose]()
  }

  async receive(datagram: Buffer, send: Send): Promise<void> {
    try {
      await this.#answer(datagram, send)
    } catch (error) {
      // A fault of the lab, or a defect: a BMC that fails says nothing.
      this.#bmc.logger('debug', `an IPMI datagram was not answered: ${errorChain(error).join(': ')}`)
    }
  }

  async #answer(datagram: Buffer, send: Send): Promise<void> {
    if (datagram.length > MAX_DATAGRAM_BYTES) return
    const message = readRmcp(datagram)
    if (message?.messageClass === RMCP_ASF) {
      const pong = pongTo(message.data)
      if (pong) await this.#seen('read service', 'Presence Ping', async () => send(pong))
    } else if (message?.messageClass === RMCP_IPMI) {
      const { sessions } = this.#bmc
      const packet = readPacket(message.data, (session) => sessions.get(session)?.suite.codeLength)
      if (packet) await (packet.session === 0 ? this.#outside(packet, send) : this.#within(packet, send))
    }
  }

  /** A packet without session: a command that needs none, or a part of a handshake. */
  async #outside({ version, payloadType, payload, isEncrypted, isAuthenticated }: Packet, send: Send): Promise<void> {
    if (isEncrypted || isAuthenticated) return
    const plain = (type: number, bytes: Buffer): void =>
      send(rmcpDatagram(RMCP_IPMI, plainPacket(version, type, bytes)))
    if (payloadType !== PAYLOAD.ipmi) {
      await this.#seen('read sessions', 'Open Session', async () => {
        const answer = this.#bmc.sessions.answer(payloadType, payload, send)
        if (answer) plain(answer.type, answer.payload)
      })
      return
    }
    const request = readRequest(payload)
    if (!request) return
    const answered = await this.#carryOut(request, undefined)
    plain(PAYLOAD.ipmi, responseTo(request, answered.completion, answered.data))
  }

  async #within(packet: Packet, send: Send): Promise<void> {
    const { sessions, clock } = this.#bmc
    const session = sessions.get(packet.session)
    const payload = session?.open(packet)
    if (!session || !payload) return
    session.usedAt = clock.now()
    session.send = send
    if (packet.payloadType === PAYLOAD.sol && this.#bmc.console.session === session)
      return void (await this.#seen('read console', 'SOL', async () => this.#bmc.console.receive(payload)))
    if (packet.payloadType !== PAYLOAD.ipmi) return
    const request = readRequest(payload)
    if (!request) return
    const answered = await this.#carryOut(request, session)
    send(session.seal(PAYLOAD.ipmi, responseTo(request, answered.completion, answered.data)))
    answered.after?.()
  }

  async #carryOut(request: IpmiRequest, session: Session | undefined): Promise<Answered> {
    const { netFn, command: number, data, lun } = request
    const command = lun === 0 ? commandOf(netFn, number) : undefined
    const refusal = refusalOf(command, request, session)
    // Refused requests pass the probe too: a dark BMC refuses nothing.
    const call: IpmiCall = { bmc: this.#bmc, session, data: Buffer.from(data) }
    const run = command && refusal === undefined ? () => ran(command, call) : async () => ({ completion: refusal! })
    const title = command?.title ?? `raw ${formatHexByte(netFn)} ${formatHexByte(number)}`
    // A fault may leave a change out; the answer then is that of a success.
    return (await this.#seen(command?.call ?? RAW_CALL, title, run)) ?? { completion: COMPLETION.ok }
  }

  #seen<T>(call: string, target: string, work: () => Promise<T>): Promise<T | undefined> {
    if (!this.#probe.watches('bmc')) return work()
    const machine = this.#bmc.machine.spec.id
    const point: IpmiPoint = { kind: 'bmc', call, method: 'IPMI', target, machine }
    return this.#probe.around<T | undefined>(point, work)
  }
}

const formatHexByte = (byte: number): string => `0x${byte.toString(16).padStart(2, '0')}`

/** The completion code with which a request is refused; undefined for one that is carried out. */
function refusalOf(
  command: IpmiCommand | undefined,
  { lun, data }: IpmiRequest,
  session: Session | undefined,
): number | undefined {
  // Outside of sessions nothing is found out about a BMC but what opens one.
  const level = session?.privilege ?? 0
  if (!session && command?.privilege !== null) return COMPLETION.insufficientPrivilege
  if (lun !== 0) return COMPLETION.commandInvalidForLun
  if (!command) return COMPLETION.invalidCommand
  if (command.privilege !== null && level < PRIVILEGE[command.privilege]) return COMPLETION.insufficientPrivilege
  const [fewest, most = fewest] = command.length
  return data.length < fewest || data.length > most ? COMPLETION.wrongLength : undefined
}

async function ran(command: IpmiCommand, call: IpmiCall): Promise<Answered> {
  try {
    const data = await command.run(call)
    const after = command.after && (() => command.after!(call))
    return { completion: COMPLETION.ok, after, ...defined({ data: data ? Uint8Array.from(data) : undefined }) }
  } catch (error) {
    if (error instanceof IpmiCommandError) return { completion: error.completion }
    call.bmc.logger('error', `${command.title} failed: ${errorChain(error).join(': ')}`)
    return { completion: COMPLETION.unspecified }
  }
}
