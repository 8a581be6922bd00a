import { describe, expect, test } from 'vitest'
import { AT, chassis, node, open, portgroup } from '../../test/kit/store-records.js'
import type { NewResource } from './store.js'

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
    await expect(orphan).rejects.toMatchObject({ name: 'DanglingReference' })
  })

  test('are changed with their node or not at all, and removed with it', async () => {
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

test('clearing the instance of a node removes its allocation', async () => {
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
