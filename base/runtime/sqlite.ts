import { createRequire } from 'node:module'
import type Database from 'libsql'
import { loadPackage } from './load-package.js'

/** Loaded on first use: help and labs in memory need no database, and the dashboard's page has no modules of Node.js. */
function driver(): typeof Database {
  const require = createRequire(import.meta.url)
  return loadPackage('libsql', () => require('libsql') as typeof Database)
}

/**
 * Opens a file of SQLite.
 *
 * @throws UserError (missing-package) where it is not installed; errors of SQLite
 */
export function openSqlite(path: string, options?: Database.Options): Database.Database {
  const Driver = driver()
  return new Driver(path, options)
}

/** Whether SQLite is installed for this computer. */
export function hasSqlite(): boolean {
  try {
    driver()
    return true
  } catch {
    return false
  }
}
