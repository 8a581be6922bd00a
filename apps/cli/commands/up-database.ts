import { readDatabaseAddress, type MemberRole } from '../../../ironic-mock/index.js'
import { defined } from '../../../base/runtime/index.js'
import type { ServeOptions } from '../../../lab/index.js'
import type { CommandOptionValues } from '../options/resolve-options.js'
import { usageError } from '../usage-error.js'

type DatabaseOptions = CommandOptionValues<'database' | 'database-schema' | 'database-password-file' | 'role'>

/**
 * The database that the options of `up` describe, with libpq's variables for what they leave open.
 *
 * @param variables the environment
 * @throws UserError (usage) for options that are of a database without one, and for an address that cannot be used
 */
export async function readUpDatabase(
  options: DatabaseOptions,
  variables: Readonly<Record<string, string | undefined>>,
): Promise<NonNullable<ServeOptions['database']>> {
  const { database: url, 'database-schema': schema, 'database-password-file': passwordFile } = options
  if (url === undefined) {
    const named =
      schema !== undefined ? 'database-schema' : passwordFile !== undefined ? 'database-password-file' : 'role'
    throw usageError(
      `--${named} is about a database of several processes, and none is named`,
      'add --database postgres://USER@HOST/DATABASE, or leave it out',
    )
  }
  const address = await readDatabaseAddress({ url, variables, ...defined({ schema, passwordFile }) })
  // The schema of the option allows only the known values.
  const { role = 'all' } = options as { role?: MemberRole }
  return { address, role }
}
