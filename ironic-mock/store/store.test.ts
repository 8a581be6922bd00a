import { describe, expect, test } from 'vitest'
import { AT, databaseFiles, node, open as openAt, port } from '../../test/kit/store-records.js'
import { VirtualClock } from '../../base/runtime/index.js'
import type { NodeRecord } from '../../base/wire/index.js'

const { file } = databaseFiles()

describe.each<[string, () => string | undefined]>([
  ['in memory', () => undefined],
  ['in a file', file],
])('%s', (_, path) => {
  const open = (clock = new VirtualClock()) => openAt(path(), clock)

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

    test('for another revision is refused, and the others of its transaction are written', async () => {
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
      // The values are free again once their owner gives them up.
      await store.commit({ node: 'a', expect: 1, patch: { name: null, instance_uuid: null } })
      await store.commit({ node: 'b', expect: 1, patch })
    })

    test('with a taken MAC or uuid is refused', async () => {
      const store = open()
      await store.createNode(node('a'))
      await store.createPort(port('52:54:00:00:00:01', 'a'))
      await expect(store.createPort(port('52:54:00:00:00:01', 'a', 'p2'))).rejects.toMatchObject({ field: 'address' })
      const createPorts = [{ ...port('52:54:00:00:00:01', 'a', 'p3'), id: 0 }]
      await expect(store.commit({ node: 'a', expect: 1, createPorts })).rejects.toMatchObject({ field: 'address' })
      await expect(store.createNode(node('a'))).rejects.toMatchObject({ field: 'uuid' })
    })

    test('keeps the effects of a node in order, and drops the finished ones', async () => {
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
      const store = open(clock)
      const writing = store.createNode(node('a'))
      expect(clock.holds()).toEqual(['writing the database'])
      await writing
      expect(clock.holds()).toEqual([])
    })
  })

  test('a record that refers to a missing node, portgroup or chassis is refused', async () => {
    const store = open()
    await expect(store.createNode({ ...node('a'), chassis_id: 7 })).rejects.toMatchObject({ name: 'DanglingReference' })
    await store.createNode(node('a'))
    const orphans = [
      store.commit({ node: 'a', expect: 1, patch: { chassis_id: 7 } }),
      store.createPort({ ...port('52:54:00:00:00:01', 'a'), portgroup_id: 7 }),
      store.createPort(port('52:54:00:00:00:01', 'gone')),
    ]
    for (const orphan of orphans) await expect(orphan).rejects.toMatchObject({ name: 'DanglingReference' })
  })

  test('returned records are copies', async () => {
    const store = open()
    await store.createNode(node('a', { extra: { list: [1] } }))
    await store.createPort(port('52:54:00:00:00:01', 'a'))
    ;((await store.node('a'))!.node.extra.list as number[]).push(2)
    ;(await store.nodes({}))[0]!.name = 'changed'
    ;(await store.ports({}))[0]!.address = 'changed'
    expect((await store.node('a'))?.node).toMatchObject({ name: null, extra: { list: [1] } })
    expect((await store.ports({}))[0]?.address).toBe('52:54:00:00:00:01')
  })

  test('removing a node removes all its records', async () => {
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
})
