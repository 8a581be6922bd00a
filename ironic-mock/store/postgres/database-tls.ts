import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { ConnectionOptions } from 'node:tls'
import { defined } from '../../../base/runtime/index.js'
import { addressError } from './database-address.js'

/** TLS of one attempt, as `pg` takes it: false for none. */
export type TlsChoice = false | ConnectionOptions

/** TLS as libpq's parameters describe it; a file that is not named is looked for in `~/.postgresql`. */
export interface TlsRequest {
  readonly mode: string
  /** `system` for the authorities that Node knows. */
  readonly rootFile: string | undefined
  readonly certificateFile: string | undefined
  readonly keyFile: string | undefined
  readonly home: string
}

const MODES: readonly string[] = ['disable', 'allow', 'prefer', 'require', 'verify-ca', 'verify-full']

/**
 * The attempts that a mode stands for, in their order (PostgreSQL 15 libpq-ssl.html, table 34.1). `pg` takes prefer,
 * require and verify-ca for verify-full instead.
 *
 * @throws UserError (database-address, usage) for a mode or a file that cannot be used
 */
export async function databaseTls(request: TlsRequest): Promise<readonly TlsChoice[]> {
  const { mode } = request
  if (!MODES.includes(mode))
    throw addressError(`sslmode of the database is ${JSON.stringify(mode)}`, `say one of ${MODES.join(', ')}`)
  if (mode === 'disable') return [false]
  const tls = await optionsOf(request)
  if (mode === 'allow') return [false, tls]
  return mode === 'prefer' ? [tls, false] : [tls]
}

async function optionsOf(request: TlsRequest): Promise<ConnectionOptions> {
  const { mode } = request
  const identity = await identityOf(request)
  const isSystem = request.rootFile === 'system'
  if (isSystem && mode !== 'verify-full')
    throw addressError(`sslrootcert=system goes with sslmode=verify-full, not with ${mode}`, 'say sslmode=verify-full')
  const ca = isSystem ? undefined : await rootOf(request)
  if (ca === undefined && !isSystem) {
    if (mode.startsWith('verify-'))
      throw addressError(
        `sslmode=${mode} needs the certificate of the server's authority`,
        'name its file with sslrootcert=FILE or PGSSLROOTCERT, or say sslrootcert=system',
      )
    return { ...identity, rejectUnauthorized: false }
  }
  // With a file of authorities require is verify-ca, as before there was a mode of that name.
  if (mode === 'allow' || mode === 'prefer') return { ...identity, rejectUnauthorized: false }
  const verified = { ...identity, ...defined({ ca }), rejectUnauthorized: true }
  return mode === 'verify-full' ? verified : { ...verified, checkServerIdentity: () => undefined }
}

const rootOf = ({ rootFile, home }: TlsRequest): Promise<string | undefined> =>
  fileOf(rootFile, join(home, '.postgresql/root.crt'), 'sslrootcert')

/** The client's own certificate; `pg` hides the key. */
async function identityOf({ certificateFile, keyFile, home }: TlsRequest): Promise<{ cert?: string; key?: string }> {
  const cert = await fileOf(certificateFile, join(home, '.postgresql/postgresql.crt'), 'sslcert')
  if (cert === undefined) return {}
  const key = await fileOf(keyFile, join(home, '.postgresql/postgresql.key'), 'sslkey')
  if (key === undefined)
    throw addressError('the certificate of the database user has no key', 'name its file with sslkey=FILE or PGSSLKEY')
  return { cert, key }
}

async function fileOf(named: string | undefined, usual: string, parameter: string): Promise<string | undefined> {
  try {
    return await readFile(named ?? usual, 'utf8')
  } catch (cause) {
    if (named === undefined) return undefined
    throw addressError(
      `the file of ${parameter} cannot be read: ${named}`,
      'correct its name or its permissions',
      cause,
    )
  }
}
