import { Probe } from '../../base/runtime/index.js'
import type { OutsideRequests } from '../snapshots/outside-requests.js'
import { redfishAccounts } from './redfish-accounts.js'
import { listenForIpmi, type IpmiListener, type IpmiListenOptions } from './serve-ipmi.js'
import { serveRedfish, type BmcParts, type RedfishListener, type RedfishListenOptions } from './serve-redfish.js'

/** Opens the BMCs of machines to clients outside of the lab. */
export interface BmcListeners {
  /** Serves the BMCs of the machines by Redfish. */
  redfish(options: RedfishListenOptions): Promise<RedfishListener>
  /** Serves the BMCs of the present machines by IPMI. */
  ipmi(options: IpmiListenOptions): Promise<IpmiListener>
}

export const bmcListeners = (parts: BmcParts): BmcListeners => ({
  redfish: (options) => serveRedfish(parts, options),
  ipmi: (options) => {
    const probe = new UnloggedCalls(parts.probe, parts.outsideRequests)
    const accounts = redfishAccounts(parts.accounts)
    return listenForIpmi({ ...parts, accounts, probe, consoles: parts.probe }, parts.machines.list(), options)
  },
})

/** The probe of a server whose calls come at any moment of a lab, and so cannot be made again. */
class UnloggedCalls extends Probe {
  readonly #outsideRequests: OutsideRequests

  constructor(outer: Probe, outsideRequests: OutsideRequests) {
    super({ outer, extend: (point) => point })
    this.#outsideRequests = outsideRequests
  }

  override watches(kind: string): boolean {
    this.#outsideRequests.inputs?.break('a BMC was called by IPMI')
    return super.watches(kind)
  }
}
