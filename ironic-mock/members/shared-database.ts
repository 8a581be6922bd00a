import { defined, LabClock, systemClock, type Clock, type Logger } from '../../base/runtime/index.js'
import type { OtherProcesses, StoreView } from '../store/open-store.js'
import type { DatabaseAddress } from '../store/postgres/database-address.js'
import type { AddressRequest } from '../store/postgres/read-address.js'
import type { Store } from '../store/store.js'
import type { FaultRows } from './fault-rows.js'
import type { MachineNodes } from './machine-nodes.js'
import type { MachinesMember, MachinesMemberParts } from './machines-member.js'
import type { MemberDescription } from './member-rows.js'
import type { MemberTiming, Members } from './members.js'

export interface SharedDatabaseParts {
  readonly address: DatabaseAddress
  readonly self: MemberDescription
  /** Times that replace those of ironstage. */
  readonly timing?: Partial<MemberTiming>
  /** The clock of the lab. */
  readonly clock: Clock
  readonly logger: Logger
}

/** A database that several processes have, as far as their labs share it. */
export interface MemberDatabase {
  readonly self: MemberDescription
  readonly others: OtherProcesses
  /** The share of the work that was joined last; undefined before. */
  readonly members: Members | undefined
  /** Calls a listener after each look at the processes, also of shares that are joined later. */
  watchLooks(listener: () => void): Disposable
  /** The faults of all processes, and the secret that they share. */
  readonly faults: FaultRows
  /** The nodes of the machines of this process; absent where it has all nodes. */
  readonly nodes?: MachineNodes
}

/** A database that several processes have, as an Ironic among them sees it. */
export interface SharedDatabase extends MemberDatabase {
  readonly address: DatabaseAddress
  readonly store: Store & StoreView
  /** This process's share of the work; another for each Ironic that begins. */
  join(): Members
}

/**
 * Opens a database that several processes have. The driver of PostgreSQL is loaded here and nowhere before.
 *
 * @throws UserError for a database that cannot be reached or used
 */
export async function openSharedDatabase({
  address,
  self,
  timing = {},
  clock,
  logger,
}: SharedDatabaseParts): Promise<SharedDatabase> {
  const { FaultRows: OpenedFaults, openDatabase, Members: OpenedMembers } = await import('./database-parts.js')
  const store = await openDatabase({ address, clock, logger, host: self.host })
  const others = store.others!
  const lookers = new Set<() => void>()
  let members: Members | undefined
  const labTime = sharedTime(clock)
  return {
    address,
    self,
    store,
    others,
    join: () => {
      members = new OpenedMembers({ others, self, timing, clock: systemClock(), logger, ...defined({ labTime }) })
      members.watchLooks(() => lookers.forEach((listener) => listener()))
      return members
    },
    watchLooks: (listener) => {
      lookers.add(listener)
      return { [Symbol.dispose]: () => void lookers.delete(listener) }
    },
    get members() {
      return members
    },
    faults: new OpenedFaults(others.session),
  }
}

/**
 * Reads the address of a database as libpq does, from a URL, the environment and the user's files.
 *
 * @throws UserError (usage) for a URL, a variable or a file that cannot be used
 */
export async function readDatabaseAddress(request: AddressRequest): Promise<DatabaseAddress> {
  const { readDatabaseAddress: read } = await import('./database-parts.js')
  return read(request)
}

/**
 * Joins the processes of a database with machines, and without Ironic's records.
 *
 * @throws UserError for a database that cannot be reached or used, `member-name`, `member-clock`; the driver's error where the
 *   connection breaks meanwhile
 */
export async function joinWithMachines(parts: MachinesMemberParts): Promise<MachinesMember> {
  const { MachinesMember: JoinedMember } = await import('./database-parts.js')
  return JoinedMember.join(parts)
}

/** The time of a lab as its processes tell it each other; undefined where it is that of their hosts. */
export const sharedTime = (clock: Clock): LabClock | undefined =>
  clock instanceof LabClock && clock.speed !== 1 ? clock : undefined
