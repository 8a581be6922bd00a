import { mkdtemp, rm, writeFile, mkdir } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { inspect } from 'node:util'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { hasPassword } from './database-url.js'
import { readDatabaseAddress, type AddressRequest } from './read-address.js'

let home: string
beforeAll(async () => {
  home = await mkdtemp(join(tmpdir(), 'ironstage-home-'))
})
afterAll(() => rm(home, { recursive: true }))

const read = (url: string, variables: AddressRequest['variables'] = {}, more: Partial<AddressRequest> = {}) =>
  readDatabaseAddress({ url, variables: { HOME: home, IRONSTAGE_DATABASE: url, ...variables }, ...more })

/** User, hosts and database of an address, without passwords. */
const places = async (...request: Parameters<typeof read>) => {
  const { connections } = await read(...request)
  return connections.map(({ config: { user, host, port, database, ssl } }) => {
    return `${user}@${host}:${port}/${database}${ssl === false ? '' : ' TLS'}`
  })
}

const password = async (...request: Parameters<typeof read>): Promise<unknown> => {
  const { connections } = await read(...request)
  const { password: own } = connections[0]!.config
  return typeof own === 'function' ? own() : own
}

describe('a URL', () => {
  test.each([
    ['postgres://ann@db.example:5433/lab', ['ann@db.example:5433/lab TLS', 'ann@db.example:5433/lab']],
    ['postgresql://ann@db.example?sslmode=disable', ['ann@db.example:5432/ann']],
    ['postgres://ann@[::1]:5433/lab?sslmode=disable', ['ann@::1:5433/lab']],
    ['postgres://a%40b:x@h/d%2Fe?sslmode=require', ['a@b@h:5432/d/e TLS']],
    ['postgres://ann@%2Fvar%2Frun/lab', ['ann@/var/run:5432/lab']],
    ['postgres:///lab?host=/tmp/pg&port=6000&user=ann', ['ann@/tmp/pg:6000/lab']],
    [
      'postgres://ann@one:1,two:2/lab?sslmode=allow&target_session_attrs=read-write',
      ['ann@one:1/lab', 'ann@one:1/lab TLS', 'ann@two:2/lab', 'ann@two:2/lab TLS'],
    ],
    ['postgres://ann@one,two:6/lab?sslmode=disable', ['ann@one:5432/lab', 'ann@two:6/lab']],
    ['postgres://ann@one,two/lab?port=7&sslmode=disable', ['ann@one:7/lab', 'ann@two:7/lab']],
    ['postgres://ann@/lab?sslmode=disable', ['ann@/var/run/postgresql:5432/lab', 'ann@localhost:5432/lab']],
  ])('%s', async (url, expected) => {
    expect(await places(url)).toEqual(expected)
  })

  test.each([
    ['mysql://h/d', 'is not a URL of PostgreSQL'],
    ['host=h dbname=d', 'is not a URL of PostgreSQL'],
    ['postgres://ann:secret-1@h:5x/d', 'the port of the database is "5x"'],
    ['postgres://ann:secret-1@h:0/d', 'the port of the database is "0"'],
    ['postgres://ann:secret-1@a:1:2/d', 'has a host that cannot be read'],
    ['postgres://ann:secret-1%zz@h/d', 'has a % that is not followed by two hexadecimal digits'],
    ['postgres://ann:secret-1@h/d?sslmode', 'has a parameter that is not NAME=VALUE'],
    ['postgres://ann:secret-1@h/d?sslmod=require', 'has the parameter "sslmod", which ironstage does not know'],
    ['postgres://ann:secret-1@h/d?sslmode=on', 'sslmode of the database is "on"'],
    ['postgres://ann:secret-1@h/d?sslmode=verify-full', "needs the certificate of the server's authority"],
    ['postgres://ann:secret-1@h/d?sslrootcert=/nosuch', 'the file of sslrootcert cannot be read: /nosuch'],
    ['postgres://ann:secret-1@h/d?sslmode=verify-ca&sslrootcert=system', 'goes with sslmode=verify-full'],
    ['postgres://ann:secret-1@h/d?connect_timeout=soon', 'connect_timeout of the database is "soon"'],
    ['postgres://ann:secret-1@h/d?target_session_attrs=standby', 'ironstage writes its database'],
    ['postgres://ann:secret-1@a,b,c/d?port=1,2', '3 hosts and 2 ports'],
  ])('%s is refused in a sentence without its password', async (url, sentence) => {
    const error: unknown = await read(url).catch((thrown: unknown) => thrown)
    expect(error).toMatchObject({ code: 'database-address', kind: 'usage', message: expect.stringContaining(sentence) })
    expect(inspect(error, { depth: 9 })).not.toContain('secret-1')
  })

  test.each([
    ['postgres://ann:x@h/d', true],
    ['postgres://ann:@h/d', true],
    ['postgres://h/d?user=ann&password=x', true],
    ['postgres://ann:p/w@h/d', true],
    ['postgres://ann@h:5432/d', false],
    ['postgres://h:5432,i:5433/d?sslmode=require', false],
    ['', false],
  ])('%s has a password: %s', (url, expected) => {
    expect(hasPassword(url)).toBe(expected)
  })
})

test('the environment fills in for a URL, which counts before it', async () => {
  const variables = {
    PGHOST: 'env.example',
    PGPORT: '6000',
    PGUSER: 'bob',
    PGDATABASE: 'envlab',
    PGSSLMODE: 'disable',
    PGPASSWORD: 'from-env',
  }
  expect(await places('', variables)).toEqual(['bob@env.example:6000/envlab'])
  expect(await places('postgres://ann@h:1/lab?sslmode=require', variables)).toEqual(['ann@h:1/lab TLS'])
  expect(await password('', variables)).toBe('from-env')
  expect(await password('postgres://ann:from-url@h', variables)).toBe('from-url')
  const passwordFile = join(home, 'password')
  await writeFile(passwordFile, 'from file\n')
  expect(await password('postgres://ann@h', variables, { passwordFile })).toBe('from file')
  await expect(read('postgres://ann:x@h', {}, { passwordFile })).rejects.toThrow('both have a password')
  await expect(read('', { PGSERVICE: 'lab' })).rejects.toThrow('the environment has PGSERVICE')
})

test('a URL with a password is read from its variable, and refused elsewhere', async () => {
  const url = 'postgres://ann:secret-1@h/lab'
  const error: unknown = await read(url, { IRONSTAGE_DATABASE: 'postgres://h' }).catch((thrown: unknown) => thrown)
  expect(error).toMatchObject({
    code: 'database-address',
    message: 'the URL of --database has a password, which every user of this host could read in the list of processes',
  })
  expect(inspect(error, { depth: 9 })).not.toContain('secret-1')
  expect(await password(url, { IRONSTAGE_DATABASE: url })).toBe('secret-1')
})

test.each([
  ['', 'has no password: one line that is not empty'],
  ['\n', 'has no password: one line that is not empty'],
  ['secret-1\nsecret-2\n', 'has no password: one line that is not empty'],
  [undefined, 'the file of --database-password-file cannot be read'],
])('a password file of %j is refused', async (text, sentence) => {
  const passwordFile = join(home, 'bad-password')
  await rm(passwordFile, { force: true })
  if (text !== undefined) await writeFile(passwordFile, text)
  const error: unknown = await read('postgres://h', {}, { passwordFile }).catch((thrown: unknown) => thrown)
  expect(error).toMatchObject({ code: 'database-address', kind: 'usage', message: expect.stringContaining(sentence) })
  expect(inspect(error)).not.toContain('secret-1')
})

test('a password is in no listing of an address', async () => {
  const address = await read('postgres://ann:secret-1@h/lab')
  expect(address.shown).toBe('lab at h:5432')
  expect(JSON.stringify(address) + inspect(address, { depth: 9, showHidden: true })).not.toContain('secret-1')
})

test('TLS has what libpq looks for in the home folder', async () => {
  await mkdir(join(home, '.postgresql'))
  const file = (name: string) => join(home, '.postgresql', name)
  await writeFile(file('root.crt'), 'ROOT')
  await writeFile(file('postgresql.crt'), 'CERTIFICATE')
  await expect(read('postgres://h')).rejects.toThrow('has no key')
  await writeFile(file('postgresql.key'), 'KEY')
  const ssl = async (mode: string) => (await read(`postgres://h?sslmode=${mode}`)).connections[0]!.config.ssl
  const identity = { cert: 'CERTIFICATE', key: 'KEY' }
  expect(await ssl('prefer')).toEqual({ ...identity, rejectUnauthorized: false })
  expect(await ssl('require')).toMatchObject({
    ca: 'ROOT',
    rejectUnauthorized: true,
    checkServerIdentity: expect.any(Function),
  })
  expect(await ssl('verify-full')).toEqual({ ...identity, ca: 'ROOT', rejectUnauthorized: true })
  await rm(file(''), { recursive: true })
})

test('a file of passwords: the first line that fits, escapes, and who may read it', async () => {
  const file = join(home, 'passwords')
  const lines = [
    '# h:*:*:*:comment',
    'h:1:*:*:one',
    'h:*:a\\:b:*:escaped\\:\\\\',
    '*:*:*:ann:any',
    'localhost:*:*:*:socket',
  ]
  await writeFile(file, `${lines.join('\n')}\n`, { mode: 0o600 })
  const variables = { PGPASSFILE: file }
  expect(await password('postgres://bob@h:1/lab', variables)).toBe('one')
  expect(await password('postgres://bob@h:2/a%3Ab', variables)).toBe('escaped:\\')
  expect(await password('postgres://ann@other/lab', variables)).toBe('any')
  expect(await password('postgres://bob@%2Ftmp/lab', variables)).toBe('socket')
  await expect(password('postgres://bob@other/lab', variables)).rejects.toThrow('asks for a password')
  const shared = join(home, 'shared')
  await writeFile(shared, 'h:*:*:*:x\n', { mode: 0o644 })
  await expect(read('postgres://h', { PGPASSFILE: shared })).rejects.toThrow(
    `other users may read the passwords in ${shared}`,
  )
})

test.each(['', 'pg_own', 'information_schema', 'x'.repeat(64)])('%j is no name of a schema', async (schema) => {
  await expect(read('postgres://h', {}, { schema })).rejects.toThrow('cannot be the name of a schema')
})
