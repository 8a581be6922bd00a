import { expect, test } from 'vitest'
import { PostgresServer } from '../postgres.js'
import { exists } from '../peer-cache.js'

test('a server keeps what was acknowledged when it ends at once, and leaves nothing behind', async () => {
  const server = await PostgresServer.open()
  try {
    await server.sql('create table kept (name text)')
    await server.sql("insert into kept values ('first')")
    await server.restart('immediate')
    expect(await server.sql('select name from kept')).toBe('first')
  } finally {
    await server[Symbol.asyncDispose]()
  }
  expect(await exists(server.folder)).toBe(false)
})

test('a standby that is promoted has all that its primary acknowledged', async () => {
  await using primary = await PostgresServer.open()
  await using standby = await primary.standby()
  await primary.sql('create table kept (name text)')
  await primary.sql("insert into kept values ('first')")
  expect(await standby.sql('select pg_is_in_recovery()')).toBe('t')
  await primary.stop('immediate')
  await standby.promote()
  expect(await standby.sql('select name from kept')).toBe('first')
  await standby.sql("insert into kept values ('second')")
})
