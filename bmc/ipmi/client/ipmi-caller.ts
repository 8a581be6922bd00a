import type { Random } from '../../../base/runtime/index.js'
import type { IpmiAccount } from '../ipmi-accounts.js'
import type { IpmiAddress } from '../ipmi-server.js'
import { CIPHER_SUITES, suitesOf, type CipherSuite } from '../protocol/cipher-suites.js'
import { COMPLETION, IpmiCommandError } from '../protocol/completion.js'
import { readResponse, requestMessage } from '../protocol/ipmi-message.js'
import { PAYLOAD, plainPacket, readPacket } from '../protocol/packet.js'
import { readRmcp, RMCP_IPMI, rmcpDatagram } from '../protocol/rmcp.js'
import { encodeUint32 } from '../session/rakp.js'
import type { Session } from '../session/session.js'
import { IpmiLoginRefused, openCallerSession, type AskPlainly } from './caller-handshake.js'
import { IpmiSilence, UdpChannel } from './udp-channel.js'

const APPLICATION = 0x06
const SET_PRIVILEGE = 0x3b
const CLOSE_SESSION = 0x3c

export interface IpmiCallerOptions {
  readonly address: IpmiAddress
  readonly account: IpmiAccount
  /** 1 to 4. */
  readonly privilege: number
  /** Number of the only cipher suite; by default the best one that the BMC has. */
  readonly suite?: number | undefined
  readonly random: Random
  /** Milliseconds of wall time that the BMC may be silent. */
  readonly timeout: number
  readonly signal: AbortSignal | undefined
}

/** Sends a command, and gives the data of its response. @throws IpmiCommandError for a completion code other than 0 */
export type IpmiCommandCall = (netFn: number, command: number, data?: Iterable<number>) => Promise<Buffer>

/**
 * Opens a session over the LAN for some commands, and closes it.
 *
 * @throws IpmiSilence, IpmiLoginRefused, IpmiCommandError
 */
export async function callBmc<T>(
  options: IpmiCallerOptions,
  work: (command: IpmiCommandCall) => Promise<T>,
): Promise<T> {
  await using channel = await UdpChannel.open(options.address)
  const { session, id } = await openAnySession(channel, options)
  let sequence = 0
  const command: IpmiCommandCall = async (netFn, number, data = []) => {
    sequence = (sequence + 1) % 64
    const message = requestMessage(netFn, number, { data, sequence })
    const response = await channel.ask(session.seal(PAYLOAD.ipmi, message), options, (datagram) => {
      const found = readSealed(session, datagram)
      return found?.sequence === sequence && found.command === number ? found : undefined
    })
    if (response.completion !== COMPLETION.ok) throw new IpmiCommandError(response.completion)
    return response.data
  }
  // A BMC that has been reset has ended it, and one that is gone will.
  const close = () => command(APPLICATION, CLOSE_SESSION, encodeUint32(id)).catch(() => {})
  try {
    // Each session begins as a user's.
    await command(APPLICATION, SET_PRIVILEGE, [options.privilege])
    const result = await work(command)
    await close()
    return result
  } catch (error) {
    if (!(error instanceof IpmiSilence)) await close()
    throw error
  }
}

/** Tries the cipher suites from the best one on. */
async function openAnySession(channel: UdpChannel, { account, privilege, suite, random, ...waits }: IpmiCallerOptions) {
  const [first, ...others] = suite === undefined ? CIPHER_SUITES.toReversed() : suitesOf([suite])
  if (!first) throw new RangeError(`there is no cipher suite ${suite}`)
  const ask: AskPlainly = (type, payload) =>
    channel.ask(rmcpDatagram(RMCP_IPMI, plainPacket('2.0', type, payload)), waits, (datagram) =>
      readPlain(type, datagram),
    )
  const bytes = (count: number): Buffer => Buffer.from(random.bytes(count))
  const open = (tried: CipherSuite) =>
    openCallerSession(
      ask,
      { ...account, privilege, suite: tried },
      { remote: bytes(4).readUInt32LE() || 1, random: bytes(16), iv: () => bytes(16) },
    )
  const tryNext = async (tried: CipherSuite, [next, ...left]: readonly CipherSuite[]): ReturnType<typeof open> => {
    try {
      return await open(tried)
    } catch (error) {
      if (!next || !(error instanceof IpmiLoginRefused) || !error.isForSuite) throw error
      return tryNext(next, left)
    }
  }
  return tryNext(first, others)
}

/** Each answer of a handshake has the payload type after its question's. */
function readPlain(asked: number, datagram: Buffer): Buffer | undefined {
  const rmcp = readRmcp(datagram)
  const packet = rmcp && readPacket(rmcp.data, () => undefined)
  return packet?.payloadType === asked + 1 ? Buffer.from(packet.payload) : undefined
}

function readSealed(session: Session, datagram: Buffer) {
  const rmcp = readRmcp(datagram)
  const packet = rmcp && readPacket(rmcp.data, (id) => (id === session.id ? session.suite.codeLength : undefined))
  const message = packet && session.open(packet)
  return message && readResponse(message)
}
