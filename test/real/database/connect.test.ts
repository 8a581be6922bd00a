import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { connectDatabase } from '../../../ironic-mock/store/postgres/connect-database.js'
import { openSchema } from '../../../ironic-mock/store/postgres/open-schema.js'
import { readDatabaseAddress } from '../../../ironic-mock/store/postgres/read-address.js'
import { cuttableLink } from '../../kit/cuttable-link.js'
import { pgbouncer, type PoolMode } from '../pgbouncer.js'
import { PostgresServer } from '../postgres.js'

/** Connections as libpq makes them, against a real server, and every sentence that one is refused with. */

const OWNER = { name: 'ironic', password: 'sêcret: 1@/' }
const WEAK = { name: 'weak "x"', password: 'weak' }

let server: PostgresServer
let databases = 0
beforeAll(async () => {
  server = await PostgresServer.open({
    tls: true,
    access: [
      'hostssl all tlsonly 127.0.0.1/32 scram-sha-256',
      'host all tlsonly 127.0.0.1/32 reject',
      'hostssl all plainonly 127.0.0.1/32 reject',
    ],
  })
  for (const role of [OWNER, WEAK]) await server.createRole(role)
  await server.createRole({ name: 'tlsonly', password: 'x' })
  await server.createRole({ name: 'plainonly', password: 'x' })
})
afterAll(() => server?.[Symbol.asyncDispose]())

const HOME = '/nonexistent'

/** An address in an environment without anything of the user's. */
const addressOf = (url: string, more: Readonly<Record<string, string>> = {}, schema?: string) =>
  readDatabaseAddress({ url, schema, variables: { HOME, IRONSTAGE_DATABASE: url, ...more } })

/** A database of the owner, and its address. */
async function ownDatabase(name = `lab${++databases}`) {
  await server.createDatabase(name, OWNER.name)
  return { name, url: server.url(OWNER, name), address: await addressOf(server.url(OWNER, name)) }
}

const refusal = async (work: Promise<unknown>) => {
  const error: unknown = await work.then(
    () => 'no error',
    (thrown: unknown) => thrown,
  )
  expect(error).toMatchObject({ kind: 'usage' })
  const { code, message, remedy } = error as { code: string; message: string; remedy: string }
  expect(`${message} ${remedy}`).not.toContain(OWNER.password)
  return { code, message, remedy }
}

/** True if the connection is over TLS. */
async function isEncrypted(address: Awaited<ReturnType<typeof addressOf>>): Promise<boolean> {
  const client = await connectDatabase(address)
  const { rows } = await client.query<{ ssl: boolean }>('select ssl from pg_stat_ssl where pid = pg_backend_pid()')
  await client.end()
  return rows[0]!.ssl
}

describe('sslmode', () => {
  const at = (user: string, parameters: string) =>
    addressOf(`postgres://${user}:x@127.0.0.1:${server.port}/postgres?${parameters}`)

  test.each([
    ['tlsonly', 'sslmode=prefer', true],
    ['tlsonly', 'sslmode=allow', true],
    ['tlsonly', 'sslmode=require', true],
    ['plainonly', 'sslmode=disable', false],
    ['plainonly', 'sslmode=prefer', false],
    ['plainonly', 'sslmode=allow', false],
  ])('%s with %s', async (user, parameters, encrypted) => {
    expect(await isEncrypted(await at(user, parameters))).toBe(encrypted)
  })

  test.each([
    ['plainonly', 'sslmode=require'],
    ['tlsonly', 'sslmode=disable'],
  ])('%s with %s is refused', async (user, parameters) => {
    expect(await refusal(connectDatabase(await at(user, parameters)))).toMatchObject({ code: 'database-refused' })
  })

  test('a certificate is verified, with the name of its host where that is asked for', async () => {
    const root = `sslrootcert=${server.certificate}`
    expect(await isEncrypted(await at('tlsonly', `sslmode=verify-full&${root}`))).toBe(true)
    expect(await isEncrypted(await at('tlsonly', `sslmode=verify-ca&${root}`))).toBe(true)
    await using other = await PostgresServer.open({ tls: true })
    const wrong = await at('tlsonly', `sslmode=verify-ca&sslrootcert=${other.certificate}`)
    expect(await refusal(connectDatabase(wrong))).toMatchObject({
      code: 'database-refused',
      message: expect.stringMatching(/certificate/),
    })
    await using link = await cuttableLink(server.port, '127.0.0.2')
    const elsewhere = (mode: string) =>
      addressOf(`postgres://tlsonly:x@127.0.0.2:${link.port}/postgres?sslmode=${mode}&${root}`)
    expect(await isEncrypted(await elsewhere('verify-ca'))).toBe(true)
    expect(await refusal(connectDatabase(await elsewhere('verify-full')))).toMatchObject({
      message: expect.stringMatching(/127\.0\.0\.2/),
    })
  })
})

describe('hosts', () => {
  test('of several the one that takes writes counts; one that is gone is passed over', async () => {
    await using primary = await PostgresServer.open()
    await primary.createRole(OWNER)
    await using standby = await primary.standby()
    const password = encodeURIComponent(OWNER.password)
    const hosts = `127.0.0.1:1,127.0.0.1:${standby.port},127.0.0.1:${primary.port}`
    const address = await addressOf(`postgres://ironic:${password}@${hosts}/postgres`)
    const client = await connectDatabase(address, { host: 'rack-7' })
    const { rows } = await client.query(
      "select current_setting('port') as port, application_name from pg_stat_activity where pid = pg_backend_pid()",
    )
    expect(rows).toEqual([{ port: String(primary.port), application_name: 'ironstage rack-7' }])
    await client.end()

    const alone = await addressOf(`postgres://ironic:${password}@127.0.0.1:${standby.port}/postgres`)
    expect(await refusal(openSchema(alone))).toMatchObject({
      code: 'database-unfit',
      message: `the database postgres at 127.0.0.1:${standby.port} takes no writes: 127.0.0.1:${standby.port} is a read-only standby`,
    })
    await primary.stop('immediate')
    await standby.promote()
    const after = await connectDatabase(address)
    expect((await after.query("select current_setting('port') as port")).rows).toEqual([{ port: String(standby.port) }])
    await after.end()
  })

  test('a folder of a socket, and the environment in place of a URL', async () => {
    const { name } = await ownDatabase()
    const variables = { PGHOST: server.folder, PGPORT: String(server.port), PGUSER: OWNER.name, PGDATABASE: name }
    await openSchema(await addressOf('', variables))
    expect(await server.sql('select name from ironstage.ironstage_migrations', name)).toContain('0001')
  })

  test('a password in a file of passwords, which only its user may read', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'ironstage-home-'))
    onTestFinished(() => rm(folder, { recursive: true }))
    const file = join(folder, 'passwords')
    const escaped = OWNER.password.replaceAll(':', '\\:')
    await writeFile(file, `# of a test\nother:*:*:*:x\n127.0.0.1:*:*:ironic:${escaped}\n`, { mode: 0o600 })
    const { name } = await ownDatabase()
    const url = `postgresql://ironic@127.0.0.1:${server.port}/${name}`
    const client = await connectDatabase(await addressOf(url, { PGPASSFILE: file }))
    await client.end()
    expect(await refusal(openSchema(await addressOf(url)))).toMatchObject({
      message: `the database at 127.0.0.1:${server.port} asks user ironic for a password, and there is none`,
    })
  })
})

describe('one sentence, and nothing changed', () => {
  test('a server that is not there, one that never answers, and one that is not PostgreSQL', async () => {
    const gone = await addressOf('postgres://ironic:x@127.0.0.1:1/lab')
    expect(await refusal(openSchema(gone))).toMatchObject({
      code: 'database-unreachable',
      message: 'the database lab at 127.0.0.1:1 does not answer: 127.0.0.1:1: connect ECONNREFUSED 127.0.0.1:1',
    })
    await using link = await cuttableLink(server.port)
    link.stall()
    const silent = await addressOf(`postgres://ironic:x@127.0.0.1:${link.port}/lab?connect_timeout=1`)
    expect(await refusal(openSchema(silent))).toMatchObject({
      code: 'database-unreachable',
      message: expect.stringContaining('timeout expired'),
    })
    link.resume()
    link.refuse()
    expect(await refusal(openSchema(silent))).toMatchObject({ code: 'database-unreachable' })
  })

  test('a wrong password, a user and a database that are not there', async () => {
    const { name } = await ownDatabase()
    const place = `127.0.0.1:${server.port}`
    const wrong = await addressOf(`postgres://ironic:wrong@${place}/${name}`)
    expect(await refusal(openSchema(wrong))).toMatchObject({
      code: 'database-refused',
      message: `the database at ${place} refuses the password of user ironic`,
    })
    const missing = await addressOf(server.url(OWNER, 'nosuch'))
    expect(await refusal(openSchema(missing))).toMatchObject({
      code: 'database-refused',
      message: `there is no database nosuch at ${place}`,
    })
  })

  test('a user without the right to make the schema, and the GRANT that it needs', async () => {
    const { name } = await ownDatabase('with "quotes"')
    const weak = await addressOf(server.url(WEAK, name))
    const { message, remedy } = await refusal(openSchema(weak))
    expect(message).toMatch(/^user weak "x" may not make the schema ironstage in the database with "quotes" at /)
    const [, grant] = /run: (.*)$/.exec(remedy)!
    await server.sql(grant!, name)
    await openSchema(weak)

    const owner = await addressOf(server.url(OWNER, name))
    const second = await refusal(openSchema(owner))
    await server.sql(/run: (.*)$/.exec(second.remedy)![1]!, name)
    const third = await refusal(openSchema(owner))
    expect(third.message).toContain('belong to user weak "x"')
    await server.sql(/run: (.*)$/.exec(third.remedy)![1]!, name)
    await openSchema(owner)
  })

  test('a user that may make tables in its schema, and no schema', async () => {
    const { name } = await ownDatabase()
    await server.sql('create schema rack; grant usage, create on schema rack to "weak ""x"""', name)
    await openSchema(await addressOf(server.url(WEAK, name), {}, 'rack'))
    expect(await server.sql('select count(*) from rack.ironstage_migrations', name)).not.toBe('0')
  })

  test('tables of something else, a newer schema, and one that lacks a step', async () => {
    const { name, address, url } = await ownDatabase()
    const tables = () =>
      server.sql(
        "select count(*) from pg_class c join pg_namespace n on n.oid = relnamespace where nspname = 'ironstage'",
        name,
      )
    await server.sql('create schema ironstage; create table ironstage.orders (id int)', name)
    await server.sql('alter schema ironstage owner to ironic; alter table ironstage.orders owner to ironic', name)
    expect(await refusal(openSchema(address))).toMatchObject({
      code: 'database-schema',
      message: expect.stringMatching(/has tables of something else: orders$/),
    })
    expect(await tables()).toBe('1')
    const own = await addressOf(url, {}, "it's; mine")
    await openSchema(own)
    await openSchema(own)
    const newer = [{ name: '0001 other', sql: 'select 1' }]
    expect(await refusal(openSchema(own, undefined, newer))).toMatchObject({
      code: 'database-schema',
      message: expect.stringContaining('is of a newer ironstage'),
    })
  })

  test('another encoding', async () => {
    await server.sql("create database latin encoding 'LATIN1' template template0 owner ironic")
    expect(await refusal(openSchema(await addressOf(server.url(OWNER, 'latin'))))).toMatchObject({
      code: 'database-unfit',
      message: expect.stringContaining('keeps its text as LATIN1'),
    })
  })

  test('too many connections', async () => {
    const { name, address } = await ownDatabase()
    await server.sql(`alter database ${name} connection limit 0`)
    expect(await refusal(openSchema(address))).toMatchObject({
      code: 'database-refused',
      message: expect.stringContaining('takes no more connections'),
    })
  })

  test('a migration that fails leaves the tables as they were', async () => {
    const { name, address } = await ownDatabase()
    const first = { name: '0001 first', sql: 'create table one (id int)' }
    await openSchema(address, undefined, [first])
    const broken = { name: '0002 broken', sql: 'create table two (id int); select nosuch()' }
    expect(await refusal(openSchema(address, undefined, [first, broken]))).toMatchObject({
      message: expect.stringContaining('nosuch'),
    })
    expect(await server.sql("select to_regclass('ironstage.two') is null", name)).toBe('t')
    await openSchema(address, undefined, [first, { name: '0002 mended', sql: 'create table two (id int)' }])
  })
})

test('of many processes that begin at once one makes the schema, and all find it', async () => {
  const { name, address } = await ownDatabase()
  await Promise.all(Array.from({ length: 6 }, () => openSchema(address)))
  expect(await server.sql('select count(*) from ironstage.ironstage_migrations', name)).not.toBe('0')
})

describe('PgBouncer', () => {
  const through = async (mode: PoolMode, settings: readonly string[] = []) => {
    const { name } = await ownDatabase()
    const bouncer = await pgbouncer(server, mode, { [OWNER.name]: OWNER.password }, settings)
    onTestFinished(() => bouncer[Symbol.asyncDispose]())
    return { name, url: server.url(OWNER, name, bouncer.port) }
  }

  test.each([
    ['transaction', []],
    ['transaction', ['server_round_robin = 1']],
    ['transaction', ['default_pool_size = 1']],
    ['statement', []],
  ] as const)('with pool_mode %s %j is refused', async (mode, settings) => {
    const { name, url } = await through(mode, settings)
    const address = await addressOf(url)
    for (let times = 0; times < 3; times++)
      expect(await refusal(openSchema(address))).toMatchObject({
        code: 'database-unfit',
        message: expect.stringContaining('pool_mode = transaction'),
      })
    expect(await server.sql("select to_regnamespace('ironstage') is null", name)).toBe('t')
  })

  test('with a pool of sessions it is as the server', async () => {
    const { url } = await through('session')
    await openSchema(await addressOf(url))
  })

  test('a parameter that it does not pass on', async () => {
    const { url } = await through('session')
    expect(await refusal(openSchema(await addressOf(url, { PGOPTIONS: '-c work_mem=8MB' })))).toMatchObject({
      code: 'database-refused',
      remedy: expect.stringContaining('ignore_startup_parameters'),
    })
  })
})
