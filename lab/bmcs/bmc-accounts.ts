import { BmcRefused } from '../../ironic-mock/index.js'
import { BMC_ACCOUNT } from '../state/remembered.js'
import type { StateFolder } from '../state/state-folder.js'

/** Who may use a BMC. */
export interface BmcAccount {
  username: string
  password: string
}

/**
 * The accounts of BMCs, by address. A BMC that was given none takes that of the first node that names one, as the machine
 * would have been delivered with it; from then on everybody else is refused, also that node with another password.
 */
export class BmcAccounts {
  readonly #folder: Pick<StateFolder, 'remember' | 'remembered'> | null
  readonly #everywhere: BmcAccount | undefined
  readonly #known = new Map<string, BmcAccount>()

  /** @param everywhere the account of BMCs that were given none of their own */
  constructor(folder: Pick<StateFolder, 'remember' | 'remembered'> | null, everywhere: BmcAccount | undefined) {
    this.#folder = folder
    this.#everywhere = everywhere
  }

  set(address: string, account: BmcAccount): void {
    this.#known.set(address, account)
    this.#folder?.remember(keyOf(address), JSON.stringify(account))
  }

  of(address: string): BmcAccount | undefined {
    const known = this.#known.get(address)
    if (known) return known
    const kept = this.#folder?.remembered(keyOf(address))
    if (kept === undefined) {
      // A machine does not lose its account when the next start names another one, or none.
      if (this.#everywhere) this.set(address, this.#everywhere)
      return this.#everywhere
    }
    const account = JSON.parse(kept) as BmcAccount
    this.#known.set(address, account)
    return account
  }

  /**
   * Lets a caller in.
   *
   * @param own the account that the machine itself has, before any other
   * @throws BmcRefused for another account or a wrong password
   */
  admit(address: string, caller: BmcAccount, own?: Partial<BmcAccount>): void {
    const account = own?.password === undefined ? this.of(address) : { username: caller.username, ...own }
    if (account === undefined) {
      if (caller.password !== '') this.set(address, caller)
      return
    }
    if (account.username !== caller.username || account.password !== caller.password)
      throw new BmcRefused('unauthorized', 'The account or its password is not known.')
  }
}

const keyOf = (address: string): string => `${BMC_ACCOUNT}${address}`
