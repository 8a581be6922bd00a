import type { ClientConfig } from 'pg'

/** Where the database of several processes is, as the user has said it. */
export interface DatabaseAddress {
  /** For `pg`, with its TLS. */
  readonly connection: ClientConfig
  /** PostgreSQL's schema that holds the tables: one for each cluster of processes. */
  readonly schema: string
  /** For messages, without the password. */
  readonly shown: string
}
