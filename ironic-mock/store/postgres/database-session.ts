import type { QueryResult, QueryResultRow } from 'pg'

/**
 * The one connection over which a process commits and holds its locks. When it breaks, all of its locks are free, and
 * another begins: what held locks takes them again then.
 */
export interface DatabaseSession {
  /** Number of this process among those of the database, also that of its stream of changes. */
  readonly stream: number
  /** Number of connections that have begun; a lock of an earlier one is lost. */
  readonly generation: number
  /** Process id of the present connection's backend; null while there is none. */
  readonly backend: number | null
  /** True while statements can be sent and every watcher has begun. */
  readonly isReady: boolean
  /** One statement by itself. Rejects when the connection breaks, without a second try. */
  query<Row extends QueryResultRow>(text: string, values?: readonly unknown[]): Promise<QueryResult<Row>>
  /**
   * Does some work again while its connection breaks: work that changes nothing, or nothing a second time.
   *
   * @throws DatabaseUnavailable when the database stays away
   */
  patiently<T>(work: () => Promise<T>): Promise<T>
  /**
   * Ends the session when the database does not answer within a limit, in milliseconds; the end of this process waits for no
   * more.
   */
  endUnlessAnswering(limit: number): Promise<boolean>
  /** Hears each later beginning and end of a connection. */
  watch(watcher: SessionWatcher): Disposable
}

export interface SessionWatcher {
  /** A new connection is ready; the store's commits wait until this resolves. */
  begun(): Promise<void>
  lost(): void
}
