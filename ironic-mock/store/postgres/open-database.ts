import type { StoreView } from '../open-store.js'
import type { Store } from '../store.js'
import { openDatabaseStore, type DatabaseStoreParts } from './database-store.js'
import { openSchema } from './open-schema.js'

/**
 * Makes the tables of a database of several processes as this program needs them, and opens them. This file and what it
 * imports bring the driver of PostgreSQL: import it only where there is such a database.
 *
 * @throws UserError (usage) for a database that cannot be reached or used; nothing is changed there then
 */
export async function openDatabase(parts: DatabaseStoreParts): Promise<Store & StoreView> {
  await openSchema(parts.address, parts.host)
  return openDatabaseStore(parts)
}
