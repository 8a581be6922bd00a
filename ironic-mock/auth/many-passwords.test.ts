import { mkdtemp, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { hashSync } from 'bcryptjs'
import { beforeAll, expect, test } from 'vitest'
import { basicAuthorization } from '../../base/bytes/index.js'
import { silent, systemClock } from '../../base/runtime/index.js'
import type { WireResponse } from '../../base/wire/index.js'
import { basicAuth } from './basic-auth.js'
import { PasswordComparisons } from './password-comparisons.js'

/** Twenty milliseconds on a quiet machine. */
const COST = 8
const hash = hashSync('right', COST)

let file: string
beforeAll(async () => {
  file = join(await mkdtemp(join(tmpdir(), 'ironstage-passwords-')), 'htpasswd')
  await writeFile(file, `admin:${hash}\n`)
})

async function openGuard() {
  const guard = await basicAuth({ file, clock: systemClock(), logger: silent })
  return (username: string, password: string, peer = '192.0.2.1'): Promise<WireResponse | undefined> =>
    guard({
      method: 'GET',
      target: '/v1/nodes',
      base: 'http://ironic',
      peer,
      headers: { authorization: basicAuthorization({ username, password }) },
    })
}

/** How long the longest turn of the event loop is until the work is done, in milliseconds. */
async function longestPauseDuring(work: Promise<unknown>): Promise<number> {
  let longest = 0
  let last = performance.now()
  let isDone = false
  void work.finally(() => (isDone = true))
  while (!isDone) {
    await systemClock().sleep(5)
    const now = performance.now()
    longest = Math.max(longest, now - last)
    last = now
  }
  return longest
}

test('a hundred wrong passwords at once keep nothing else waiting, and are refused beyond a limit', async () => {
  const ask = await openGuard()
  const answers = Promise.all(Array.from({ length: 100 }, (_, index) => ask('admin', `wrong${index}`)))

  const longest = await longestPauseDuring(answers)

  const statuses = (await answers).map((answer) => answer!.status)
  // One or two at a time, and sixteen that wait.
  expect([17, 18]).toContain(statuses.filter((status) => status === 401).length)
  expect([82, 83]).toContain(statuses.filter((status) => status === 503).length)
  const refused = (await answers).find((answer) => answer!.status === 503)
  expect(refused).toMatchObject({
    headers: { 'retry-after': '1' },
    body: expect.stringContaining('try again') as string,
  })
  // A comparison on the event loop takes turns of a hundred milliseconds, and with a hundred none is left for others.
  expect(longest).toBeLessThan(2000)
})

test('who has been let in is let in at once, whatever others try', async () => {
  const ask = await openGuard()
  expect(await ask('admin', 'right')).toBeUndefined()
  const wrong = Promise.all(Array.from({ length: 400 }, (_, index) => ask('admin', `guess${index}`)))

  for (let count = 0; count < 20; count++) expect(await ask('admin', 'right')).toBeUndefined()

  await wrong
  expect(await ask('admin', 'right')).toBeUndefined()
})

test('an address that guesses does not shut out another, and its guesses come last', async () => {
  const ask = await openGuard()
  const order: string[] = []
  const guesses = Array.from({ length: 100 }, async (_, index) => {
    await ask('admin', `other${index}`)
    order.push('guess')
  })
  const other = ask('admin', 'right', '192.0.2.2').then((answer) => {
    order.push('right')
    return answer
  })

  expect(await other).toBeUndefined()
  await Promise.all(guesses)
  // Besides those that were refused at once.
  expect(order.indexOf('right')).toBeLessThan(order.length - 8)
})

test('the same password that many send at once is compared once', async () => {
  const ask = await openGuard()

  const answers = await Promise.all(Array.from({ length: 100 }, () => ask('admin', 'right')))

  expect(answers.every((answer) => answer === undefined)).toBe(true)
})

test('a user that the file does not have takes as long as one with a wrong password', async () => {
  const ask = await openGuard()
  await ask('admin', 'warm up')
  const times = { admin: Infinity, nobody: Infinity }
  const ratio = (): number => times.nobody / times.admin
  // The shortest times count; on a machine that is busy otherwise it takes more tries until both were undisturbed.
  for (let count = 0; count < 4 || (count < 60 && (ratio() <= 0.5 || ratio() >= 2)); count++)
    for (const user of ['admin', 'nobody'] as const) {
      const began = performance.now()
      expect(await ask(user, `guess ${count}`)).toMatchObject({ status: 401 })
      times[user] = Math.min(times[user], performance.now() - began)
    }

  expect(ratio()).toBeGreaterThan(0.5)
  expect(ratio()).toBeLessThan(2)
})

test('no user is let in by the password of another, or of none', async () => {
  const ask = await openGuard()

  for (const user of ['nobody', '', 'adm', 'admin ', '__proto__'])
    expect(await ask(user, 'right')).toMatchObject({ status: 401 })
})

test('a comparison that fails leaves the threads as they were', async () => {
  const comparisons = new PasswordComparisons(1)

  await expect(comparisons.isSame('x', 'not a hash', 'a')).resolves.toBe(false)
  await expect(comparisons.isSame(7 as unknown as string, hash, 'a')).rejects.toThrow('Illegal arguments')
  await expect(comparisons.isSame('right', hash, 'a')).resolves.toBe(true)
})
