import type { AgentPace } from '../../agent/index.js'
import type { ImageCacheRequest, Journal, LabEvents, StateFolder, IpmiListener } from '../../lab/index.js'
import type { BmcAccount, LabFaults } from '../../control/index.js'
import type { DatabaseAddress } from '../../ironic-mock/index.js'
import type { HardwareFleet, MachinePace, Machines } from '../../machine/index.js'
import type { Clock, Logger, Random } from '../../base/runtime/index.js'
import type { HardwareManager } from '../../steps/index.js'
import type { ClientTls } from '../../base/wire/index.js'
import type { FleetHost } from './fleet-hosts.js'
import type { ListedSystem } from './systems-file.js'

/** An address to listen on, and the one that others reach it by. */
interface ListenAt {
  /** Default 127.0.0.1. */
  host?: string
  /** 0 picks a free one, which a state folder keeps. */
  port: number
}

export interface FleetOptions {
  /** Minimum number of machines; a state folder may have more. */
  count: number
  /** Beginning of the names of counted machines, which their addresses and serial numbers follow. Default `machine-`. */
  namePrefix?: string
  /** Machines with ids, names and addresses of their own, besides those of {@link count}. */
  systems?: readonly ListedSystem[]
  /** Hardware of new machines. */
  hardware?: HardwareFleet
  /** The BMCs of all machines. */
  redfish: ListenAt
  /** The BMCs by IPMI: the UDP port of `machine-1`, from which the others count up. Default: no IPMI. */
  ipmi?: ListenAt
  /** The agents of all machines. Default: the host of the BMCs, a free port. */
  agents?: Partial<ListenAt>
  /** The control API, on this host only. Default: a free port. */
  controlPort?: number
  /** Host by which the Ironic reaches BMCs and agents. Default: the one that they listen on, or the one towards the Ironic. */
  advertise?: string
  /** Names by which clients may call besides those of this host and {@link advertise}. */
  allowedHosts?: readonly string[] | undefined
  /** URLs of the Ironic, to find the address that it sees. */
  ironicUrl?: string
  /** URL of a host on the way to the Ironic, where that has no URL yet, for the same purpose. */
  towards?: string
  /** The database of the Ironic, whose processes {@link Fleet.join} joins. */
  database?: DatabaseAddress
  /** Port that receives notifications of power changes, as fake-ipa's does; needs {@link ironicUrl}. Default: no such port. */
  notifierPort?: number
  /** How agents that the fleet itself boots verify that Ironic. Default: by the certificates that this host trusts. */
  ironicTls?: ClientTls
  /** Serves the BMCs by HTTPS: `own` with a certificate that is made. */
  tls?: { certificate: string; key: string } | 'own'
  account?: Partial<BmcAccount>
  folder?: StateFolder | null
  /**
   * URL of the boot script that network boots begin with. Default for {@link systems} with {@link ironicUrl}: one that starts an
   * agent which calls this Ironic.
   */
  bootScript?: string
  /** Certificate (PEM) by which servers of media are checked; by default none is, as by most BMCs. */
  mediaCa?: string
  machinePace?: MachinePace
  /** Default: IPA's, with inspection data repeated that come too early. */
  agentPace?: AgentPace
  /** Limits of the journal. Default: 5,000 entries, and bodies of 8 MiB. */
  journal?: { capacity?: number; bytes?: number }
  /** Random seed for faults with a probability. Default 1. */
  seed?: number
  /** Default: `file` with a folder, whose machines so boot their systems in a later process too; `described` without. */
  disks?: 'file' | 'described'
  managers?: readonly HardwareManager[]
  /** Serves the dashboard beside the control API. Default false. */
  page?: boolean
  images?: ImageCacheRequest
  clock: Clock
  random: Random
  logger: Logger
}

export interface JoinRequest {
  /** Ends the waiting for a database that does not answer. */
  readonly signal: AbortSignal
  /** Called each time that the database does not answer. */
  readonly onAway?: (reason: string) => void
}

/** A fleet among the processes of a database. */
export interface JoinedFleet {
  /** Its name among them. */
  readonly self: { readonly host: string }
  /** Base URLs of the APIs that live, without `/v1`. */
  readonly apis: readonly string[]
}

/** A fleet that runs. */
export interface Fleet extends AsyncDisposable {
  readonly machines: Machines
  /** URL of all BMCs as the Ironic reaches it, without `/redfish/v1`. */
  readonly redfishUrl: string
  /** Beginning of the agents' callback URLs. */
  readonly agentsUrl: string
  /** Where a machine's BMC takes IPMI; undefined where it does not. */
  readonly ipmiAddress: IpmiListener['addressOf']
  readonly controlUrl: string
  /** URL for notifications of power changes; null where none are taken. */
  readonly notifierUrl: string | null
  /** True if the password of the BMCs was made now: {@link hosts} alone has it. */
  readonly isPasswordNew: boolean
  /** File with the certificate of the BMCs that was made; null without. */
  readonly caFile: string | null
  readonly faults: LabFaults
  readonly journal: Journal
  readonly events: LabEvents
  /**
   * Joins the processes of the database, once: waits while that does not answer. From then on faults, journal and events at the
   * control API are those of all processes.
   *
   * @throws UserError `member-name`, `member-clock`, and for a database that cannot be used; the signal's reason
   */
  join(request: JoinRequest): Promise<JoinedFleet>
  hosts(): FleetHost[]
}
