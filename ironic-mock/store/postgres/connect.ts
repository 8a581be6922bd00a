import pg from 'pg'
import type { DatabaseAddress } from './database-address.js'

/**
 * A connection to the database, with the schema's tables before all others.
 *
 * @throws the driver's error
 */
export async function connectDatabase({ connection, schema }: DatabaseAddress): Promise<pg.Client> {
  const client = new pg.Client({ ...connection, pipeline: true })
  // Without a listener, an error between two statements would end the process.
  client.on('error', () => {})
  try {
    await client.connect()
    await client.query(`set search_path = ${pg.escapeIdentifier(schema)}`)
    return client
  } catch (error) {
    void client.end().catch(() => {})
    throw error
  }
}
