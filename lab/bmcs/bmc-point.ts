import type { RedfishRequest } from '../../ironic-mock/index.js'

/** Probe point around a call of a BMC by this lab's Ironic. */
export interface BmcPoint {
  readonly kind: 'bmc'
  /** Uuid of the node. */
  readonly node: string
  /** Name of the call. */
  readonly call: string
  /** How this lab's Ironic asks: by HTTP, by IPMI, or by neither, as of a machine without a BMC. */
  readonly protocol: BmcProtocol
  /** The request by Redfish; absent where it asks by IPMI, or not at all. */
  readonly request?: RedfishRequest
  /** Milliseconds after which the caller waits for the answer no longer; absent where it always waits. */
  readonly answerTimeout?: number
  /** Aborted when the caller is gone: its Ironic has been stopped. */
  readonly signal?: AbortSignal
  readonly method?: undefined
  readonly machine?: undefined
}

export type BmcProtocol = 'redfish' | 'ipmi' | null
