import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { defined } from '../../base/runtime/index.js'
import { ironicSentence, type JsonObject } from '../../base/wire/index.js'
import { BASE } from './replay.js'
import { openStage, type Stage } from './stage.js'

/** One call of a real Ironic 39.0.0 and what it said; status 0: made in between, its answer does not matter. */
interface AskedCall {
  method: string
  path: string
  version?: string
  body?: unknown
  status: number
  /** The sentence behind `F: `, or `R` for the router's. */
  error?: string
  answer?: unknown
  location?: string
}

interface Asked {
  nodes: ({ driver: string; name: string } & JsonObject)[]
  calls: AskedCall[]
}

const read = (name: string): Asked =>
  JSON.parse(readFileSync(new URL(`../fixtures/node-calls/${name}.json`, import.meta.url), 'utf8')) as Asked

/** An answer of ours that is another one on purpose; each a row of docs/fidelity/. */
interface OnPurpose {
  readonly why: string
  readonly applies: (call: AskedCall) => boolean
  /** The recorded status by default. */
  readonly status?: number
  readonly sentence?: RegExp
}

const ON_PURPOSE: readonly OnPurpose[] = [
  {
    why: 'an interface is named, not a Python object',
    applies: ({ error }) => error?.includes(' object at 0x') ?? false,
    sentence: /implementation '[\w-]+' is not supported/,
  },
  {
    why: 'a path that goes on where nothing is below is a 404 of the router, not a 405',
    applies: ({ status, path }) => status === 405 && /(management|children\/x|raid|firmware\/bios)$/.test(path),
    status: 404,
  },
  {
    why: 'a segment that is a method name of the vendor interface is not looked for among its methods when it is not a GET',
    applies: ({ method, path }) => method === 'POST' && path.endsWith('vendor_passthru/methods'),
    status: 405,
  },
  {
    why: 'arguments of a single BIOS setting are refused like those of any call',
    applies: ({ path }) => path.includes('/bios/virt?detail'),
    sentence: /^Unexpected arguments: /,
  },
]

async function replayed(stage: Stage, { nodes, calls }: Asked): Promise<string[]> {
  const ids: [string, string][] = []
  for (const node of nodes) ids.push([(await stage.client.createNode(node)).uuid, `UUID-${node.name}`])
  const normal = (value: unknown): unknown => {
    let text = JSON.stringify(value ?? null)
    for (const [ours, theirs] of ids) text = text.replaceAll(ours, theirs)
    text = text.replaceAll(BASE, 'BASE').replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+(\+00:00)?/g, 'TIME')
    text = text.replaceAll(/(for node|history record for node|inventory record for node) \d+ /g, '$1 N ')
    return JSON.parse(text) as unknown
  }
  const differences: string[] = []
  for (const call of calls) {
    const response = await stage.api({
      method: call.method,
      target: call.path,
      base: BASE,
      headers: { 'x-openstack-ironic-api-version': call.version ?? '1.115' },
      ...defined({ body: call.body === undefined ? undefined : JSON.stringify(call.body) }),
    })
    if (call.method !== 'GET') await settled(stage)
    if (call.status === 0) continue
    const ours: unknown = response.body === undefined ? undefined : JSON.parse(response.body)
    const at = `${call.method} ${call.path} ${call.version ?? ''} ${JSON.stringify(call.body)}`
    const otherwise = ON_PURPOSE.find(({ applies }) => applies(call))
    if (otherwise) {
      const { why, status = call.status, sentence } = otherwise
      const ourSentence = response.status >= 400 ? ironicSentence(response) : ''
      if (response.status !== status || (sentence && !sentence.test(ourSentence)))
        differences.push(`${at}: status ${response.status}, ${ourSentence}, though ${why}`)
      continue
    }
    const differ = (what: string, mine: unknown, theirs: unknown) => {
      if (JSON.stringify(normal(mine)) !== JSON.stringify(theirs ?? null))
        differences.push(`${at}: ${what} ${JSON.stringify(mine)}, asked ${JSON.stringify(theirs)}`)
    }
    differ('status', response.status, call.status)
    differ('location', response.headers.location, call.location)
    if (call.error?.startsWith('F: ')) differ('sentence', ironicSentence(response), call.error.slice(3))
    else if (call.answer !== undefined) differ('answer', part(ours, call.answer), call.answer)
  }
  return differences
}

/** Reduces our node to the fields that the recording has: patches were recorded without the other fields. */
function part(ours: unknown, recorded: unknown): unknown {
  if (typeof ours !== 'object' || ours === null || !('provision_updated_at' in ours) || Array.isArray(recorded))
    return ours
  const names = Object.keys(recorded as JsonObject)
  return Object.fromEntries(names.map((name) => [name, (ours as JsonObject)[name]]))
}

async function settled({ ironic: { store } }: Stage): Promise<void> {
  for (let tries = 0; tries < 200; tries++) {
    const nodes = await store.nodes({})
    if (nodes.every(({ reservation }) => reservation === null)) return
    await new Promise((resolve) => setTimeout(resolve, 1))
  }
}

describe('recorded calls about nodes get the answers of a real Ironic', () => {
  test('traits, VIFs, boot mode, secure boot, RAID, console, media, indicators, vendor methods, records', async () => {
    await using stage = await openStage({ host: 'real-conductor' })
    expect(await replayed(stage, read('sub-resources'))).toEqual([])
  })

  test('PATCH: every field with values of every kind, paths into them, microversions', async () => {
    await using stage = await openStage({ host: 'real-conductor' })
    expect(await replayed(stage, read('patch'))).toEqual([])
  })

  test('the node as the last segment of the path, in the middle, in the query: as pecan dispatches', async () => {
    await using stage = await openStage({ host: 'real-conductor' })
    expect(await replayed(stage, read('elsewhere'))).toEqual([])
  })
})

const V = { 'x-openstack-ironic-api-version': '1.115' }

async function ask(stage: Stage, method: string, target: string, body?: unknown) {
  const response = await stage.api({
    method,
    target,
    base: BASE,
    headers: V,
    ...defined({ body: body === undefined ? undefined : JSON.stringify(body) }),
  })
  const refused = response.status >= 400 ? { sentence: ironicSentence(response) } : {}
  return { status: response.status, body: JSON.parse(response.body ?? 'null') as unknown, ...refused }
}

describe('VIFs of a node on flat and neutron networks', () => {
  async function withPorts(count: number) {
    const stage = await openStage()
    const { uuid } = await stage.client.createNode({ driver: 'fake-hardware', name: 'n', network_interface: 'flat' })
    const ports = []
    for (let n = 0; n < count; n++)
      ports.push(
        await stage.client.createPort({ node_uuid: uuid, address: `52:54:00:00:01:0${n}`, pxe_enabled: n === 1 }),
      )
    return { stage, uuid, ports }
  }

  test('are kept on ports, first on those that boot from the network, and leave them again', async () => {
    const { stage, uuid, ports } = await withPorts(2)
    await using _ = stage
    for (const id of ['one', 'two'])
      expect(await ask(stage, 'POST', '/v1/nodes/n/vifs', { id })).toMatchObject({ status: 204 })
    expect((await ask(stage, 'GET', '/v1/nodes/n/vifs')).body).toEqual({ vifs: [{ id: 'two' }, { id: 'one' }] })
    const shown = await ask(stage, 'GET', `/v1/ports/${ports[1]!.uuid}`)
    expect(shown.body).toMatchObject({ internal_info: { tenant_vif_port_id: 'one' } })
    expect(await ask(stage, 'POST', '/v1/nodes/n/vifs', { id: 'one' })).toMatchObject({
      status: 409,
      sentence: `Unable to attach VIF because VIF one is already attached to Ironic Port ${ports[1]!.uuid}`,
    })
    expect(await ask(stage, 'POST', '/v1/nodes/n/vifs', { id: 'three' })).toMatchObject({
      status: 400,
      sentence: 'Unable to attach VIF three, not enough free physical ports.',
    })
    expect(await ask(stage, 'DELETE', '/v1/nodes/n/vifs/one')).toMatchObject({ status: 204 })
    expect(await ask(stage, 'DELETE', '/v1/nodes/n/vifs/one')).toMatchObject({
      status: 400,
      sentence: `Unable to detach VIF one from node ${uuid} because it is not attached to it.`,
    })
  })

  test('go to the port that is named, and to a portgroup before a port', async () => {
    const { stage, uuid, ports } = await withPorts(3)
    await using _ = stage
    const group = await ask(stage, 'POST', '/v1/portgroups', { node_uuid: uuid })
    const portgroup_uuid = (group.body as { uuid: string }).uuid
    await ask(stage, 'PATCH', `/v1/ports/${ports[2]!.uuid}`, [
      { op: 'add', path: '/portgroup_uuid', value: portgroup_uuid },
    ])
    await ask(stage, 'POST', '/v1/nodes/n/vifs', { id: 'one', port_uuid: ports[0]!.uuid })
    await ask(stage, 'POST', '/v1/nodes/n/vifs', { id: 'two' })
    expect((await ask(stage, 'GET', `/v1/ports/${ports[0]!.uuid}`)).body).toMatchObject({
      internal_info: { tenant_vif_port_id: 'one' },
    })
    expect((await ask(stage, 'GET', `/v1/portgroups/${portgroup_uuid}`)).body).toMatchObject({
      internal_info: { tenant_vif_port_id: 'two' },
    })
  })
})

test('children are found by their parent, and hidden from lists until asked for', async () => {
  await using stage = await openStage()
  const parent = await stage.client.createNode({ driver: 'fake-hardware', name: 'dpu-host' })
  const child = await stage.client.createNode({ driver: 'fake-hardware', name: 'dpu', parent_node: 'dpu-host' })
  expect(child.parent_node).toBe(parent.uuid)
  expect((await ask(stage, 'GET', '/v1/nodes/dpu-host/children')).body).toMatchObject({ children: [child.uuid] })
  const names = async (query: string) =>
    ((await ask(stage, 'GET', `/v1/nodes?${query}`)).body as { nodes: { name: string }[] }).nodes.map(
      ({ name }) => name,
    )
  expect(await names('')).toEqual(['dpu-host'])
  expect(await names('include_children=true')).toEqual(['dpu-host', 'dpu'])
  expect(await names(`parent_node=${parent.uuid}`)).toEqual(['dpu'])
})

test('the history of a node is paged and sorted', async () => {
  await using stage = await openStage()
  await stage.client.createNode({ driver: 'fake-hardware', name: 'n' })
  for (const types of ['cdrom', 'disk', 'floppy']) {
    await ask(stage, 'DELETE', `/v1/nodes/n/vmedia?device_types=${types}`)
    await settled(stage)
  }
  const events = ({ body }: { body: unknown }) =>
    (body as { history: { event: string }[] }).history.map(({ event }) => /'(\w+)'/.exec(event)![1])
  expect(events(await ask(stage, 'GET', '/v1/nodes/n/history?sort_dir=desc'))).toEqual(['floppy', 'disk', 'cdrom'])
  const page = await ask(stage, 'GET', '/v1/nodes/n/history?limit=2')
  const { next } = page.body as { next: string }
  expect(next).toContain('/v1/nodes/n/history?marker=None&sort_key=created_at&sort_dir=asc&fields=')
  const marker = /marker=([0-9a-f-]{36})/.exec(next)![1]
  expect(events(await ask(stage, 'GET', `/v1/nodes/n/history?limit=2&marker=${marker}`))).toEqual(['floppy'])
})

test('the fake BIOS has what it was told last', async () => {
  await using stage = await openStage()
  const fakes = { deploy_interface: 'fake', inspect_interface: 'fake' }
  await stage.client.createNode({ driver: 'fake-hardware', name: 'n', ...fakes })
  const to = async (target: string, more: object = {}) => {
    await ask(stage, 'PUT', '/v1/nodes/n/states/provision', { target, ...more })
    await settled(stage)
    return stage.client.node('n')
  }
  const apply = (settings: unknown) => [{ interface: 'bios', step: 'apply_configuration', args: { settings } }]
  await to('manage')
  await to('clean', {
    clean_steps: apply([
      { name: 'Virt', value: 'on' },
      { name: 'Num', value: '3' },
    ]),
  })
  expect((await ask(stage, 'GET', '/v1/nodes/n/bios')).body).toMatchObject({
    bios: [
      { name: 'Num', value: '3', updated_at: null },
      { name: 'Virt', value: 'on', links: [{ href: `${BASE}/v1/nodes/n/bios/Virt` }, {}] },
    ],
  })
  await to('clean', { clean_steps: apply([{ name: 'Virt', value: 'off' }]) })
  const { body } = await ask(stage, 'GET', '/v1/nodes/n/bios?detail=true')
  expect(body).toMatchObject({ bios: [{ name: 'Virt', value: 'off', attribute_type: null, allowable_values: [] }] })
  const failed = await to('clean', { clean_steps: apply([{ name: 'Virt' }]) })
  expect(failed.last_error).toMatch(/failed step .*: 'value'$/)
})
