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
  ipmi: (options) => listenForIpmi(parts, parts.machines.list(), options),
})
