import { openRequest } from '../../../bmc/ipmi/client/caller-handshake.js'
import { readResponse, requestMessage } from '../../../bmc/ipmi/protocol/ipmi-message.js'
import { CIPHER_SUITES, type CipherSuite } from '../../../bmc/ipmi/protocol/cipher-suites.js'
import { PAYLOAD, plainPacket, readPacket } from '../../../bmc/ipmi/protocol/packet.js'
import { readRmcp, RMCP_IPMI, rmcpDatagram } from '../../../bmc/ipmi/protocol/rmcp.js'
import { encodeUint32, integrityKey, rakp3Code, type RakpHandshake } from '../../../bmc/ipmi/session/rakp.js'
import { Session } from '../../../bmc/ipmi/session/session.js'
import type { IpmiAccount, IpmiBmc } from '../../../bmc/ipmi/index.js'
import { ADMIN } from './served.js'

export interface CallerOptions extends Partial<IpmiAccount> {
  suite?: 3 | 17
  privilege?: number
  /** Algorithms to ask for instead of the suite's. */
  algorithms?: readonly number[]
}

/** A response: its completion code and its data. */
export interface Response {
  completion: number
  data: Buffer
}

/** The bytes of an IPMI request. */
export const requestOf = (netFn: number, command: number, data: readonly number[] = [], lun = 0): Buffer =>
  requestMessage(netFn, command, { data, lun })

function responseIn(message: Buffer): Response {
  const { completion, data } = readResponse(message)!
  return { completion, data }
}

/** All answers of a BMC to a datagram. */
export async function exchanged(bmc: IpmiBmc, datagram: Buffer): Promise<Buffer[]> {
  const answers: Buffer[] = []
  await bmc.receive(datagram, (answer) => answers.push(answer))
  return answers
}

const plain = (type: number, payload: Buffer): Buffer => rmcpDatagram(RMCP_IPMI, plainPacket('2.0', type, payload))

async function payloadOf(bmc: IpmiBmc, datagram: Buffer): Promise<Buffer | undefined> {
  const [answer] = await exchanged(bmc, datagram)
  return answer && readPacket(readRmcp(answer)!.data, () => undefined)!.payload
}

/** A command outside of sessions. */
export async function sessionless(
  bmc: IpmiBmc,
  netFn: number,
  command: number,
  data: readonly number[] = [],
): Promise<Response> {
  const datagram = rmcpDatagram(RMCP_IPMI, plainPacket('1.5', PAYLOAD.ipmi, requestOf(netFn, command, data)))
  return responseIn((await payloadOf(bmc, datagram))!)
}

export const REMOTE = 0xa0a2a3a4

export const openRequestOf = (algorithms: readonly number[], privilege = 0, remote = REMOTE): Buffer =>
  openRequest(algorithms, privilege, remote)

/** A status that refused a step of a handshake, or null for a step that was not answered. */
export class Refused extends Error {
  constructor(
    readonly step: 'open' | 'rakp2' | 'rakp4',
    readonly status: number | null,
  ) {
    super(`${step} was refused by ${status}`)
  }
}

/** A caller with an open session. */
export class Caller {
  constructor(
    readonly bmc: IpmiBmc,
    readonly session: Session,
    /** Session id of the BMC. */
    readonly id: number,
  ) {}

  /** The datagram of a payload, which counts as sent. */
  seal(payloadType: number, payload: Buffer): Buffer {
    return this.session.seal(payloadType, payload)
  }

  open(datagram: Buffer): Buffer {
    return this.session.open(readPacket(readRmcp(datagram)!.data, () => this.session.suite.codeLength)!)!
  }

  /** Undefined when there is no answer. */
  async ask(netFn: number, command: number, data: readonly number[] = [], lun = 0): Promise<Response | undefined> {
    const [answer] = await exchanged(this.bmc, this.seal(PAYLOAD.ipmi, requestOf(netFn, command, data, lun)))
    return answer && responseIn(this.open(answer))
  }

  /** The data of a command that succeeds. */
  async done(netFn: number, command: number, data: readonly number[] = []): Promise<Buffer> {
    const answer = await this.ask(netFn, command, data)
    if (answer?.completion !== 0) throw new Error(`completion code ${answer?.completion.toString(16)}`)
    return answer.data
  }
}

/**
 * Opens a session, as an administrator unless the options say otherwise.
 *
 * @throws Refused with the status of the step that was refused
 */
export async function openSession(bmc: IpmiBmc, options: CallerOptions = {}): Promise<Caller> {
  const { username = ADMIN.username, password = ADMIN.password, privilege = 4 } = options
  const suite = CIPHER_SUITES.find(({ id }) => id === (options.suite ?? 17))!
  const { authentication, integrity, confidentiality } = suite
  const asked = openRequestOf(options.algorithms ?? [authentication, integrity, confidentiality])
  const opened = await payloadOf(bmc, plain(PAYLOAD.openRequest, asked))
  if (opened?.[1] !== 0) throw new Refused('open', opened?.[1] ?? null)
  const id = opened.readUInt32LE(8)
  const name = Buffer.from(username)
  const callerRandom = Buffer.alloc(16, 7)
  const role = privilege | 0x10
  const rakp1 = Buffer.concat([
    Buffer.alloc(4),
    encodeUint32(id),
    callerRandom,
    Buffer.from([role, 0, 0, name.length]),
    name,
  ])
  const challenged = await payloadOf(bmc, plain(PAYLOAD.rakp1, rakp1))
  if (challenged?.[1] !== 0) throw new Refused('rakp2', challenged?.[1] ?? null)
  const exchange: RakpHandshake = {
    suite,
    remote: REMOTE,
    id,
    callerRandom,
    role,
    name,
    key: Buffer.concat([Buffer.from(password)], 20),
    bmcRandom: challenged.subarray(8, 24),
    guid: challenged.subarray(24, 40),
  }
  const rakp3 = Buffer.concat([Buffer.alloc(4), encodeUint32(id), rakp3Code(exchange)])
  const proved = await payloadOf(bmc, plain(PAYLOAD.rakp3, rakp3))
  if (proved?.[1] !== 0) throw new Refused('rakp4', proved?.[1] ?? null)
  return new Caller(bmc, callerSession(exchange, suite, id), id)
}

/** A session of an administrator. */
export async function administrator(bmc: IpmiBmc, options: CallerOptions = {}): Promise<Caller> {
  const caller = await openSession(bmc, options)
  await caller.done(0x06, 0x3b, [4])
  return caller
}

/** The caller's side of a session: the same keys, the other's id. */
function callerSession(exchange: RakpHandshake, suite: CipherSuite, id: number): Session {
  const none = Buffer.alloc(0)
  return new Session(
    { id: REMOTE, remote: id, suite, username: '', maximum: 4, sik: integrityKey(exchange) },
    { now: 0, send: () => {}, iv: () => Buffer.alloc(16, 9), opening: { asked: none, answered: none } },
  )
}
