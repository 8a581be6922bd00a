import { createRequire } from 'node:module'
import type * as Kysely from 'kysely'
import type * as Postgres from 'pg'
import { loadPackage } from '../../../base/runtime/index.js'

const require = createRequire(import.meta.url)

/** The client of PostgreSQL, which is loaded only for a database of several processes. */
export const loadPostgres = (): typeof Postgres => loadPackage('pg', () => require('pg') as typeof Postgres)

/** Migrates the schema. */
export const loadMigrator = (): typeof Kysely => loadPackage('kysely', () => require('kysely') as typeof Kysely)
