import type { Machine } from '../../machine/index.js'
import type { RedfishAccounts } from '../../bmc/redfish/index.js'
import { isSameSecret, systemRandom, urlSafeToken } from '../../base/runtime/index.js'
import type { StateFolder } from '../../lab/index.js'
import type { BmcAccount } from '../../control/index.js'

const DEFAULT = 'fleet-account'
const CHANGED = 'fleet-accounts'
/** Random bytes of a password that is made. Its 20 characters are the most that IPMI takes. */
const PASSWORD_BYTES = 15

/**
 * The accounts of a fleet's BMCs: one for all machines, but for those whose account was changed. A state folder keeps them;
 * a password that was not named is made once.
 */
export class FleetAccounts implements RedfishAccounts {
  readonly #folder: StateFolder | null
  readonly #changed: Map<string, BmcAccount>
  readonly account: BmcAccount
  /** True for a password that was made now: no user has seen it. */
  readonly isPasswordNew: boolean

  constructor(folder: StateFolder | null, wanted: Partial<BmcAccount>) {
    this.#folder = folder
    const saved = JSON.parse(folder?.remembered(DEFAULT) ?? '{}') as Partial<BmcAccount>
    this.account = {
      username: wanted.username ?? saved.username ?? 'admin',
      password: wanted.password ?? saved.password ?? urlSafeToken(systemRandom, PASSWORD_BYTES),
    }
    this.isPasswordNew = wanted.password === undefined && saved.password === undefined
    folder?.remember(DEFAULT, JSON.stringify(this.account))
    this.#changed = new Map(
      Object.entries(JSON.parse(folder?.remembered(CHANGED) ?? '{}') as Record<string, BmcAccount>),
    )
  }

  of({ spec }: Machine): BmcAccount {
    return this.#changed.get(spec.id) ?? this.account
  }

  admits(machine: Machine, { username, password }: BmcAccount): boolean {
    const own = this.of(machine)
    return own.username === username && isSameSecret(own.password, password)
  }

  set({ spec }: Machine, { username, password }: BmcAccount): void {
    this.#changed.set(spec.id, { username, password })
    this.#folder?.remember(CHANGED, JSON.stringify(Object.fromEntries(this.#changed)))
  }
}
