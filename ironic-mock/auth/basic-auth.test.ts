import { mkdtemp, rm, utimes, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { hashSync } from 'bcryptjs'
import { beforeAll, describe, expect, test } from 'vitest'
import { defined, silent, systemClock, userError } from '../../base/runtime/index.js'
import type { Guard } from '../api/ironic-api.js'
import { basicAuthorization } from '../../base/bytes/index.js'
import { basicAuth } from './basic-auth.js'

/** Sentences, shapes and routes of Ironic 39.0.0's middleware, as recorded. */

const line = (user: string, password: string) => `${user}:${hashSync(password, 4).replace(/^\$2b/, '$2y')}\n`
/** A modification time far ahead: a change within the clock's tick would not be seen. */
const later = new Date('2100-01-01')
const own = { username: 'own', password: 'secret' }

async function usersFile(text: string): Promise<string> {
  const file = join(await mkdtemp(join(tmpdir(), 'ironstage-htpasswd-')), 'htpasswd')
  await writeFile(file, text)
  return file
}
const guardOf = (file: string) => basicAuth({ file, own, clock: systemClock(), logger: silent })
const ask = (guard: Guard, authorization?: string, target = '/v1/nodes', method = 'GET') =>
  guard({ method, target, base: 'http://ironic', headers: authorization === undefined ? {} : { authorization } })
const raw = (text: string) => `Basic ${Buffer.from(text, 'latin1').toString('base64')}`

describe('http_basic', () => {
  let guard: Guard
  beforeAll(async () => {
    guard = await guardOf(await usersFile(`# people\n\n${line('myName', 'pw')}${line('colon', 'a:b')}`))
  })

  test.each([
    ['a user of the file', raw('myName:pw')],
    ['a password with a colon', raw('colon:a:b')],
    ['in small letters, with blanks', ` basic   ${raw('myName:pw').slice(6)}  `],
    ['the process itself', basicAuthorization(own)],
  ])('lets in %s', async (_, header) => expect(await ask(guard, header)).toBeUndefined())

  test.each([
    ['nothing', undefined, 401, 'Authorization required'],
    ['an empty header', '', 400, 'Could not parse Authorization header'],
    ['a scheme alone', 'Basic', 400, 'Could not parse Authorization header'],
    ['another scheme', 'Bearer x', 400, 'Unsupported authorization type "Bearer"'],
    ['no base64', 'Basic !!!', 400, 'Could not decode authorization token'],
    ['two tokens', 'Basic a b', 400, 'Could not decode authorization token'],
    ['no colon', raw('nocolon'), 400, 'Could not decode authorization token'],
    ['no UTF-8', raw('\xff\xfe:x'), 400, 'Could not decode authorization token'],
    ['a wrong password', raw('myName:no'), 401, 'Incorrect username or password'],
    ['an unknown user', raw('who:pw'), 401, 'Incorrect username or password'],
    ['the beginning of a user', raw('my:pw'), 401, 'Incorrect username or password'],
    ['no user', raw(':pw'), 401, 'Incorrect username or password'],
    ['a wrong password of the process', raw('own:secreT'), 401, 'Incorrect username or password'],
  ])('refuses %s', async (_, header, status, message) => {
    expect(await ask(guard, header)).toEqual({
      status,
      headers: {
        'content-type': 'application/json',
        ...defined({ 'www-authenticate': status === 401 ? 'Basic realm="Baremetal API"' : undefined }),
      },
      body: JSON.stringify({ error: { message, code: status } }),
    })
  })

  test.each([
    '/',
    '/v1',
    '/v1/',
    '/v1.json',
    '/v1/lookup',
    '/v1/lookup/',
    '/v1/lookup?addresses=x',
    '/v1/lookup.json',
    '/v1/heartbeat/abc-1',
    '/v1/continue_inspection',
  ])('%s is public', async (target) => expect(await ask(guard, undefined, target)).toBeUndefined())

  test.each([
    '//',
    '/v1/nodes',
    '/v1/heartbeat',
    '/v1/heartbeat/A',
    '/v1/heartbeat/a_b',
    '/v1/lookup/x',
    '/lookup',
    '/heartbeat/abc',
    '/continue_inspection',
    '/v1//lookup',
    '/healthcheck',
    '/v1%2Flookup',
    '/_lab/machines',
    '/v1/lookup%0a',
  ])('%s needs a password', async (target) =>
    expect(await ask(guard, undefined, target)).toMatchObject({ status: 401 }),
  )

  test('a refusal of HEAD has no body', async () => {
    expect(await ask(guard, undefined, '/v1/nodes', 'HEAD')).not.toHaveProperty('body')
  })
})

describe('the file of users', () => {
  test('is read again after a change', async () => {
    const file = await usersFile(line('a', 'one'))
    const guard = await guardOf(file)
    expect(await ask(guard, raw('a:one'))).toBeUndefined()
    await writeFile(file, line('a', 'two'))
    await utimes(file, later, later)
    expect(await ask(guard, raw('a:one'))).toMatchObject({ status: 401 })
    expect(await ask(guard, raw('a:two'))).toBeUndefined()
  })

  test('that has become unusable refuses every user with 500, as upstream', async () => {
    const file = await usersFile(line('a', 'one'))
    const guard = await guardOf(file)
    await writeFile(file, 'a:{SHA}x\n')
    await utimes(file, later, later)
    const body = (message: string) => JSON.stringify({ error: { message, code: 500 } })
    expect(await ask(guard, raw('a:one'))).toMatchObject({
      status: 500,
      body: body('Invalid configuration file. Only bcrypt digested passwords are supported for a'),
    })
    await rm(file)
    expect(await ask(guard, raw('a:one'))).toMatchObject({
      status: 500,
      body: body('Invalid configuration file. Problem reading auth user file'),
    })
  })

  test.each([
    ['is not there', '/nonexistent/htpasswd'],
    ['has a hash that is not bcrypt', null],
  ])('refuses the start when it %s', async (_, path) => {
    const file = path ?? (await usersFile('a:$apr1$x\n'))
    const refused = guardOf(file)
    await expect(refused).rejects.toThrow(`the users of the API cannot be read from ${file}`)
    expect(userError(await refused.catch((error: unknown) => error))?.kind).toBe('usage')
  })
})
