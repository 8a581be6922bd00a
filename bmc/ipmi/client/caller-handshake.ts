import { sameCode, type CipherSuite } from '../protocol/cipher-suites.js'
import { MAX_IPMI_PASSWORD_LENGTH, type IpmiAccount } from '../ipmi-accounts.js'
import { PAYLOAD } from '../protocol/packet.js'
import {
  encodeUint32,
  integrityKey,
  RAKP_STATUS,
  rakp2Code,
  rakp3Code,
  rakp4Code,
  type RakpHandshake,
} from '../session/rakp.js'
import { Session } from '../session/session.js'

/** Name alone decides about the user: the lookup that ipmitool asks for. */
const NAME_ONLY = 0x10

const SUITE_STATUSES: readonly number[] = [
  RAKP_STATUS.invalidAuthentication,
  RAKP_STATUS.invalidIntegrity,
  RAKP_STATUS.invalidConfidentiality,
  RAKP_STATUS.noMatchingSuite,
]

/** A BMC that has refused the opening of a session, by a status of IPMI 2.0, table 13-15. */
export class IpmiLoginRefused extends Error {
  override name = 'IpmiLoginRefused'
  constructor(readonly status: number) {
    super(`the BMC opens no session: status ${status.toString(16).padStart(2, '0')}h`)
  }

  /** True if the BMC has no such cipher suite, or not one of its algorithms. */
  get isForSuite(): boolean {
    return SUITE_STATUSES.includes(this.status)
  }

  /** True if the BMC does not know the account, or has another password. */
  get isForAccount(): boolean {
    const { unauthorizedName, invalidCheckValue } = RAKP_STATUS
    return this.status === unauthorizedName || this.status === invalidCheckValue
  }
}

/** The caller of a BMC, before its session. */
export interface IpmiLogin extends IpmiAccount {
  /** Requested privilege level, 1 to 4. */
  readonly privilege: number
  readonly suite: CipherSuite
}

export const openRequest = (algorithms: readonly number[], privilege: number, remote: number): Buffer =>
  Buffer.concat([
    Buffer.from([0, privilege, 0, 0]),
    encodeUint32(remote),
    ...algorithms.map((each, kind) => Buffer.from([kind, 0, 0, 8, each, 0, 0, 0])),
  ])

/** Sends a payload outside of sessions, and gives the payload of the answer. */
export type AskPlainly = (payloadType: number, payload: Buffer) => Promise<Buffer>

/**
 * Opens a session by RAKP (IPMI 2.0, 13.20 to 13.24).
 *
 * @param remote session id of the caller, not 0
 * @param random 16 bytes
 * @throws IpmiLoginRefused
 */
export async function openCallerSession(
  ask: AskPlainly,
  { username, password, privilege, suite }: IpmiLogin,
  { remote, random, iv }: { remote: number; random: Buffer; iv: () => Buffer },
): Promise<{ session: Session; id: number }> {
  const { authentication, integrity, confidentiality } = suite
  const asked = openRequest([authentication, integrity, confidentiality], privilege, remote)
  const opened = accepted(await ask(PAYLOAD.openRequest, asked), 12)
  const id = opened.readUInt32LE(8)
  const name = Buffer.from(username)
  const role = privilege | NAME_ONLY
  const rakp1 = Buffer.concat([Buffer.alloc(4), encodeUint32(id), random, Buffer.from([role, 0, 0, name.length]), name])
  const challenged = accepted(await ask(PAYLOAD.rakp1, rakp1), 40)
  const exchange: RakpHandshake = {
    suite,
    remote,
    id,
    callerRandom: random,
    role,
    name,
    key: Buffer.concat([Buffer.from(password)], MAX_IPMI_PASSWORD_LENGTH),
    bmcRandom: challenged.subarray(8, 24),
    guid: challenged.subarray(24, 40),
  }
  if (!sameCode(challenged.subarray(40), rakp2Code(exchange))) throw new IpmiLoginRefused(RAKP_STATUS.invalidCheckValue)
  const rakp3 = Buffer.concat([Buffer.alloc(4), encodeUint32(id), rakp3Code(exchange)])
  const proved = accepted(await ask(PAYLOAD.rakp3, rakp3), 8)
  const sik = integrityKey(exchange)
  if (!sameCode(proved.subarray(8), rakp4Code(exchange, sik))) throw new IpmiLoginRefused(RAKP_STATUS.invalidCheckValue)
  return { session: callerSession(exchange, sik, iv), id }
}

/** The caller's side of a session: the same keys, the other's id. */
function callerSession({ remote, id, suite, role }: RakpHandshake, sik: Buffer, iv: () => Buffer): Session {
  const none = Buffer.alloc(0)
  const agreement = { id: remote, remote: id, suite, username: '', maximum: role & 0x0f, sik }
  return new Session(agreement, { now: 0, send: () => {}, iv, opening: { asked: none, answered: none } })
}

function accepted(answer: Buffer, length: number): Buffer {
  const status = answer[1] ?? RAKP_STATUS.illegalParameter
  if (status !== RAKP_STATUS.ok) throw new IpmiLoginRefused(status)
  if (answer.length < length) throw new IpmiLoginRefused(RAKP_STATUS.illegalParameter)
  return answer
}
