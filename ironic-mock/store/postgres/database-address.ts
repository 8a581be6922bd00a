import type { ClientConfig } from 'pg'
import { UserError } from '../../../base/runtime/index.js'

/** Where the database of several processes is, as the user has said it. */
export interface DatabaseAddress {
  /**
   * All that are tried, in this order: hosts, each with and without TLS where `sslmode` leaves the choice. The one that
   * takes writes counts; `connectDatabase` finds it.
   */
  readonly connections: readonly DatabaseHost[]
  /** PostgreSQL's schema that holds the tables: one for each cluster of processes. */
  readonly schema: string
  /** For messages, without the password. */
  readonly shown: string
}

/** One host of a database, reached in one way. */
export interface DatabaseHost {
  /** For `pg`, with its TLS. */
  readonly config: ClientConfig
  /** `host:port`, or the path of a socket. */
  readonly shown: string
  /** True if the same host is tried next in another way, when it refuses this one. */
  readonly hasAlternative: boolean
}

/** An address that cannot be used, as the user has said it. */
export const addressError = (message: string, remedy: string, cause?: unknown): UserError =>
  new UserError('database-address', message, { kind: 'usage', remedy, cause })
