import { readFile, stat } from 'node:fs/promises'
import { addressError } from './database-address.js'

/** A login that a password file may have the password of. */
export interface FileLogin {
  readonly host: string
  readonly port: number
  readonly database: string
  readonly user: string
}

/**
 * The password of the first line of a `.pgpass` that fits: `host:port:database:user:password`, with `*` for any, and a
 * backslash before a colon or backslash (PostgreSQL 15 libpq-pgpass.html). A file that is missing has none.
 *
 * @throws UserError (database-address, usage) for a file that others may read, which libpq ignores with a warning
 */
export async function passwordInFile(path: string, login: FileLogin): Promise<string | undefined> {
  const text = await readFile(path, 'utf8').catch(() => undefined)
  if (text === undefined) return undefined
  const wanted = [login.host, String(login.port), login.database, login.user]
  for (const line of text.split(/\r?\n/)) {
    if (line.startsWith('#')) continue
    const fields = [...line.matchAll(/(?:^|:)((?:[^:\\]|\\.)*)/g)].map(([, field]) => field!)
    const fits = wanted.every((value, index) => fields[index] === '*' || unescaped(fields[index] ?? '') === value)
    if (!fits || fields.length < 5) continue
    await refuseShared(path)
    return unescaped(fields[4]!)
  }
  return undefined
}

const unescaped = (field: string): string => field.replace(/\\(.)/g, '$1')

const GROUP_AND_OTHERS = 0o077

async function refuseShared(path: string): Promise<void> {
  const { mode } = await stat(path)
  if ((mode & GROUP_AND_OTHERS) === 0) return
  throw addressError(`other users may read the passwords in ${path}`, `run chmod 600 ${path}`)
}
