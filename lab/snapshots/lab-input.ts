import type { MachineBootSource, MachineSpec } from '../../machine/index.js'
import type { TargetCommand } from '../../targets/index.js'
import type { OutgoingRequest, WireRequest } from '../../base/wire/index.js'
import type { BmcAccount, FaultChange } from '../../control/index.js'
import type { DeployRequest } from '../lab.js'
import type { RegistryChange } from '../stage/stage-registry.js'

/** Servers of a lab: of its Ironic, of its agents, of its BMCs. */
export type ServerName = 'api' | 'agents' | 'redfish'

/** Something that a caller does to a lab, as data: the same input at the same place has the same consequences. */
export type Input =
  /** `from` a client that the probe sees, or from a transport without one. */
  | { readonly do: 'request'; readonly from: 'client' | 'transport'; readonly request: Omit<OutgoingRequest, 'signal'> }
  /** A request as it is served: from a client without a transport, or another program. */
  | { readonly do: 'serve'; readonly door: ServerName; readonly request: WireRequest }
  | {
      readonly do: 'enroll'
      readonly spec?: MachineSpec
      readonly fields?: Record<string, unknown>
      readonly deployment?: DeployRequest
    }
  | { readonly do: 'machine'; readonly machine: string; readonly call: string; readonly args: readonly unknown[] }
  | { readonly do: 'firmware'; readonly machine: string; readonly call: 'eject'; readonly args: readonly unknown[] }
  | { readonly do: 'add machine'; readonly spec: MachineSpec; readonly source?: MachineBootSource }
  | { readonly do: 'remove machine'; readonly machine: string }
  | { readonly do: 'command'; readonly machine: string; readonly command: TargetCommand }
  | { readonly do: 'files'; readonly machine: string; readonly call: string; readonly args: readonly unknown[] }
  | { readonly do: 'stop Ironic'; readonly keepsDatabase: boolean }
  | { readonly do: 'start Ironic' }
  | InstantInput

/** An input that takes effect at once, and that only later steps of the probe can notice. */
export type InstantInput =
  FaultChange | RegistryChange | { readonly do: 'account'; readonly address: string; readonly account: BmcAccount }

/**
 * Where in the history of a lab something is: after how many timers, and at what time. Within an instant: before a step of
 * the probe, or (`rest`) when everything of the instant before it was done, with the others of the same number in a row.
 */
export interface HistoryPosition {
  readonly fired: number
  readonly now: number
  readonly step: number
  readonly rest: number | null
}

export interface LoggedInput {
  readonly input: Input
  readonly place: HistoryPosition
}
