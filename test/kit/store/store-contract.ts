import { describe, expect, test } from 'vitest'
import { VirtualClock, type Clock } from '../../../base/runtime/index.js'
import type { NodeRecord } from '../../../base/wire/index.js'
import type { NewResource, NodeQuery, Store } from '../../../ironic-mock/store/store.js'
import { AT, chassis, node, port, portgroup } from '../store-records.js'

/**
 * Registers the tests of all that {@link Store} promises.
 *
 * @param open an empty store, in memory or in a database; the caller closes it
 */
export function testStore(open: (clock?: Clock) => Store | Promise<Store>): void {
  describe('a commit', () => {
    test('changes everything together, and answers with the next revision', async () => {
      const store = await open()
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
        node: { provision_state: 'cleaning', last_error: 'x' },
      })
      expect(await store.effects('a')).toMatchObject([{ node: 'a', kind: 'power', payload: { target: 'power off' } }])
      expect(await store.deadlines()).toEqual([{ node: 'a', kind: 'clean callback', at: 7 }])
      expect(await store.ports({ node_uuid: 'a' })).toMatchObject([{ address: '52:54:00:00:00:01' }])
      expect(await store.inventory('a')).toEqual({ inventory: { cpu: 1 }, plugin_data: {} })
      expect(await store.history('a')).toMatchObject([{ event: 'e' }])
    })

    test('for another revision is refused, and the others of its transaction are written', async () => {
      const store = await open()
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

    test('with a name that has a NUL is made, and the name is taken then', async () => {
      const store = await open()
      const { node: made } = await store.createNode(node('a', { name: 'NUL \u0000' }))
      expect((await store.node('a'))?.node.name).toBe(made.name)
      await expect(store.createNode(node('b', { name: made.name }))).rejects.toMatchObject({ name: 'Duplicate' })
      await store.commit({ node: 'a', expect: 1, patch: { name: 'plain' } })
      await store.createNode(node('b', { name: made.name }))
    })

    test.each<[string, Partial<NodeRecord>]>([
      ['name', { name: 'taken' }],
      ['instance_uuid', { instance_uuid: 'taken' }],
    ])('with a %s that is taken is refused as a whole', async (field, patch) => {
      const store = await open()
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
      const store = await open()
      await store.createNode(node('a'))
      await store.createPort(port('52:54:00:00:00:01', 'a'))
      await expect(store.createPort(port('52:54:00:00:00:01', 'a', 'p2'))).rejects.toMatchObject({ field: 'address' })
      const createPorts = [{ ...port('52:54:00:00:00:01', 'a', 'p3'), id: 0 }]
      await expect(store.commit({ node: 'a', expect: 1, createPorts })).rejects.toMatchObject({ field: 'address' })
      await expect(store.createNode(node('a'))).rejects.toMatchObject({ field: 'uuid' })
    })

    test('keeps the effects of a node in order, and drops the finished ones', async () => {
      const store = await open()
      await store.createNode(node('a'))
      const effect = (n: number) => ({ kind: 'k', payload: { n } })
      await store.commit({ node: 'a', expect: 1, effects: [effect(1), effect(2)] })
      const numbers = async () => (await store.effects('a')).map(({ payload }) => payload['n'])
      const [first] = await store.effects('a')
      await store.commit({ node: 'a', expect: 2, done: first!.id, effects: [effect(3)] })
      expect(await numbers()).toEqual([2, 3])
      await store.commit({ node: 'a', expect: 3, dropEffects: true, effects: [effect(4)] })
      expect(await numbers()).toEqual([4])
    })

    test('holds the clock until it is written', async () => {
      const clock = new VirtualClock()
      const store = await open(clock)
      const writing = store.createNode(node('a'))
      expect(clock.holds()).toEqual(['writing the database'])
      await writing
      expect(clock.holds()).toEqual([])
    })
  })

  test('a record that refers to a missing node, portgroup or chassis is refused', async () => {
    const store = await open()
    await expect(store.createNode({ ...node('a'), chassis_id: 7 })).rejects.toMatchObject({ name: 'DanglingReference' })
    await store.createNode(node('a'))
    const orphans = [
      store.commit({ node: 'a', expect: 1, patch: { chassis_id: 7 } }),
      store.createPort({ ...port('52:54:00:00:00:01', 'a'), portgroup_id: 7 }),
      store.createPort(port('52:54:00:00:00:01', 'gone')),
    ]
    for (const orphan of orphans) await expect(orphan).rejects.toMatchObject({ name: 'DanglingReference' })
  })

  test('a portgroup that has ports, and a chassis that has nodes, are not removed', async () => {
    const store = await open()
    const group = await createUsed(store)
    const refused = [
      store.removeResource('portgroup', 'g'),
      store.removeResource('chassis', 'c'),
      store.commit({ node: 'a', expect: 1, resources: [{ do: 'remove', kind: 'portgroup', uuid: 'g' }] }),
    ]
    for (const removal of refused) await expect(removal).rejects.toMatchObject({ name: 'StillReferenced' })
    expect(await store.ports({})).toMatchObject([{ portgroup_id: group }])
    await store.updatePort('p', () => ({ portgroup_id: null }))
    expect(await store.removeResource('portgroup', 'g')).toBe(true)
    await store.commit({ node: 'a', expect: 1, patch: { chassis_id: null } })
    expect(await store.removeResource('chassis', 'c')).toBe(true)
  })

  test('returned records are copies', async () => {
    const store = await open()
    await store.createNode(node('a', { extra: { list: [1] } }))
    await store.createPort(port('52:54:00:00:00:01', 'a'))
    ;((await store.node('a'))!.node.extra.list as number[]).push(2)
    ;(await store.nodes({}))[0]!.name = 'changed'
    ;(await store.ports({}))[0]!.address = 'changed'
    expect((await store.node('a'))?.node).toMatchObject({ name: null, extra: { list: [1] } })
    expect((await store.ports({}))[0]?.address).toBe('52:54:00:00:00:01')
  })

  test('removing a node removes all its records', async () => {
    const store = await open()
    const { id } = (await store.createNode(node('a', { name: 'n' }))).node
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
    expect((await store.createNode(node('a', { name: 'n' }))).node.id).toBeGreaterThan(id)
  })

  describe('lists', () => {
    const filled = async () => {
      const store = await open()
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
        names: async (query: NodeQuery) => (await store.nodes(query)).map((item) => item.name),
      }
    }

    test.each<[string, NodeQuery, string[]]>([
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
    ])('are sorted and cut: %s', async (_, query, expected) => {
      const { names } = await filled()
      expect(await names(query)).toEqual(expected)
    })
  })

  describe('further resources', () => {
    test('are found by uuid and name, listed, changed by field and removed', async () => {
      const store = await open()
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
      const store = await open()
      await store.createNode(node('a'))
      await store.createResource('portgroup', portgroup('g1', 'a', { name: 'bond0', address: '52:54:00:00:00:01' }))
      await store.createResource('chassis', chassis('g1'))
      await expect(store.createResource('portgroup', record)).rejects.toMatchObject({ field, kind: 'portgroup' })
      const orphan = store.createResource('portgroup', portgroup('g3', 'gone'))
      await expect(orphan).rejects.toMatchObject({ name: 'DanglingReference' })
    })

    test('are changed with their node or not at all, and removed with it', async () => {
      const store = await open()
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

  test('clearing the instance of a node removes its allocation', async () => {
    const store = await open()
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
      resources: [
        { do: 'patch', kind: 'allocation', uuid: 'i', patch: { node_uuid: 'a', node_id: 1, state: 'active' } },
      ],
    })
    expect(await store.resources('allocation', { node_uuid: 'a' })).toMatchObject([{ uuid: 'i', state: 'active' }])
    await store.commit({ node: 'a', expect: 2, patch: { instance_uuid: null } })
    expect(await store.resources('allocation', {})).toEqual([])
    expect((await store.node('a'))?.node.allocation_id).toBeNull()
  })
}

/** Node a of chassis c, with port p of portgroup g; the id of the portgroup. */
async function createUsed(store: Store): Promise<number> {
  const { id: chassis_id } = await store.createResource('chassis', chassis('c'))
  await store.createNode({ ...node('a'), chassis_id })
  const { id } = await store.createResource('portgroup', portgroup('g', 'a'))
  await store.createPort({ ...port('52:54:00:00:00:01', 'a', 'p'), portgroup_id: id })
  return id
}
