import type { Machine } from '../../../machine/index.js'
import type { Clock, Logger, Random } from '../../../base/runtime/index.js'
import type { IpmiAccounts } from '../ipmi-accounts.js'
import type { PrivilegeName } from '../protocol/privilege.js'
import type { Session } from '../session/session.js'
import type { Sessions } from '../session/ipmi-sessions.js'
import type { SerialConsole } from '../sol/serial-console.js'
import type { BmcMemory } from './bmc-memory.js'

/** The BMC that carries out a command. */
export interface CommandBmc {
  readonly machine: Machine
  readonly accounts: IpmiAccounts
  readonly clock: Clock
  readonly random: Random
  readonly logger: Logger
  readonly sessions: Sessions
  readonly memory: BmcMemory
  readonly console: SerialConsole
  /** Address at which the BMC listens. */
  readonly address: { readonly host: string; readonly port: number }
}

export interface IpmiCall {
  readonly bmc: CommandBmc
  /** Undefined for a command outside of sessions. */
  readonly session: Session | undefined
  readonly data: Buffer
}

/** The data of a response, after its completion code. */
type CommandAnswer = Iterable<number> | void

/** A command of IPMI. */
export interface IpmiCommand {
  /** Name of the command in IPMI's specification. */
  readonly title: string
  readonly netFn: number
  readonly command: number
  /** Name of the call of a BMC that it is, for faults and the journal. */
  readonly call: string
  /** The level that it needs; null for one that needs no session. */
  readonly privilege: PrivilegeName | null
  /** Bytes of its data: the fewest, and the most where it may have more. */
  readonly length: readonly [fewest: number, most?: number]
  readonly run: (call: IpmiCall) => CommandAnswer | Promise<CommandAnswer>
  /** Called once the answer is sent. */
  readonly after?: (call: IpmiCall) => void
}

export const NET_FN = { chassis: 0x00, sensor: 0x04, app: 0x06, storage: 0x0a, transport: 0x0c } as const

/** The bytes of a number, the least significant first. */
export function littleEndian(value: number, length: number): number[] {
  return Array.from({ length }, (_, index) => Math.floor(value / 2 ** (8 * index)) % 256)
}

/** A text in bytes of a fixed number. */
export function fixedText(text: string, length: number): number[] {
  const bytes = Buffer.alloc(length)
  bytes.write(text, 'latin1')
  return [...bytes]
}
