import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { randomUuid, seededRandom } from '../../../base/runtime/index.js'
import type { DatabaseAddress } from '../../../ironic-mock/store/postgres/database-address.js'
import { CuttableLink } from '../../kit/cuttable-link.js'
import { addressOf, nodesOf, openMember, type OpenMember } from '../../kit/members/member-cluster.js'
import { startTimer } from '../../kit/passed-time.js'
import { PostgresServer } from '../postgres.js'

let server: PostgresServer
beforeAll(async () => {
  server = await PostgresServer.open({ access: ['host all postgres 127.0.0.1/32 trust'] })
})
afterAll(() => server[Symbol.asyncDispose]())

const random = seededRandom(39)
const NODES = nodesOf(Array.from({ length: 600 }, () => randomUuid(random)))

/**
 * Milliseconds until the nodes of a killed process are another's: the best of several. `npm run bench -- database` measures
 * it, against 100 ms.
 */
const KILL_LIMIT = 1000

let schemas = 0
const newSchema = (): DatabaseAddress => addressOf(server, `cluster${++schemas}`)

/** Looks at the owners of all nodes until it is disposed of: no node may have two. */
class OwnerWatch implements Disposable {
  #twice = 0
  #looks = 0
  readonly #members: readonly OpenMember[]
  readonly #timer: NodeJS.Timeout

  constructor(members: readonly OpenMember[]) {
    this.#members = members
    this.#timer = setInterval(() => this.#look(), 2)
  }

  #look(): void {
    this.#looks++
    for (const node of NODES) if (this.#members.filter(({ members }) => members.owns(node)).length > 1) this.#twice++
  }

  [Symbol.dispose](): void {
    clearInterval(this.#timer)
    expect(this.#looks).toBeGreaterThan(0)
    expect(this.#twice).toBe(0)
  }
}

const ownedBy = (members: readonly OpenMember[]): boolean =>
  NODES.every((node) => members.some(({ members: each }) => each.owns(node)))

/** True once each node is owned by the member that the ring of these members gives it. */
const isBalanced = (members: readonly OpenMember[]): boolean =>
  NODES.every((node) =>
    members.every(({ host, members: each }) => each.owns(node) === (each.holderOf(node) === host)),
  ) && ownedBy(members)

/** Milliseconds until something is so, without those in which programs waited for a processor. */
async function timeUntil(isSo: () => boolean): Promise<number> {
  const passed = startTimer()
  await expect.poll(isSo, { interval: 2 }).toBe(true)
  return passed().unhindered
}

/** Shards of this schema that are locked more than once, as the database sees them. */
async function lockedTwice(): Promise<string> {
  return server.sql(
    `select count(*) from (select classid, objid from pg_locks where locktype = 'advisory' and mode = 'ExclusiveLock' and granted
       group by classid, objid having count(distinct pid) > 1) as twice`,
  )
}

test('members that join and leave share all shards, as the ring says, and none has two owners', async () => {
  const address = newSchema()
  await using first = await openMember(address, { host: 'conductor-0' })
  expect(ownedBy([first])).toBe(true)
  await using second = await openMember(address, { host: 'conductor-1' })
  {
    using _watch = new OwnerWatch([first, second])
    await timeUntil(() => isBalanced([first, second]))
  }
  const third = await openMember(address, { host: 'conductor-2' })
  {
    using _watch = new OwnerWatch([first, second, third])
    await timeUntil(() => isBalanced([first, second, third]))
    expect(await lockedTwice()).toBe('0')
    expect(first.members.conductors().map(({ host, alive }) => [host, alive])).toEqual([
      ['conductor-0', true],
      ['conductor-1', true],
      ['conductor-2', true],
    ])
    await third[Symbol.asyncDispose]()
    await timeUntil(() => isBalanced([first, second]))
  }
  expect(first.members.conductors().map(({ alive }) => alive)).toEqual([true, true, false])
  expect(new Set(second.heard)).toEqual(new Set(['rested', 'gone conductor-2']))
})

test('a member whose connection is ended loses its shards at once, and gets them back as the only one that had them', async () => {
  const address = newSchema()
  await using first = await openMember(address, { host: 'conductor-0' })
  await using second = await openMember(address, { host: 'conductor-1' })
  await timeUntil(() => isBalanced([first, second]))
  using _watch = new OwnerWatch([first, second])
  await server.sql(`select pg_terminate_backend(${second.store.others!.session.backend})`)
  const lost = await timeUntil(() => ownedBy([first]) || second.heard.includes('lost'))
  expect(lost).toBeLessThan(2000)
  await timeUntil(() => isBalanced([first, second]))
})

test('the nodes of a process whose connection ends without a word are another’s within a moment', async () => {
  const address = newSchema()
  await using first = await openMember(address, { host: 'conductor-0' })
  let best = Infinity
  for (const host of ['conductor-1', 'conductor-2', 'conductor-3']) {
    const second = await openMember(address, { host })
    await timeUntil(() => isBalanced([first, second]))
    second.store.abandon()
    best = Math.min(best, await timeUntil(() => ownedBy([first])))
    expect(first.heard).toContain('abandoned')
    expect(first.heard).toContain(`gone ${host}`)
  }
  expect(best).toBeLessThan(KILL_LIMIT)
})

test('a member behind a link that is half open stops before others take over, within 5 s', async () => {
  const address = newSchema()
  await using link = await CuttableLink.open(server.port)
  await using first = await openMember(address, { host: 'conductor-0' })
  await using second = await openMember(addressOf(link, address.schema), { host: 'conductor-1' })
  await timeUntil(() => isBalanced([first, second]))
  await sleep(2500)
  using _watch = new OwnerWatch([first, second])
  link.stall()
  const taken = await timeUntil(() => ownedBy([first]))
  expect(taken).toBeLessThan(5000)
  link.cut()
  link.resume()
  await timeUntil(() => isBalanced([first, second]))
})

const PROGRAM = fileURLToPath(new URL('../peers/member.mjs', import.meta.url))

/** A member as a process of its own. */
class MemberProcess implements AsyncDisposable {
  /** Nodes that it says are its own. */
  owned = 0
  #errors = ''

  private constructor(readonly child: ChildProcess) {
    child.stdout!.setEncoding('utf8').on('data', (text: string) => {
      for (const [, count] of text.matchAll(/(\d+) nodes/g)) this.owned = Number(count)
    })
    child.stderr!.setEncoding('utf8').on('data', (text: string) => (this.#errors += text))
  }

  static start(schema: string, host: string): MemberProcess {
    const env = { ...process.env, NODES: NODES.map(({ uuid }) => uuid).join() }
    const argv = [PROGRAM, String(server.port), schema, host]
    return new MemberProcess(spawn(process.execPath, argv, { env, stdio: ['ignore', 'pipe', 'pipe'] }))
  }

  /** @throws with its errors when it has ended */
  isAlive(): boolean {
    if (this.child.exitCode !== null) throw new Error(`the member has ended: ${this.#errors}`)
    return true
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.child.exitCode !== null || this.child.signalCode !== null) return
    const ended = once(this.child, 'exit')
    this.child.kill('SIGKILL')
    await ended
  }
}

test('the nodes of a stopped process are another’s within 10 s, and it gives them up; of a killed one within a moment', async () => {
  const address = newSchema()
  await using first = await openMember(address, { host: 'conductor-0' })
  await using second = MemberProcess.start(address.schema, 'conductor-1')
  await timeUntil(() => second.isAlive() && second.owned > 0)
  await sleep(2500)
  second.child.kill('SIGSTOP')
  const stopped = await timeUntil(() => ownedBy([first]))
  expect(stopped).toBeLessThan(10_000)
  const before = second.owned
  second.child.kill('SIGCONT')
  // It has nothing at first, and then its share again.
  await timeUntil(() => second.owned !== before || !ownedBy([first]))
  await timeUntil(() => second.isAlive() && second.owned > 0 && !ownedBy([first]))
  const kill = async (process: MemberProcess): Promise<number> => {
    process.child.kill('SIGKILL')
    return timeUntil(() => ownedBy([first]))
  }
  const times = [await kill(second)]
  for (const host of ['conductor-2', 'conductor-3']) {
    await using next = MemberProcess.start(address.schema, host)
    await timeUntil(() => next.isAlive() && next.owned > 0 && !ownedBy([first]))
    times.push(await kill(next))
  }
  expect(Math.min(...times)).toBeLessThan(KILL_LIMIT)
  expect(await lockedTwice()).toBe('0')
})

test('a database without place for all locks is refused in a sentence, and takes those of fewer hardware types', async () => {
  await using small = await PostgresServer.open({
    access: ['host all postgres 127.0.0.1/32 trust'],
    settings: { max_connections: 10, max_locks_per_transaction: 10, max_worker_processes: 1, max_wal_senders: 0 },
  })
  const address = addressOf(small, 'locks')
  const many = Array.from({ length: 24 }, (_, place) => `driver-${place}`)
  await expect(openMember(address, { host: 'conductor-0', drivers: many })).rejects.toMatchObject({
    code: 'database-unfit',
    message: expect.stringMatching(
      /^the database has no place for \d+ more locks, of which each conductor group takes 256/,
    ),
  })
  await using first = await openMember(address, { host: 'conductor-1' })
  await using second = await openMember(address, { host: 'conductor-2' })
  await timeUntil(() => isBalanced([first, second]))
  const locks = () => small.sql("select count(*) from pg_locks where locktype = 'advisory' and mode = 'ExclusiveLock'")
  await expect.poll(locks).toBe('256')
})

test('two living processes cannot have one name', async () => {
  const address = newSchema()
  await using _first = await openMember(address, { host: 'conductor-0' })
  const second = openMember(address, { host: 'conductor-0' })
  await expect(second).rejects.toThrow('another process of this database is called conductor-0')
})

test('an API has no nodes, and knows who has them; without conductors none does', async () => {
  const address = newSchema()
  await using api = await openMember(address, { host: 'api-0', role: 'api' })
  expect(NODES.filter((node) => api.members.owns(node) || api.members.holderOf(node) !== null)).toEqual([])
  expect(api.members.conductors()).toEqual([])
  await using conductor = await openMember(address, { host: 'conductor-0', group: 'rack-1', role: 'conductor' })
  await timeUntil(() => api.members.serves('rack-1', 'fake-hardware'))
  expect(api.members.serves('', 'fake-hardware')).toBe(false)
  const [node] = nodesOf(['4c9e2fd0-7d4d-4b4a-9d0c-5b1f1f2f3c11'], 'fake-hardware', 'rack-1')
  expect(api.members.holderOf(node!)).toBe('conductor-0')
  expect(conductor.members.owns(node!)).toBe(true)
})
