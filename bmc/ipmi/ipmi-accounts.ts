import type { Machine } from '../../machine/index.js'

/** User name and password of a BMC. */
export interface IpmiAccount {
  readonly username: string
  readonly password: string
}

/** The accounts of BMCs, one a machine. */
export interface IpmiAccounts {
  /** The account of a machine's BMC; undefined while it has none. */
  of(machine: Machine): IpmiAccount | undefined
  /** Changes it. Resolves when it is stored. */
  set(machine: Machine, account: IpmiAccount): void | Promise<void>
}

/** Longest password of IPMI, and the length of the key that is made of one. */
export const MAX_IPMI_PASSWORD_LENGTH = 20
export const MAX_IPMI_NAME_LENGTH = 16

/** Reason why no IPMI session can be opened with an account; undefined when one can. */
export function accountProblem({ username, password }: Partial<IpmiAccount>): string | undefined {
  const sizes = [Buffer.byteLength(username ?? ''), Buffer.byteLength(password ?? '')] as const
  if (sizes[0] > MAX_IPMI_NAME_LENGTH)
    return `IPMI takes names of ${MAX_IPMI_NAME_LENGTH} bytes at most; this one has ${sizes[0]}`
  if (sizes[1] > MAX_IPMI_PASSWORD_LENGTH)
    return `IPMI takes passwords of ${MAX_IPMI_PASSWORD_LENGTH} bytes at most; this one has ${sizes[1]}`
  return undefined
}

/** The key of a user; undefined for a user that the BMC does not have, or whose password IPMI cannot have. */
export function passwordKeyOf(account: IpmiAccount | undefined, username: string): Buffer | undefined {
  if (account === undefined || account.username !== username) return undefined
  const password = Buffer.from(account.password, 'utf8')
  if (password.length > MAX_IPMI_PASSWORD_LENGTH) return undefined
  return Buffer.concat([password], MAX_IPMI_PASSWORD_LENGTH)
}
