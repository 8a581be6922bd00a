import { defined, errorChain, systemClock, type Logger } from '../../base/runtime/index.js'
import type { OtherProcesses } from '../store/open-store.js'
import { connectDatabase } from '../store/postgres/connect-database.js'
import { openSchema } from '../store/postgres/open-schema.js'
import { ANSWER_WAIT, PostgresSession } from '../store/postgres/postgres-session.js'
import { FaultRows } from './fault-rows.js'
import { MachineNodes } from './machine-nodes.js'
import { writeMachines, type MemberMachine } from './machine-rows.js'
import type { MemberDescription } from './member-rows.js'
import { Members } from './members.js'
import { sharedTime, type MemberDatabase, type SharedDatabaseParts } from './shared-database.js'

export interface MachinesMemberParts extends SharedDatabaseParts {
  /** The machines that there are now. */
  readonly machines: () => readonly MemberMachine[]
}

/**
 * A process of machines among those of a database. It has no records and commits none, so that the only Ironic beside it is alone
 * still, and need not ask what others have committed.
 */
export class MachinesMember implements MemberDatabase, AsyncDisposable {
  readonly self: MemberDescription
  readonly others: OtherProcesses
  readonly faults: FaultRows
  readonly members: Members
  readonly nodes: MachineNodes
  readonly #session: PostgresSession
  readonly #logger: Logger
  #watching: Disposable | undefined
  readonly #machines: () => readonly MemberMachine[]
  #writing: Promise<void> = Promise.resolve()
  /** The write that the next callers share; it has not begun yet. */
  #next: Promise<void> | undefined

  private constructor(session: PostgresSession, { self, timing = {}, clock, logger, machines }: MachinesMemberParts) {
    this.#machines = machines
    this.self = self
    this.#session = session
    this.#logger = logger
    this.others = {
      session,
      catchUp: () => session.ready(),
      watchFollowed: () => ({ [Symbol.dispose]: () => {} }),
    }
    this.faults = new FaultRows(session)
    this.nodes = new MachineNodes(session, systemClock())
    const labTime = sharedTime(clock)
    this.members = new Members({
      others: this.others,
      self,
      timing,
      clock: systemClock(),
      logger,
      ...defined({ labTime }),
    })
  }

  /**
   * Joins the processes of a database, whose tables it makes if it is the first.
   *
   * @throws UserError for a database that cannot be reached or used, `member-name`, `member-clock`; the driver's error where the
   *   connection breaks meanwhile
   */
  static async join(parts: MachinesMemberParts): Promise<MachinesMember> {
    const { address, self, logger } = parts
    await openSchema(address, self.host)
    const later: { joined?: MachinesMember } = {}
    const session = await PostgresSession.open({
      connect: () => connectDatabase(address, { host: self.host, answerLimit: ANSWER_WAIT }),
      clock: systemClock(),
      logger,
      channel: `ironstage ${address.schema}`,
      notified: () => later.joined?.nodes.committed(),
    })
    const joined = new MachinesMember(session, parts)
    later.joined = joined
    try {
      await joined.members.begin()
      // Behind the registration of each connection, which has to be there first.
      joined.#watching = session.watch({ begun: () => joined.tellMachines(), lost: () => {} })
      await joined.tellMachines()
      return joined
    } catch (error) {
      await joined[Symbol.asyncDispose]()
      throw error
    }
  }

  /** Base URLs of the APIs that live, without `/v1`. */
  get apis(): readonly string[] {
    return this.members.apis
  }

  watchLooks(listener: () => void): Disposable {
    return this.members.watchLooks(listener)
  }

  /** Writes the list of this process's machines for the other processes; a database that is away gets it once it is back. */
  tellMachines(): Promise<void> {
    this.#next ??= this.#writing.then(() => {
      this.#next = undefined
      this.#writing = this.#write()
      return this.#writing
    })
    return this.#next
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#watching?.[Symbol.dispose]()
    await this.members.end()
    await this.#session[Symbol.asyncDispose]()
  }

  async #write(): Promise<void> {
    try {
      await writeMachines(this.#session, this.#machines())
    } catch (error) {
      if (this.#session.backend !== null)
        this.#logger('warn', `the other processes do not learn of machines: ${errorChain(error).join(': ')}`)
    }
  }
}
