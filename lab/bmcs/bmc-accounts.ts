import { BmcError } from '../../ironic-mock/index.js'
import type { BmcAccount } from '../../control/index.js'
import { BMC_ACCOUNT } from '../state/lock-database.js'
import type { StateFolder } from '../state/state-folder.js'

/**
 * Accounts of BMCs, by address. A BMC without an account takes the one that the first node uses, as if the machine had
 * been delivered with it. From then on every other account and password is refused, for that node too.
 */
export class BmcAccounts {
  readonly #folder: Pick<StateFolder, 'remember' | 'remembered'> | null
  readonly #everywhere: BmcAccount | undefined
  readonly #known = new Map<string, BmcAccount>()

  /** @param everywhere account of BMCs without one of their own */
  constructor(folder: Pick<StateFolder, 'remember' | 'remembered'> | null, everywhere: BmcAccount | undefined) {
    this.#folder = folder
    this.#everywhere = everywhere
  }

  set(address: string, account: BmcAccount): void {
    this.#known.set(address, account)
    this.#folder?.remember(accountKeyOf(address), JSON.stringify(account))
  }

  take(): readonly (readonly [address: string, account: BmcAccount])[] {
    return [...this.#known]
  }

  restore(known: readonly (readonly [address: string, account: BmcAccount])[]): void {
    this.#known.clear()
    for (const [address, account] of known) this.set(address, account)
  }

  of(address: string): BmcAccount | undefined {
    const known = this.#known.get(address)
    if (known) return known
    const saved = this.#folder?.remembered(accountKeyOf(address))
    if (saved === undefined) {
      // Save it: the machine keeps its account when the next start has another default, or none.
      if (this.#everywhere) this.set(address, this.#everywhere)
      return this.#everywhere
    }
    const account = JSON.parse(saved) as BmcAccount
    this.#known.set(address, account)
    return account
  }

  /**
   * Accepts or refuses a caller.
   *
   * @param own account in the machine's specification, which overrides all others
   * @throws BmcError for an unknown account or a wrong password
   */
  admit(address: string, caller: BmcAccount, own?: Partial<BmcAccount>): void {
    const account = own?.password === undefined ? this.of(address) : { username: caller.username, ...own }
    if (account === undefined) {
      if (caller.password !== '') this.set(address, caller)
      return
    }
    if (account.username !== caller.username || account.password !== caller.password)
      throw new BmcError('unauthorized', 'The account or its password is not known.')
  }
}

const accountKeyOf = (address: string): string => `${BMC_ACCOUNT}${address}`
