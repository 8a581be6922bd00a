import { describe, expect, test } from 'vitest'
import { defined } from '../../base/runtime/index.js'
import type { NodePatch } from '../../ironic-mock/index.js'
import { FUZZ_BASE } from '../kit/fuzz/index.js'
import { openStage, type Stage } from './stage.js'

interface Answer {
  status: number
  body: Record<string, unknown>
}

async function ask({ api }: Stage, method: string, target: string, body?: unknown): Promise<Answer> {
  const response = await api({
    method,
    target,
    base: FUZZ_BASE,
    headers: { 'x-openstack-ironic-api-version': '1.115' },
    ...defined({ body: body === undefined ? undefined : JSON.stringify(body) }),
  })
  const parsed = JSON.parse(response.body ?? '{}') as Record<string, unknown>
  const inner = typeof parsed.error_message === 'string' ? (JSON.parse(parsed.error_message) as object) : {}
  return { status: response.status, body: { ...parsed, ...inner } }
}

const node = async ({ ironic }: Stage, fields: NodePatch) =>
  (await ironic.conductor.createNode({ driver: 'fake-hardware', ...fields })).uuid

const available: NodePatch = { provision_state: 'available', power_state: 'power off', resource_class: 'baremetal' }

async function allocated(stage: Stage, fields: object): Promise<Record<string, unknown>> {
  const { body } = await ask(stage, 'POST', '/v1/allocations', { resource_class: 'baremetal', ...fields })
  for (;;) {
    const found = await ask(stage, 'GET', `/v1/allocations/${String(body.uuid)}`)
    if (found.body.state !== 'allocating') return found.body
    await new Promise((resolve) => setTimeout(resolve, 5))
  }
}

describe('an allocation', () => {
  test('takes a node that suits it, which cannot be had twice, and gives it back', async () => {
    await using stage = await openStage()
    const suits = await node(stage, { ...available, traits: ['CUSTOM_A'] })
    await node(stage, available)
    const first = await allocated(stage, { traits: ['CUSTOM_A'], name: 'first' })
    expect(first).toMatchObject({ state: 'active', node_uuid: suits, last_error: null })
    expect((await ask(stage, 'GET', `/v1/nodes/${suits}`)).body).toMatchObject({
      instance_uuid: first.uuid,
      allocation_uuid: first.uuid,
      instance_info: { traits: ['CUSTOM_A'] },
    })
    expect(await allocated(stage, { traits: ['CUSTOM_A'] })).toMatchObject({
      state: 'error',
      last_error: expect.stringContaining('no suitable nodes have the requested traits CUSTOM_A') as string,
    })
    expect((await ask(stage, 'DELETE', '/v1/allocations/first')).status).toBe(204)
    expect((await ask(stage, 'GET', `/v1/nodes/${suits}`)).body).toMatchObject({
      instance_uuid: null,
      allocation_uuid: null,
    })
  })

  test('of many asked for at once, as many succeed as there are nodes', async () => {
    await using stage = await openStage()
    for (let i = 0; i < 3; i++) await node(stage, available)
    const all = await Promise.all(Array.from({ length: 8 }, () => allocated(stage, {})))
    const taken = all.filter(({ state }) => state === 'active').map(({ node_uuid }) => node_uuid)
    expect(new Set(taken).size).toBe(3)
    expect(all.filter(({ state }) => state === 'error')).toHaveLength(5)
  })

  test('prefers the node of its own name', async () => {
    await using stage = await openStage()
    for (let i = 0; i < 5; i++) await node(stage, { ...available, name: `n${i}` })
    const wanted = (await stage.store.node('n3'))!.node.uuid
    expect(await allocated(stage, { name: 'n3' })).toMatchObject({ node_uuid: wanted })
  })

  test('goes on after a restart', async () => {
    await using stage = await openStage()
    const uuid = await node(stage, available)
    const fields = { resource_class: 'baremetal', traits: [], candidate_nodes: [], extra: {}, owner: null, name: null }
    const at = '2026-01-01T00:00:00.000000'
    await stage.store.createResource('allocation', {
      ...fields,
      uuid: '11111111-1111-4111-8111-111111111111',
      state: 'allocating',
      last_error: null,
      node_id: null,
      node_uuid: null,
      created_at: at,
      updated_at: null,
    })
    await using again = await openStage({ earlier: stage.store })
    for (let tries = 0; tries < 200; tries++) {
      const [found] = await again.store.resources('allocation', {})
      if (found?.state === 'active') return expect(found.node_uuid).toBe(uuid)
      await new Promise((resolve) => setTimeout(resolve, 5))
    }
    expect.unreachable('the allocation was never settled')
  })

  test('ends with the deployment that it was made for', async () => {
    await using stage = await openStage()
    const uuid = await node(stage, { ...available, deploy_interface: 'fake', automated_clean: false })
    const { uuid: allocation } = await allocated(stage, {})
    const state = async () => (await ask(stage, 'GET', `/v1/nodes/${uuid}/states`)).body.provision_state
    const until = async (wanted: string) => {
      while ((await state()) !== wanted) await new Promise((resolve) => setTimeout(resolve, 5))
    }
    await ask(stage, 'PUT', `/v1/nodes/${uuid}/states/provision`, { target: 'active' })
    await until('active')
    expect((await ask(stage, 'DELETE', `/v1/nodes/${uuid}/allocation`)).body).toMatchObject({
      faultstring: expect.stringContaining('because the node is active') as string,
    })
    await ask(stage, 'PUT', `/v1/nodes/${uuid}/states/provision`, { target: 'deleted' })
    await until('available')
    expect((await ask(stage, 'GET', `/v1/allocations/${String(allocation)}`)).status).toBe(404)
  })
})

describe('ports and portgroups', () => {
  const setUp = async (stage: Stage, fields: NodePatch = {}) => {
    const uuid = await node(stage, fields)
    const { body } = await ask(stage, 'POST', '/v1/portgroups', { node_uuid: uuid, name: 'bond0' })
    return { uuid, group: String(body.uuid) }
  }
  const port = (n: number, more: object) => ({ address: `52:54:00:00:00:0${n}`, ...more })

  test('all ports of a portgroup are in the physical network of its first', async () => {
    await using stage = await openStage()
    const { uuid, group } = await setUp(stage)
    const member = { node_uuid: uuid, portgroup_uuid: group }
    expect((await ask(stage, 'POST', '/v1/ports', port(1, { ...member, physical_network: 'net1' }))).status).toBe(201)
    expect((await ask(stage, 'GET', '/v1/portgroups/bond0')).body.physical_network).toBe('net1')
    expect(
      (await ask(stage, 'POST', '/v1/ports', port(2, { ...member, physical_network: 'net2' }))).body,
    ).toMatchObject({
      faultstring: `Port with physical network net2 cannot become a member of port group ${group} which has ports in physical network net1.`,
    })
    expect((await ask(stage, 'POST', '/v1/ports', port(2, { ...member, physical_network: 'net1' }))).status).toBe(201)
  })

  test('a portgroup goes once it is empty, and with its node', async () => {
    await using stage = await openStage()
    const { uuid, group } = await setUp(stage)
    const { body } = await ask(stage, 'POST', '/v1/ports', port(1, { node_uuid: uuid, portgroup_uuid: group }))
    expect((await ask(stage, 'DELETE', '/v1/portgroups/bond0')).status).toBe(400)
    await ask(stage, 'PATCH', `/v1/ports/${String(body.uuid)}`, [{ op: 'remove', path: '/portgroup_uuid' }])
    expect((await ask(stage, 'DELETE', '/v1/portgroups/bond0')).status).toBe(204)
    await ask(stage, 'POST', '/v1/portgroups', { node_uuid: uuid })
    await ask(stage, 'DELETE', `/v1/nodes/${uuid}`)
    expect((await ask(stage, 'GET', '/v1/portgroups')).body).toEqual({ portgroups: [] })
  })

  test.each([
    ['/address', '52:54:00:00:00:09', 'Cannot update hardware address for port'],
    ['/pxe_enabled', false, 'can not have any connectivity attributes'],
  ])('%s of a port of a node in use stays', async (path, value, sentence) => {
    await using stage = await openStage()
    const { uuid } = await setUp(stage, { provision_state: 'active' })
    const { body } = await ask(stage, 'POST', '/v1/ports', port(1, { node_uuid: uuid }))
    const change = () => ask(stage, 'PATCH', `/v1/ports/${String(body.uuid)}`, [{ op: 'replace', path, value }])
    expect(await change()).toMatchObject({
      status: 409,
      body: { faultstring: expect.stringContaining(sentence) as string },
    })
    await ask(stage, 'PUT', `/v1/nodes/${uuid}/maintenance`, {})
    expect((await change()).status).toBe(200)
  })

  test('changes at the same time do not lose one another', async () => {
    await using stage = await openStage()
    const { uuid } = await setUp(stage)
    const { body } = await ask(stage, 'POST', '/v1/ports', port(1, { node_uuid: uuid }))
    const paths = ['a', 'b', 'c'].map((name) => `/extra/${name}`)
    await Promise.all(
      paths.map((path) => ask(stage, 'PATCH', `/v1/ports/${String(body.uuid)}`, [{ op: 'add', path, value: 1 }])),
    )
    expect((await ask(stage, 'GET', `/v1/ports/${String(body.uuid)}`)).body.extra).toEqual({ a: 1, b: 1, c: 1 })
  })
})

test('volumes and events are taken, and nothing comes of them', async () => {
  await using stage = await openStage()
  const uuid = await node(stage, available)
  const before = (await ask(stage, 'GET', `/v1/nodes/${uuid}`)).body
  const target = { node_uuid: uuid, volume_type: 'iscsi', boot_index: 0, volume_id: 'v' }
  const event = { event: 'network.bind_port', port_id: uuid, mac_address: '52:54:00:00:00:01', status: 'ACTIVE' }
  expect((await ask(stage, 'POST', '/v1/volume/targets', target)).status).toBe(201)
  expect((await ask(stage, 'POST', '/v1/events', { events: [event] })).status).toBe(204)
  expect((await ask(stage, 'GET', `/v1/nodes/${uuid}`)).body).toEqual(before)
})
