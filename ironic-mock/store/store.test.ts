import Database from 'libsql'
import fc from 'fast-check'
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { VirtualClock } from '../../runtime/index.js'
import type { NodeRecord, PortRecord } from '../../wire/index.js'
import { chooseInterfaces, hardwareType } from '../drivers/hardware-types.js'
import { newNode, newPort } from '../conductor/records/new-records.js'
import { openStore } from './open-store.js'
import type { NewResource } from './store.js'

let folder: string
let files = 0
beforeAll(() => void (folder = mkdtempSync(join(tmpdir(), 'ironstage-store-'))))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const AT = '2026-01-01T00:00:00.000000'
const open = (path = ':memory:', clock = new VirtualClock()) => openStore({ path, clock })
const file = () => join(folder, `${++files}.db`)

function node(uuid: string, more: Partial<NodeRecord> = {}): Omit<NodeRecord, 'id'> {
  const fields = { driver: 'fake-hardware', ...more }
  return { ...newNode(fields, chooseInterfaces(hardwareType('fake-hardware', ''), {}), AT, uuid), ...more }
}
const port = (address: string, node_uuid: string, uuid = `port-${address}`): Omit<PortRecord, 'id'> =>
  newPort({ node_uuid, address }, 1, AT, uuid)

const portgroup = (uuid: string, node_uuid: string, more: Partial<NewResource<'portgroup'>> = {}) => ({
  uuid,
  node_uuid,
  node_id: 1,
  name: null,
  address: null,
  extra: {},
  internal_info: {},
  standalone_ports_supported: true,
  mode: 'active-backup',
  properties: {},
  physical_network: null,
  category: null,
  dynamic_portgroup: false,
  created_at: AT,
  updated_at: null,
  ...more,
})
const chassis = (uuid: string) => ({ uuid, description: null, extra: {}, created_at: AT, updated_at: null })

describe('a commit', () => {
  test('changes everything together, and answers with the next revision', async () => {
    const store = open()
    const { revision } = await store.createNode(node('a'))
    expect(revision).toBe(1)
    const next = await store.commit({
      node: 'a',
      expect: 1,
      patch: { provision_state: 'cleaning', last_error: 'x' },
      effects: [{ kind: 'power', payload: { target: 'power off' } }],
      deadlines: [{ kind: 'clean callback', at: 7 }],
      createPorts: [{ ...port('52:54:00:00:00:01', 'a'), id: 0 }],
      inventory: { inventory: { cpu: 1 }, plugin_data: {} },
      history: [{ uuid: 'h', created_at: AT, severity: 'INFO', event: 'e', event_type: 't', conductor: 'c' }],
    })
    expect(next).toBe(2)
    expect(await store.node('a')).toMatchObject({
      revision: 2,
      node: { id: 1, provision_state: 'cleaning', last_error: 'x' },
    })
    expect(await store.effects('a')).toEqual([{ id: 1, node: 'a', kind: 'power', payload: { target: 'power off' } }])
    expect(await store.deadlines()).toEqual([{ node: 'a', kind: 'clean callback', at: 7 }])
    expect(await store.ports({ node_uuid: 'a' })).toMatchObject([{ id: 1, address: '52:54:00:00:00:01' }])
    expect(await store.inventory('a')).toEqual({ inventory: { cpu: 1 }, plugin_data: {} })
    expect(await store.history('a')).toMatchObject([{ event: 'e' }])
  })

  test('that was made for another revision is refused, alone among those it shares a transaction with', async () => {
    const store = open()
    await Promise.all(['a', 'b'].map((uuid) => store.createNode(node(uuid))))
    const results = await Promise.allSettled([
      store.commit({ node: 'a', expect: 1, patch: { description: 'first' } }),
      store.commit({ node: 'a', expect: 1, patch: { description: 'second' } }),
      store.commit({ node: 'b', expect: 1, patch: { description: 'other' } }),
      store.commit({ node: 'gone', expect: 1, patch: {} }),
    ])
    expect(results.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled', 'rejected'])
    expect((results[1] as PromiseRejectedResult).reason).toMatchObject({ name: 'StaleRevision' })
    expect((await store.node('a'))?.node.description).toBe('first')
    expect((await store.node('b'))?.node.description).toBe('other')
  })

  test.each<[string, Partial<NodeRecord>]>([
    ['name', { name: 'taken' }],
    ['instance_uuid', { instance_uuid: 'taken' }],
  ])('with a %s that is taken is refused as a whole', async (field, patch) => {
    const store = open()
    await store.createNode(node('a', patch))
    await store.createNode(node('b'))
    const effects = [{ kind: 'k', payload: {} }]
    await expect(store.commit({ node: 'b', expect: 1, patch, effects })).rejects.toMatchObject({
      name: 'Duplicate',
      field,
      value: 'taken',
    })
    await expect(store.createNode(node('c', patch))).rejects.toMatchObject({ name: 'Duplicate', field })
    expect(await store.effects()).toEqual([])
    expect((await store.node('b'))?.revision).toBe(1)
    // Free again when its owner gives it up.
    await store.commit({ node: 'a', expect: 1, patch: { name: null, instance_uuid: null } })
    await store.commit({ node: 'b', expect: 1, patch })
  })

  test('with a MAC or uuid that is taken is refused', async () => {
    const store = open()
    await store.createNode(node('a'))
    await store.createPort(port('52:54:00:00:00:01', 'a'))
    await expect(store.createPort(port('52:54:00:00:00:01', 'a', 'p2'))).rejects.toMatchObject({ field: 'address' })
    const createPorts = [{ ...port('52:54:00:00:00:01', 'a', 'p3'), id: 0 }]
    await expect(store.commit({ node: 'a', expect: 1, createPorts })).rejects.toMatchObject({ field: 'address' })
    await expect(store.createNode(node('a'))).rejects.toMatchObject({ field: 'uuid' })
  })

  test('keeps the queue of a node in order, and drops what is done', async () => {
    const store = open()
    await store.createNode(node('a'))
    const effect = (n: number) => ({ kind: 'k', payload: { n } })
    await store.commit({ node: 'a', expect: 1, effects: [effect(1), effect(2)] })
    await store.commit({ node: 'a', expect: 2, done: 1, effects: [effect(3)] })
    expect((await store.effects('a')).map(({ id, payload }) => [id, payload.n])).toEqual([
      [2, 2],
      [3, 3],
    ])
    await store.commit({ node: 'a', expect: 3, dropEffects: true, effects: [effect(4)] })
    expect((await store.effects()).map(({ id }) => id)).toEqual([4])
  })

  test('holds the clock until it is written', async () => {
    const clock = new VirtualClock()
    const store = open(':memory:', clock)
    const writing = store.createNode(node('a'))
    expect(clock.holds()).toEqual(['writing the database'])
    await writing
    expect(clock.holds()).toEqual([])
  })
})

describe('further resources', () => {
  test('are found by uuid and name, listed, changed by field and removed', async () => {
    const store = open()
    await Promise.all(['a', 'b'].map((uuid) => store.createNode(node(uuid))))
    const { id } = await store.createResource('portgroup', portgroup('g1', 'a', { name: 'bond0' }))
    await store.createResource('portgroup', portgroup('g2', 'b'))
    expect(await store.resource('portgroup', 'bond0')).toMatchObject({ id, uuid: 'g1' })
    expect(await store.resource('chassis', 'g1')).toBeUndefined()
    expect(await store.resources('portgroup', { node_uuid: 'a' })).toMatchObject([{ uuid: 'g1' }])
    expect(await store.resources('portgroup', { sortDir: 'desc', limit: 1 })).toMatchObject([{ uuid: 'g2' }])
    const changes = ['mode', 'category'].map((field) =>
      store.updateResource('portgroup', 'g1', () => ({ [field]: 'x' })),
    )
    await Promise.all(changes)
    expect(await store.resource('portgroup', 'g1')).toMatchObject({ mode: 'x', category: 'x' })
    expect([await store.removeResource('portgroup', 'g1'), await store.removeResource('portgroup', 'g1')]).toEqual([
      true,
      false,
    ])
    expect(await store.updateResource('portgroup', 'g1', () => ({}))).toBeUndefined()
    expect((await store.createResource('portgroup', portgroup('g1', 'a', { name: 'bond0' }))).id).toBeGreaterThan(
      id + 1,
    )
  })

  test.each([
    ['uuid', portgroup('g1', 'b')],
    ['name', portgroup('g2', 'b', { name: 'bond0' })],
    ['address', portgroup('g2', 'b', { address: '52:54:00:00:00:01' })],
  ])('with a %s that is taken are refused', async (field, record) => {
    const store = open()
    await store.createNode(node('a'))
    await store.createResource('portgroup', portgroup('g1', 'a', { name: 'bond0', address: '52:54:00:00:00:01' }))
    await store.createResource('chassis', chassis('g1'))
    await expect(store.createResource('portgroup', record)).rejects.toMatchObject({ field, kind: 'portgroup' })
    const orphan = store.createResource('portgroup', portgroup('g3', 'gone'))
    await expect(orphan).rejects.toMatchObject({ name: 'Dangling' })
  })

  test('change with their node or not at all, and go with it', async () => {
    const store = open()
    await store.createNode(node('a'))
    await store.createResource('portgroup', portgroup('g1', 'a'))
    const create = { do: 'create', kind: 'portgroup', record: portgroup('g2', 'a', { name: 'bond0' }) } as const
    const rename = { do: 'patch', kind: 'portgroup', uuid: 'g1', patch: { name: 'bond0' } } as const
    const refused = store.commit({ node: 'a', expect: 1, patch: { name: 'n' }, resources: [create, rename] })
    await expect(refused).rejects.toMatchObject({ name: 'Duplicate', field: 'name' })
    await expect(
      store.commit({ node: 'a', expect: 1, resources: [create, { ...rename, uuid: 'gone' }] }),
    ).rejects.toMatchObject({ name: 'StaleRevision' })
    expect(await store.resources('portgroup', {})).toHaveLength(1)
    await store.commit({ node: 'a', expect: 1, resources: [create, { do: 'remove', kind: 'portgroup', uuid: 'g1' }] })
    expect(await store.resources('portgroup', {})).toMatchObject([{ uuid: 'g2' }])
    await store.createResource('chassis', chassis('c'))
    await store.removeNode('a', 2)
    expect([await store.resources('portgroup', {}), await store.resources('chassis', {})]).toMatchObject([
      [],
      [{ uuid: 'c' }],
    ])
  })
})

test('an allocation goes when its node loses its instance', async () => {
  const store = open()
  await store.createNode(node('a'))
  const allocation: NewResource<'allocation'> = {
    uuid: 'i',
    node_id: null,
    node_uuid: null,
    name: null,
    state: 'allocating',
    last_error: null,
    resource_class: 'x',
    traits: [],
    candidate_nodes: [],
    extra: {},
    owner: null,
    created_at: AT,
    updated_at: null,
  }
  const { id } = await store.createResource('allocation', allocation)
  await store.commit({
    node: 'a',
    expect: 1,
    patch: { instance_uuid: 'i', allocation_id: id },
    resources: [{ do: 'patch', kind: 'allocation', uuid: 'i', patch: { node_uuid: 'a', node_id: 1, state: 'active' } }],
  })
  expect(await store.resources('allocation', { node_uuid: 'a' })).toMatchObject([{ uuid: 'i', state: 'active' }])
  await store.commit({ node: 'a', expect: 2, patch: { instance_uuid: null } })
  expect(await store.resources('allocation', {})).toEqual([])
  expect((await store.node('a'))?.node.allocation_id).toBeNull()
})

test('nothing names what is not there', async () => {
  const store = open()
  await expect(store.createNode({ ...node('a'), chassis_id: 7 })).rejects.toMatchObject({ name: 'Dangling' })
  await store.createNode(node('a'))
  const orphans = [
    store.commit({ node: 'a', expect: 1, patch: { chassis_id: 7 } }),
    store.createPort({ ...port('52:54:00:00:00:01', 'a'), portgroup_id: 7 }),
    store.createPort(port('52:54:00:00:00:01', 'gone')),
  ]
  for (const orphan of orphans) await expect(orphan).rejects.toMatchObject({ name: 'Dangling' })
})

test('records that come out are copies', async () => {
  const store = open()
  await store.createNode(node('a', { extra: { list: [1] } }))
  await store.createPort(port('52:54:00:00:00:01', 'a'))
  ;((await store.node('a'))!.node.extra.list as number[]).push(2)
  ;(await store.nodes({}))[0]!.name = 'changed'
  ;(await store.ports({}))[0]!.address = 'changed'
  expect((await store.node('a'))?.node).toMatchObject({ name: null, extra: { list: [1] } })
  expect((await store.ports({}))[0]?.address).toBe('52:54:00:00:00:01')
})

test('a node goes with all that is its own', async () => {
  const store = open()
  await store.createNode(node('a', { name: 'n' }))
  await store.createPort(port('52:54:00:00:00:01', 'a'))
  const history = [
    { uuid: 'h', created_at: AT, severity: 'INFO' as const, event: 'e', event_type: 't', conductor: 'c' },
  ]
  await store.commit({
    node: 'a',
    expect: 1,
    effects: [{ kind: 'k', payload: {} }],
    deadlines: [{ kind: 'd', at: 1 }],
    history,
    inventory: { inventory: {}, plugin_data: {} },
  })
  await expect(store.removeNode('a', 1)).rejects.toMatchObject({ name: 'StaleRevision' })
  await store.removeNode('a', 2)
  expect([
    await store.nodes({}),
    await store.ports({}),
    await store.effects(),
    await store.deadlines(),
    await store.history('a'),
  ]).toEqual([[], [], [], [], []])
  expect(await store.inventory('a')).toBeUndefined()
  expect(await store.node('n')).toBeUndefined()
  // The same names may be used again; ids are not.
  expect((await store.createNode(node('a', { name: 'n' }))).node.id).toBe(2)
})

describe('lists', () => {
  const filled = async () => {
    const store = open()
    const names = ['c', 'a', 'd', 'b']
    for (const name of names)
      await store.createNode(
        node(`u-${name}`, {
          name,
          provision_state: name < 'c' ? 'available' : 'active',
          owner: name === 'd' ? null : 'o',
        }),
      )
    return {
      store,
      names: async (query: Parameters<typeof store.nodes>[0]) => (await store.nodes(query)).map((item) => item.name),
    }
  }

  test.each<[string, Parameters<ReturnType<typeof open>['nodes']>[0], string[]]>([
    ['in the order of creation', {}, ['c', 'a', 'd', 'b']],
    ['the other way round', { sortDir: 'desc' }, ['b', 'd', 'a', 'c']],
    ['by a field', { sortKey: 'name' }, ['a', 'b', 'c', 'd']],
    ['by a field, downwards', { sortKey: 'name', sortDir: 'desc' }, ['d', 'c', 'b', 'a']],
    ['with nulls first, equals as created', { sortKey: 'owner' }, ['d', 'c', 'a', 'b']],
    ['a page', { limit: 2 }, ['c', 'a']],
    ['the next page', { limit: 2, marker: 'u-a' }, ['d', 'b']],
    ['a sorted page', { sortKey: 'name', limit: 2, marker: 'u-b' }, ['c', 'd']],
    ['of a state', { provision_state: 'available' }, ['a', 'b']],
    ['of a state, a page', { provision_state: 'available', limit: 1, marker: 'u-a' }, ['b']],
    ['by uuid', { uuids: ['u-d', 'u-a', 'u-x'] }, ['a', 'd']],
    ['by anything', { where: (item) => item.owner === null }, ['d']],
  ])('%s', async (_, query, expected) => {
    const { names } = await filled()
    expect(await names(query)).toEqual(expected)
  })
})

describe('on disk', () => {
  test('what was answered is there after a kill, what was not is not', async () => {
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

  test('work that is queued after a kill gets a number that none has', async () => {
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

  test('closing writes what waits', async () => {
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

  test('nothing that was taken out or replaced is left in the file', async () => {
    const path = file()
    const store = open(path)
    const secret = `canary-${'x'.repeat(40)}`
    await store.createNode({ ...node('a'), instance_info: { configdrive: secret } })
    await store.commit({ node: 'a', expect: 1, patch: { instance_info: {} } })
    await store.createNode({ ...node('b'), instance_info: { configdrive: secret } })
    await store.removeNode('b', 1)
    await store[Symbol.asyncDispose]()
    const own = readdirSync(folder).filter((name) => name.startsWith(basename(path)))
    const bytes = own.map((name) => readFileSync(join(folder, name), 'latin1'))
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

  test('a database of version 1 gets the table that it lacks', async () => {
    const path = file()
    await open(path)[Symbol.asyncDispose]()
    const db = new Database(path)
    db.exec('DROP TABLE resources; DROP TABLE resource_ids; PRAGMA user_version = 1')
    db.close()
    const again = open(path)
    expect(await again.createResource('chassis', chassis('c'))).toMatchObject({ uuid: 'c' })
    await again[Symbol.asyncDispose]()
  })

  test('memory and database never differ, whatever was done', async () => {
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
