import { createRequire } from 'node:module'
import type pg from 'pg'
import { loadPackage } from '../../../base/runtime/index.js'
import type { DatabaseAddress } from './database-address.js'

/** `pg` on first use: it is beside the bundle, and only a database of several processes needs it. */
const postgres = (): typeof pg => loadPackage('pg', () => createRequire(import.meta.url)('pg') as typeof pg)

/**
 * A connection to the database, with the schema's tables before all others.
 *
 * @throws the driver's error
 */
export async function connectDatabase({ connection, schema }: DatabaseAddress): Promise<pg.Client> {
  const { Client, escapeIdentifier } = postgres()
  const client = new Client({ ...connection, pipeline: true })
  // Without a listener, an error between two statements would end the process.
  client.on('error', () => {})
  try {
    await client.connect()
    await client.query(`set search_path = ${escapeIdentifier(schema)}`)
    return client
  } catch (error) {
    void client.end().catch(() => {})
    throw error
  }
}
