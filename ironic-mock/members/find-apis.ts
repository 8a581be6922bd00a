import { connectDatabase } from '../store/postgres/connect-database.js'
import type { DatabaseAddress } from '../store/postgres/database-address.js'
import { openSchema } from '../store/postgres/open-schema.js'
import { listMembers } from './member-rows.js'

/**
 * Base URLs of the APIs among the processes of a database that live, without `/v1`. Makes the tables as any process does,
 * if it is the first.
 *
 * @param name name of this process, which the database's list of connections shows
 * @throws UserError for a database that cannot be reached or used
 */
export async function listApis(address: DatabaseAddress, name: string): Promise<string[]> {
  await openSchema(address, name)
  const client = await connectDatabase(address, { host: name })
  try {
    const members = await listMembers({ query: (text, values = []) => client.query(text, [...values]) })
    const living = members.filter(({ isOnline, isConnected }) => isOnline && isConnected)
    return living.flatMap(({ url }) => (url === null ? [] : [url]))
  } finally {
    await client.end().catch(() => {})
  }
}
