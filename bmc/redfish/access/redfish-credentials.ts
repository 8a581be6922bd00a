import type { Machine } from '../../../machine/index.js'

/** User name and password of a caller. */
export interface RedfishCredentials {
  readonly username: string
  readonly password: string
}

/** The accounts of BMCs, one a machine. */
export interface RedfishAccounts {
  /** Whether the BMC of a machine lets a caller in. A BMC without an account may take the caller's as its own. */
  admits(machine: Machine, caller: RedfishCredentials): boolean
  /** The account of a machine's BMC; undefined while it has none. */
  of(machine: Machine): RedfishCredentials | undefined
  /** Changes it. Resolves when it is stored. */
  set(machine: Machine, account: RedfishCredentials): void | Promise<void>
}

/** The credentials of a header `Authorization: Basic`; undefined for another scheme or a damaged one. */
export function basicCredentials(header: string): RedfishCredentials | undefined {
  const [, encoded] = /^basic +([\w+/=-]+)\s*$/i.exec(header) ?? []
  if (encoded === undefined) return undefined
  const pair = Buffer.from(encoded, 'base64').toString('utf8')
  const colon = pair.indexOf(':')
  return colon < 0 ? undefined : { username: pair.slice(0, colon), password: pair.slice(colon + 1) }
}
