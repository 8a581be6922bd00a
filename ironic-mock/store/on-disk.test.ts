import Database from 'libsql'
import fc from 'fast-check'
import { randomBytes } from 'node:crypto'
import {
  closeSync,
  copyFileSync,
  openSync,
  readdirSync,
  readFileSync,
  statSync,
  truncateSync,
  writeSync,
} from 'node:fs'
import { basename, join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { readMark, replaceMark, VirtualClock } from '../../base/runtime/index.js'
import { openStore } from './open-store.js'
import { emptyState } from './store-state.js'
import { writeOlderIronic } from '../../test/kit/older-database.js'
import { chassis, databaseFiles, node, open, port, portgroup } from '../../test/kit/store-records.js'

const { folder, file } = databaseFiles()

/** The files as a kill at this moment would leave them. */
function killedCopy(path: string): string {
  const copy = file()
  for (const end of ['', '-wal', '-mark']) copyFileSync(path + end, copy + end)
  return copy
}

const bytesOf = (path: string): Buffer[] => ['', '-wal', '-mark'].map((end) => readFileSync(path + end))

function overwrite(path: string, at: number, bytes: Buffer): void {
  const opened = openSync(path, 'r+')
  writeSync(opened, bytes, 0, bytes.length, at)
  closeSync(opened)
}

describe('on disk', () => {
  test('an answered commit survives a kill, an unanswered one does not', async () => {
    const path = file()
    const store = open(path)
    await store.createNode(node('a'))
    await store.commit({ node: 'a', expect: 1, patch: { description: 'kept' } })
    void store.commit({ node: 'a', expect: 2, patch: { description: 'never answered' } })
    store.abandon()
    const again = open(path)
    expect((await again.node('a'))?.node.description).toBe('kept')
    await again[Symbol.asyncDispose]()
  })

  test('effects queued after a kill get unused ids', async () => {
    const path = file()
    const store = open(path)
    for (const uuid of ['a', 'b']) await store.createNode(node(uuid))
    const effects = [{ kind: 'k', payload: {} }]
    await store.commit({ node: 'a', expect: 1, effects })
    for (let done = 1; done < 4; done++) await store.commit({ node: 'a', expect: done + 1, done, effects })
    store.abandon()
    const again = open(path)
    for (const expect of [1, 2, 3, 4]) await again.commit({ node: 'b', expect, effects })
    expect((await again.effects()).map(({ id, node: of }) => [id, of])).toEqual([
      [4, 'a'],
      ...[5, 6, 7, 8].map((id) => [id, 'b']),
    ])
    await again[Symbol.asyncDispose]()
  })

  test('closing writes the queued commits', async () => {
    const path = file()
    const store = open(path)
    const written = store.createNode(node('a'))
    await store[Symbol.asyncDispose]()
    await written
    const again = open(path)
    expect(await again.nodes({})).toHaveLength(1)
    await again[Symbol.asyncDispose]()
    await expect(again.createNode(node('b'))).rejects.toThrow('closed')
  })

  test('removed and replaced values are erased from the file', async () => {
    const path = file()
    const store = open(path)
    const secret = `canary-${'x'.repeat(40)}`
    await store.createNode({ ...node('a'), instance_info: { configdrive: secret } })
    await store.commit({ node: 'a', expect: 1, patch: { instance_info: {} } })
    await store.createNode({ ...node('b'), instance_info: { configdrive: secret } })
    await store.removeNode('b', 1)
    await store[Symbol.asyncDispose]()
    const own = readdirSync(folder()).filter((name) => name.startsWith(basename(path)))
    const bytes = own.map((name) => readFileSync(join(folder(), name), 'latin1'))
    expect(bytes.join('')).not.toContain('canary-')
  })

  test('a database of another version is refused with a remedy', () => {
    const path = file()
    const db = new Database(path)
    db.exec('PRAGMA user_version = 99')
    db.close()
    expect(() => open(path)).toThrow(
      expect.objectContaining({ code: 'store-version', remedy: expect.any(String) as string }) as Error,
    )
  })

  test.each<[string, (log: string) => void]>([
    ['empty', (log) => truncateSync(log)],
    ['cut short', (log) => truncateSync(log, statSync(log).size - 100)],
    ['overwritten at its start', (log) => overwrite(log, 0, randomBytes(512))],
    ['zeroed within', (log) => overwrite(log, statSync(log).size - 12_000, Buffer.alloc(4096))],
  ])('a log that is %s after a kill is damage, and a refusal changes no file', async (_, damage) => {
    const path = file()
    const store = open(path)
    await store.createNode(node('a'))
    for (let expect = 1; expect < 6; expect++)
      await store.commit({ node: 'a', expect, patch: { description: `change ${expect}` } })
    const copy = killedCopy(path)
    store.abandon()
    damage(`${copy}-wal`)
    const before = bytesOf(copy)
    const cause = /^of the \d+ changes of .+ lost: its log .+-wal is torn/
    expect(() => open(copy)).toThrow(
      expect.objectContaining({
        code: 'damaged-state',
        message: `the database ${copy} is damaged`,
        cause: expect.objectContaining({ message: expect.stringMatching(cause) as string }) as Error,
      }) as Error,
    )
    expect(bytesOf(copy)).toEqual(before)
  })

  test.each([
    ['commits do not wait for the disk: what is lost is said, and the start goes on', false],
    ['commits wait for the disk: it is damage', true],
  ])('a log that lost its end in another boot of the host, where %s', async (_, durable) => {
    const path = file()
    const clock = new VirtualClock()
    const store = openStore({ path, clock, durable })
    await store.createNode(node('a'))
    await store.createNode(node('b'))
    const copy = killedCopy(path)
    store.abandon()
    truncateSync(`${copy}-wal`, statSync(`${copy}-wal`).size - 100)
    replaceMark(copy, { ...readMark(copy)!, boot: 'an earlier one' })
    const losses: string[] = []
    const start = () => openStore({ path: copy, clock, onLoss: (sentence) => losses.push(sentence) })
    if (durable) return expect(start).toThrow(expect.objectContaining({ code: 'damaged-state' }) as Error)
    const again = start()
    expect([...again.records.nodes.keys()]).toEqual(['a'])
    expect(losses).toEqual([
      `of the 3 changes of ${basename(copy)} the last one is lost: the host went down before they were on its disk`,
    ])
    await again[Symbol.asyncDispose]()
    await open(copy)[Symbol.asyncDispose]()
  })

  test('a commit whose mark was not written any more is there', async () => {
    const path = file()
    const store = open(path)
    await store.createNode(node('a'))
    const mark = readMark(path)!
    await store.createNode(node('b'))
    const copy = killedCopy(path)
    store.abandon()
    replaceMark(copy, mark)
    expect([...open(copy).records.nodes.keys()]).toEqual(['a', 'b'])
  })

  test('contents that are put in the place of others are one change: a kill leaves the one or the other', async () => {
    const path = file()
    const store = open(path)
    await store.createNode(node('a'))
    await store[Symbol.asyncDispose]()
    const emptied = openStore({ path, clock: new VirtualClock(), from: emptyState() })
    expect(await emptied.nodes({})).toEqual([])
    expect(await emptied.createNode(node('b'))).toMatchObject({ node: { id: 1 } })
    emptied.abandon()
    expect([...open(path).records.nodes.keys()]).toEqual(['b'])
  })

  test.each([1, 2] as const)(
    'a database of version %s is brought up to date with all that is in it',
    async (version) => {
      const path = file()
      writeOlderIronic(path, version)
      for (let start = 0; start < 2; start++) {
        const again = open(path)
        expect(await again.node('a')).toMatchObject({ node: { uuid: 'a', name: 'a' }, revision: 4 })
        expect(await again.deadlines()).toEqual([{ node: 'a', kind: 'd', at: 5.5 }])
        expect(await again.history('a')).toEqual([{ event: 'one' }])
        expect(await again.effects()).toEqual([{ id: 1, node: 'a', kind: 'k', payload: { n: 1 } }])
        await again[Symbol.asyncDispose]()
      }
      const again = open(path)
      expect(again.nodeListNow('a', 'traits' as never)).toEqual(version === 2 ? ['CUSTOM_X'] : [])
      // Ids that were given are not given again.
      expect(await again.createPort(port('52:54:00:00:00:01', 'a'))).toMatchObject({ id: 10 })
      const { id } = await again.createResource('chassis', chassis('c'))
      expect(id).toBe(version === 2 ? 8 : 1)
      await again[Symbol.asyncDispose]()
    },
  )

  test('memory and database are equal after any sequence of changes', async () => {
    const uuids = ['a', 'b', 'c']
    const step = fc.record({
      what: fc.constantFrom(
        'create',
        'remove',
        'patch',
        'queue',
        'done',
        'drop',
        'limit',
        'lift',
        'port',
        'unport',
        'group',
        'regroup',
        'ungroup',
        'with',
      ),
      uuid: fc.constantFrom(...uuids),
      n: fc.nat(3),
    })
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 40 }), async (steps) => {
        const path = file()
        const store = open(path)
        await Promise.all(
          steps
            .map(async ({ what, uuid, n }) => {
              const expect = store.records.nodes.get(uuid)?.revision ?? 0
              const commit = (change: object) => store.commit({ node: uuid, expect, ...change })
              const done = store.records.effects.get(uuid)?.[0]?.id ?? -1
              const mac = `52:54:00:00:00:0${n}`
              if (what === 'create') await store.createNode(node(uuid, { name: `n${n}` }))
              if (what === 'remove') await store.removeNode(uuid, expect)
              if (what === 'patch') await commit({ patch: { name: `n${n}`, instance_uuid: n === 0 ? null : `i${n}` } })
              if (what === 'queue') await commit({ effects: [{ kind: 'k', payload: { n } }] })
              if (what === 'done') await commit({ done, effects: n > 1 ? [{ kind: 'k', payload: { n } }] : [] })
              if (what === 'drop') await commit({ dropEffects: true })
              if (what === 'limit') await commit({ deadlines: [{ kind: `d${n}`, at: n }] })
              if (what === 'lift') await commit({ deadlines: [{ kind: `d${n}`, at: null }] })
              if (what === 'port') await store.createPort(port(mac, uuid))
              if (what === 'unport') await store.removePort(`port-${mac}`)
              const group = { uuid: `g${n}`, record: portgroup(`g${n}`, uuid, { name: `${uuid}${n % 2}` }) }
              if (what === 'group') await store.createResource('portgroup', group.record)
              if (what === 'regroup')
                await store.updateResource('portgroup', group.uuid, () => ({
                  address: n === 0 ? null : mac,
                  node_uuid: uuid,
                }))
              if (what === 'ungroup') await store.removeResource('portgroup', group.uuid)
              if (what === 'with')
                await commit({
                  resources: [
                    { do: 'create', kind: 'portgroup', record: group.record },
                    { do: 'patch', kind: 'portgroup', uuid: `g${(n + 1) % 4}`, patch: { mode: what } },
                    { do: 'remove', kind: 'portgroup', uuid: `g${(n + 2) % 4}` },
                  ],
                })
            })
            .map((work, index) =>
              index % 3 === 0
                ? work.then(
                    () => {},
                    () => {},
                  )
                : work.catch(() => {}),
            ),
        )
        const look = async (s: ReturnType<typeof open>) => [
          await s.nodes({}),
          await s.ports({}),
          await s.effects(),
          (await s.deadlines()).sort((x, y) => `${x.node}${x.kind}`.localeCompare(`${y.node}${y.kind}`)),
          await Promise.all(uuids.map(async (uuid) => (await s.node(uuid))?.revision)),
          await s.resources('portgroup', {}),
          await Promise.all(uuids.map((uuid) => s.resources('portgroup', { node_uuid: uuid }))),
          await Promise.all(['a0', 'a1', 'b0', 'c1'].map(async (name) => (await s.resource('portgroup', name))?.uuid)),
          await Promise.all(['n0', 'n1', 'n2', 'n3'].map(async (name) => (await s.node(name))?.node.uuid)),
        ]
        const before = await look(store)
        store.abandon()
        const again = open(path)
        expect(await look(again)).toEqual(before)
        again.abandon()
      }),
      { numRuns: 40 },
    )
  })
})
