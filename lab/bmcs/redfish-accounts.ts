import type { MachineSpec } from '../../machine/index.js'
import { isSameSecret } from '../../base/runtime/index.js'
import type { RedfishCredentials, RedfishAccounts } from '../../bmc/redfish/index.js'
import type { BmcAccounts } from './bmc-accounts.js'

/** The accounts of a lab's BMCs for their Redfish services: the same as Ironic's drivers use. */
export function redfishAccounts(accounts: BmcAccounts): RedfishAccounts {
  const of = ({ bmc }: MachineSpec): RedfishCredentials | undefined => {
    if (!bmc) return undefined
    const known = accounts.of(bmc.address)
    return bmc.password === undefined
      ? known
      : { username: bmc.username ?? known?.username ?? '', password: bmc.password }
  }
  return {
    of: ({ spec }) => of(spec),
    admits: ({ spec }, caller) => {
      const own = of(spec)
      if (own) return own.username === caller.username && isSameSecret(own.password, caller.password)
      if (!spec.bmc || caller.password === '') return false
      accounts.set(spec.bmc.address, { ...caller })
      return true
    },
    set: ({ spec }, account) => {
      if (spec.bmc) accounts.set(spec.bmc.address, { ...account })
    },
  }
}
