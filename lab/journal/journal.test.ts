import { describe, expect, test } from 'vitest'
import type { JournalEntry } from '../../control/journal/entry.js'
import { Journal, TooSlow } from './journal.js'
import { maskedMessage, maskedTarget } from './mask-message.js'
import { nearMiss } from './near-miss.js'

function journalOf(options: { capacity?: number; bytes?: number } = {}) {
  let now = 0
  const journal = new Journal({ now: () => now, wallNow: () => 5, ...options })
  const add = (what: string, bytes = 0): void => {
    now += 1000
    journal.add({ kind: 'lab', node: null, name: null, machine: null, fault: null, what }, bytes)
  }
  return { journal, add }
}
const words = (entries: readonly JournalEntry[]) => entries.map((entry) => (entry.kind === 'lab' ? entry.what : ''))

describe('the ring', () => {
  test('keeps as many entries as it has room for, and counts them all', () => {
    const { journal, add } = journalOf({ capacity: 3 })
    for (const what of ['a', 'b', 'c', 'd', 'e']) add(what)
    expect([words(journal.entries()), journal.first, journal.last]).toEqual([['c', 'd', 'e'], 3, 5])
    expect(journal.entries()[0]).toMatchObject({ id: 3, labTime: '1970-01-01T00:00:03.000Z' })
  })

  test('drops the oldest when their bodies take too much room, and never the last', () => {
    const { journal, add } = journalOf({ bytes: 100 })
    for (const what of ['a', 'b', 'c']) add(what, 40)
    expect(words(journal.entries())).toEqual(['b', 'c'])
    add('large', 1000)
    expect(words(journal.entries())).toEqual(['large'])
  })

  test('is asked by id and time', () => {
    const { journal, add } = journalOf()
    for (const what of ['a', 'b', 'c', 'd']) add(what)
    expect(words(journal.entries({ after: 1 }, 2))).toEqual(['b', 'c'])
    expect(words(journal.entries({ since: 2000, until: 4000 }))).toEqual(['b', 'c'])
  })
})

describe('a reader', () => {
  test('gets what there is, then what comes, and ends when it is asked to', async () => {
    const { journal, add } = journalOf()
    add('before')
    const over = new AbortController()
    const seen: string[] = []
    const reading = (async () => {
      for await (const entries of journal.follow({}, over.signal)) {
        seen.push(...words(entries))
        if (seen.at(-1) === 'last') over.abort()
      }
    })()
    await new Promise((resolve) => setImmediate(resolve))
    add('between')
    add('last')
    await reading
    expect(seen).toEqual(['before', 'between', 'last'])
  })

  test('gets large entries in small parts, and all of them: what it does not take yet is little', async () => {
    const { journal, add } = journalOf()
    const all = Array.from({ length: 9 }, (_, n) => `entry ${n}`)
    for (const what of all) add(what, 64 * 1024)
    const reader = journal.follow({}, new AbortController().signal, { isPatient: true })
    const parts: string[][] = []
    while (parts.flat().length < all.length) parts.push(words((await reader.next()).value as JournalEntry[]))
    expect(parts.map((part) => part.length)).toEqual([2, 2, 2, 2, 1])
    expect(parts.flat()).toEqual(all)
    await reader.return(undefined)
  })

  test('shares what it found with those of the same query, also where readers of another one came in between', async () => {
    const { journal } = journalOf()
    const over = new AbortController()
    const readers = ['node-1', 'node-2', 'node-1'].map((node) =>
      journal.follow({ node }, over.signal, { isPatient: true }),
    )
    const coming = readers.map((reader) => reader.next())
    for (const name of ['node-1', 'node-2'])
      journal.add({ kind: 'state', node: `uuid of ${name}`, name, from: 'enroll', to: 'verifying' } as never)
    const [first, other, second] = (await Promise.all(coming)).map(({ value }) => value as JournalEntry[])
    expect(first!.map(({ id }) => id)).toEqual([1])
    expect(other!.map(({ id }) => id)).toEqual([2])
    expect(second).toBe(first)
    over.abort()
    await Promise.all(readers.map((reader) => reader.return(undefined)))
  })

  test('behind a socket ends when it is asked to while it waits', async () => {
    const { journal } = journalOf()
    const over = new AbortController()
    const next = journal.follow({}, over.signal, { isPatient: true }).next()
    await new Promise((resolve) => setImmediate(resolve))
    over.abort()
    expect(await next).toEqual({ done: true, value: undefined })
  })

  test('that is so slow that entries are gone is told so', async () => {
    const { journal, add } = journalOf({ capacity: 2 })
    add('a')
    const reader = journal.follow({}, new AbortController().signal)
    await reader.next()
    for (const what of ['b', 'c', 'd', 'e']) add(what)
    await expect(reader.next()).rejects.toBeInstanceOf(TooSlow)
  })
})

test('secrets of headers, bodies, patches and queries are masked', () => {
  const patch = JSON.stringify([{ op: 'add', path: '/driver_info/redfish_password', value: 'hunter2' }])
  const body = JSON.stringify({
    driver_info: { redfish_password: 'hunter2', redfish_username: 'admin' },
    agent_token: 'hunter2',
    configdrive: { user_data: 'hunter2' },
    url: 'http://me:hunter2@host/',
    args: { ignition: { ignition: { version: '3.4.0' }, passwd: 'hunter2' } },
  })
  const shown = JSON.stringify([
    maskedMessage({ authorization: 'Basic hunter2', 'x-auth-token': 'hunter2' }, body, 1),
    maskedMessage({}, patch, 1),
    maskedTarget('/v1/commands/?wait=true&agent_token=hunter2'),
  ])
  expect(shown).not.toContain('hunter2')
  expect(shown).toContain('admin')
})

test.each([
  ['GET', '/v1/node', 404, 'GET /v1/nodes', 'the path has node and not nodes'],
  ['GET', '/v1/nodes/node-3', 404, 'node node-1', 'there is no node node-3'],
  [
    'POST',
    '/v1/nodes/node-1/states/provision',
    405,
    'PUT /v1/nodes/{node_ident}/states/provision',
    'the method is POST and not PUT',
  ],
  [
    'PUT',
    '/v1/nodes/node-1/states/provisio',
    404,
    'PUT /v1/nodes/{node_ident}/states/provision',
    'the path has provisio and not provision',
  ],
])('%s %s, which led nowhere, comes nearest to what was meant', (method, target, status, nearest, why) => {
  const missed = nearMiss({ to: 'ironic', method, target, status, version: '1.95' }, () => ['node-1', 'metal'])
  expect(missed).toEqual({ nearest, why })
})
