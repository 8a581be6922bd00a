import { systemClock, UserError, type Clock, type Logger } from '../../../base/runtime/index.js'
import type { JsonObject, NodeListKind, NodeLists } from '../../../base/wire/index.js'
import type { Records } from '../record-store.js'
import { RecordAccess } from '../record-access.js'
import type { OtherProcesses, StoreView } from '../open-store.js'
import type { StoredInventory } from '../store-rows.js'
import type { StoreState } from '../store-state.js'
import type { HistoryEntry, Store } from '../store.js'
import type { Writer } from '../write.js'
import { connectDatabase } from './connect-database.js'
import type { DatabaseAddress } from './database-address.js'
import { GroupCommits } from './group-commits.js'
import { ANSWER_WAIT, PostgresSession } from './postgres-session.js'
import { RecordFollower } from './record-follower.js'
import { ENTERING, SoleProcess } from './sole-process.js'

export interface DatabaseStoreParts {
  readonly address: DatabaseAddress
  /** The clock of the lab. */
  readonly clock: Clock
  readonly logger: Logger
  /** Name of this process among the conductors. */
  readonly host: string
}

/**
 * Ironic's database in PostgreSQL, shared with other processes. Each has all records in memory and answers reads from
 * there; a commit is one transaction, which the database refuses when another process was first, and what others commit is
 * followed. The schema is there, see `openSchema`.
 *
 * @throws UserError (usage) when the database cannot be reached or used
 */
export async function openDatabaseStore({
  address,
  clock,
  logger,
  host,
}: DatabaseStoreParts): Promise<Store & StoreView> {
  const wall = systemClock()
  const channel = `ironstage ${address.schema}`
  const connect = () => connectDatabase(address, { host, answerLimit: ANSWER_WAIT })
  let follower: RecordFollower | undefined
  let sole: SoleProcess | undefined
  const session = await PostgresSession.open({
    connect,
    clock: wall,
    logger,
    channel,
    notified: (payload) => {
      if (payload === ENTERING) sole?.giveUp()
      else if (follower && payload !== String(session.stream)) follower.followSoon()
    },
  })
  try {
    sole = await SoleProcess.enter(session, channel, wall)
    follower = await RecordFollower.open({ session, sole, connect, clock: wall, logger })
    const commits = new GroupCommits({ session, sole, follower, channel, clock, wall, logger })
    return new DatabaseStore({ session, sole, follower, commits })
  } catch (error) {
    await session[Symbol.asyncDispose]()
    throw error
  }
}

interface OpenedParts {
  readonly session: PostgresSession
  readonly sole: SoleProcess
  readonly follower: RecordFollower
  readonly commits: GroupCommits
}

class DatabaseStore extends RecordAccess implements Store, StoreView {
  readonly others: OtherProcesses

  readonly #parts: OpenedParts

  constructor(parts: OpenedParts) {
    super()
    this.#parts = parts
    const { session, follower } = parts
    this.others = {
      session,
      catchUp: () => this.#catchUp(),
      watchFollowed: (listener) => follower.watch(listener),
    }
  }

  get records(): Records {
    return this.#parts.follower.shared.records
  }

  take(): StoreState {
    throw new UserError('shared-database', 'a database of several processes has no snapshots')
  }

  nodeList<Kind extends NodeListKind>(node: string, kind: Kind): Promise<NodeLists[Kind]> {
    return Promise.resolve(this.nodeListNow(node, kind))
  }

  nodeListNow<Kind extends NodeListKind>(node: string, kind: Kind): NodeLists[Kind] {
    return this.#parts.follower.shared.list(node, kind) as NodeLists[Kind]
  }

  async inventory(node: string): Promise<{ inventory: JsonObject; plugin_data: JsonObject } | undefined> {
    const [text] = await this.#texts('select record from inventories where node = $1', node)
    return text === undefined ? undefined : (JSON.parse(text) as StoredInventory)
  }

  async history(node: string): Promise<HistoryEntry[]> {
    const texts = await this.#texts('select record from history where node = $1 order by id', node)
    return texts.map((text) => JSON.parse(text) as HistoryEntry)
  }

  abandon(): void {
    this.#parts.commits.abandon()
    this.#parts.follower.close()
    this.#parts.session.abandon()
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#parts.commits.close()
    this.#parts.follower.close()
    await this.#parts.session[Symbol.asyncDispose]()
  }

  /**
   * A request comes behind the transaction that is under way, also where it need not ask others: an answer before that
   * would send a client that waits for it round once more.
   */
  async #catchUp(): Promise<void> {
    const { sole, commits, follower } = this.#parts
    if (sole.isAlone) await commits.writesEnded()
    await follower.catchUp()
  }

  protected write<T>(apply: (writer: Writer) => T): Promise<T> {
    return this.#parts.commits.write(apply)
  }

  async #texts(query: string, node: string): Promise<string[]> {
    const { rows } = await this.#parts.session.read<{ record: string }>(query, [node])
    return rows.map(({ record }) => record)
  }
}
