import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { defined } from '../../base/runtime/index.js'
import { createLab, createStagedLab, installCoreos, type Lab } from '../../lab/index.js'
import { ignition } from '../kit/deployed.js'
import { pageCall } from '../kit/api/page-call.js'

const deploy_steps = [installCoreos({ ignition })]

interface Reply {
  status: number
  type: string | null
  // eslint-disable-next-line @typescript-eslint/no-explicit-any -- a client of curl knows no types
  body: any
}

/** A client that knows nothing but HTTP. */
async function ask(lab: Pick<Lab, 'url'>, method: string, path: string, body?: unknown): Promise<Reply> {
  const response = await fetch(`${lab.url}${path}`, {
    method,
    headers: { 'content-type': 'application/json', 'x-openstack-ironic-api-version': '1.95' },
    ...defined({ body: body === undefined ? undefined : typeof body === 'string' ? body : JSON.stringify(body) }),
  })
  const text = await response.text()
  const type = response.headers.get('content-type')
  return { status: response.status, type, body: type === 'application/json' && text !== '' ? JSON.parse(text) : text }
}

const onSocket = () =>
  createLab({
    clock: 'manual',
    listen: { host: '127.0.0.1', port: 0 },
    ironic: { set: ['conductor.deploy_callback_timeout=1800'] },
  })

const until = (lab: Lab, node: string, state: string) =>
  ask(lab, 'POST', '/_lab/clock/advance', { until: { node, state } })

async function available(lab: Lab, node: string): Promise<void> {
  const verb = (target: string) => ask(lab, 'PUT', `/v1/nodes/${node}/states/provision`, { target })
  await verb('manage')
  expect(await until(lab, node, 'manageable')).toMatchObject({ status: 200 })
  await verb('provide')
  expect(await until(lab, node, 'available')).toMatchObject({ status: 200 })
}

describe('by HTTP alone', () => {
  test('the media of a machine are ejected, by its own name or its node', async () => {
    await using lab = await createStagedLab()
    const node = await lab.enroll()
    const { firmware } = lab.machines.list()[0]!
    const images = () => firmware.media().map(({ image }) => image)
    for (const path of ['machines/machine-1', `nodes/${node.uuid}`]) {
      await firmware.insert('cdrom', 'http://192.0.2.1/live.iso')
      await firmware.insert('floppy', 'http://192.0.2.1/parameters.img')
      expect(images().filter((image) => image !== null)).toHaveLength(2)
      const answer = await lab.transport.send({ method: 'POST', url: `${lab.url}/_lab/${path}/eject`, headers: {} })
      expect(answer.status).toBe(200)
      expect(images().filter((image) => image !== null)).toEqual([])
    }
  })

  test('an agent falls silent, half an hour is jumped, exactly its node has failed; the fault is lifted, and it deploys', async () => {
    await using lab = await onSocket()
    const { body: enrolled } = await ask(lab, 'POST', '/_lab/nodes', { count: 3, prefix: 'metal-' })
    expect(enrolled.nodes.map(({ name }: { name: string }) => name)).toEqual(['metal-0', 'metal-1', 'metal-2'])
    for (const { name } of enrolled.nodes) await available(lab, name)

    const fault = { match: { node: 'metal-1', phase: 'deploy' }, effect: { kind: 'agent-silent' } }
    const added = await ask(lab, 'POST', '/_lab/faults', fault)
    expect(added).toMatchObject({ status: 201, body: { id: 'fault-1', struck: 0, ...fault } })
    for (const { name } of enrolled.nodes)
      await ask(lab, 'PUT', `/v1/nodes/${name}/states/provision`, { target: 'active', deploy_steps })
    const moved = await ask(lab, 'POST', '/_lab/clock/advance', { by: '31m' })
    expect(moved).toMatchObject({ status: 200, body: { mode: 'manual' } })

    const states = async () => {
      const { body } = await ask(lab, 'GET', '/_lab/nodes')
      return body.nodes.map((node: { provision_state: string }) => node.provision_state)
    }
    expect(await states()).toEqual(['active', 'deploy failed', 'active'])
    const struck = await ask(lab, 'GET', '/_lab/faults')
    expect(struck.body.faults[0].struck).toBeGreaterThan(0)
    const blamed = await ask(lab, 'GET', '/_lab/journal?node=metal-1&fault=fault-1&kind=exchange')
    const { entries } = blamed.body
    expect(entries[0]).toMatchObject({ from: 'ironic', to: 'agent', status: null, name: 'metal-1' })
    expect(entries).toContainEqual(expect.objectContaining({ from: 'agent', to: 'ironic', status: null }))
    // An agent that goes on asking leaves the journal room for what happened before.
    const { body: index } = await ask(lab, 'GET', '/_lab')
    expect(index.journal).toMatchObject({ first: 1 })
    expect((await ask(lab, 'GET', '/_lab/journal?node=metal-0&fault=fault-1')).body.entries).toEqual([])

    expect(await ask(lab, 'DELETE', '/_lab/faults/fault-1')).toMatchObject({ status: 204 })
    await ask(lab, 'PUT', '/v1/nodes/metal-1/states/provision', { target: 'active', deploy_steps })
    expect(await until(lab, 'metal-1', 'active')).toMatchObject({ status: 200 })
    expect(await states()).toEqual(['active', 'active', 'active'])
  })
})

test('a list of faults is added whole, or not at all', async () => {
  await using lab = await onSocket()
  await ask(lab, 'POST', '/_lab/nodes', { count: 3 })
  const silent = (node: string) => ({ match: { node }, effect: { kind: 'bmc-silent' } })
  const listed = async () => (await ask(lab, 'GET', '/_lab/faults')).body.faults.map(({ id }: { id: string }) => id)

  const nowhere = await ask(lab, 'POST', '/_lab/faults', [silent('node-0'), silent('node-9'), silent('node-1')])
  expect(nowhere.status).toBe(400)
  expect(nowhere.body.error).toMatchObject({
    code: 'fault',
    message: expect.stringMatching(/^fault 2 of 3: there is no node node-9/),
  })
  const misspelt = await ask(lab, 'POST', '/_lab/faults', [silent('node-0'), { ...silent('node-1'), time: 1 }])
  expect(misspelt.body.error).toMatchObject({
    code: 'bad-request',
    message: expect.stringContaining('the body, number 2 of 2, is wrong: there is no time; did you mean times?'),
  })
  expect(await listed()).toEqual([])

  const added = await ask(lab, 'POST', '/_lab/faults', [silent('node-0'), silent('node-2')])
  expect(added).toMatchObject({
    status: 201,
    body: { faults: [{ id: 'fault-1' }, { id: 'fault-2', ...silent('node-2') }] },
  })
  expect(await listed()).toEqual(['fault-1', 'fault-2'])
  expect((await ask(lab, 'POST', '/_lab/faults', [])).body).toEqual({ faults: [] })
  expect((await ask(lab, 'POST', '/_lab/nodes', [])).status).toBe(400)
})

describe('nodes of a seed', () => {
  interface Described {
    id: string
    nics: { mac: string }[]
    disks: { serial: string; wwn: string }[]
  }
  const withSeed = async (seed: number, before: number) => {
    await using lab = await createLab({ clock: 'manual', seed: before, listen: { host: '127.0.0.1', port: 0 } })
    if (before > 1) await ask(lab, 'POST', '/_lab/nodes', { count: before, prefix: 'other-' })
    const { status, body } = await ask(lab, 'POST', '/_lab/nodes', { count: 3, prefix: 'n-', seed })
    expect(status).toBe(201)
    const machines = (await ask(lab, 'GET', '/_lab/machines')).body.machines as Described[]
    return (body.nodes as { uuid: string; machine: string }[]).flatMap(({ uuid, machine }) => {
      const { nics, disks } = machines.find(({ id }) => id === machine)!
      return [uuid, ...nics.map(({ mac }) => mac), ...disks.flatMap(({ serial, wwn }) => [serial, wwn])]
    })
  }

  test('are the same in any lab, and others with another seed', async () => {
    const first = await withSeed(7, 1)
    expect(await withSeed(7, 5)).toEqual(first)
    const values = [...first, ...(await withSeed(8, 1))]
    expect(new Set(values).size).toBe(values.length)
  })

  test('that already exist are refused, before any is added', async () => {
    await using lab = await onSocket()
    const [, second] = (await ask(lab, 'POST', '/_lab/nodes', { count: 2, seed: 7 })).body.nodes
    await ask(lab, 'DELETE', '/_lab/nodes/node-0')
    const refused = await ask(lab, 'POST', '/_lab/nodes', { count: 3, prefix: 'again-', seed: 7 })
    expect(refused.status).toBe(400)
    expect(refused.body.error.message).toBe(`seed 7 gives node ${second.uuid}, which already exists`)
    expect((await ask(lab, 'GET', '/_lab/nodes')).body.nodes).toHaveLength(1)
  })
})

describe('bad input', () => {
  let lab: Lab
  beforeAll(async () => {
    lab = await onSocket()
    await ask(lab, 'POST', '/_lab/nodes', {})
  })
  afterAll(() => lab[Symbol.asyncDispose]())

  test.each([
    ['a body that is not JSON', 'POST', '/_lab/faults', '{', 400, 'bad-request', /the body is not JSON/],
    [
      'a misspelt effect',
      'POST',
      '/_lab/faults',
      { match: {}, effect: { kind: 'agent-silnt' } },
      400,
      'bad-request',
      /effect.kind is "agent-silnt"; did you mean agent-silent\?/,
    ],
    ['an unknown kind of entries', 'GET', '/_lab/journal?kind=lunch', undefined, 400, 'bad-request', /one or more of /],
    [
      'a member that there is not',
      'POST',
      '/_lab/faults',
      { match: { nod: 'x' }, effect: { kind: 'bmc-silent' } },
      400,
      'bad-request',
      /there is no match.nod; did you mean node\?/,
    ],
    [
      'an effect without its length',
      'POST',
      '/_lab/faults',
      { match: { node: 'node-0' }, effect: { kind: 'delay' } },
      400,
      'bad-request',
      /effect.for is missing/,
    ],
    [
      'a fault of an unknown node',
      'POST',
      '/_lab/faults',
      { match: { node: 'ghost' }, effect: { kind: 'agent-silent' } },
      400,
      'fault',
      /there is no node ghost/,
    ],
    [
      'a fault of a route that there is not',
      'POST',
      '/_lab/faults',
      { match: { route: 'GET /v2/x' }, effect: { kind: 'hang' } },
      400,
      'fault',
      /no call begins with GET \/v2\/x/,
    ],
    [
      'a fault that can never strike',
      'POST',
      '/_lab/faults',
      { match: { disk: 'sda' }, effect: { kind: 'bmc-silent' } },
      400,
      'fault',
      /can never strike/,
    ],
    ['a time in the past', 'POST', '/_lab/clock/advance', { by: '-5m' }, 400, 'bad-request', /by is "-5m"/],
    ['a mode that there is not', 'PUT', '/_lab/clock', { mode: 'x0' }, 400, 'bad-request', /x0 is not a mode/],
    ['an unknown path', 'GET', '/_lab/fault', undefined, 404, 'no-such-path', /there is no \/_lab\/fault/],
    ['an unknown node', 'GET', '/_lab/nodes/ghost', undefined, 404, 'no-such-node', /ghost/],
    ['an unknown fault', 'DELETE', '/_lab/faults/fault-9', undefined, 404, 'no-such-fault', /fault-9/],
    ['a wrong method', 'PATCH', '/_lab/clock', {}, 405, 'method-not-allowed', /use GET or PUT/],
    [
      'an argument that there is not',
      'GET',
      '/_lab/journal?nde=x',
      undefined,
      400,
      'bad-request',
      /there is no nde; did you mean node\?/,
    ],
  ])('%s is refused with a sentence', async (_, method, path, body, status, code, message) => {
    const before = await ask(lab, 'GET', '/_lab/faults')
    const reply = await ask(lab, method, path, body)
    const { error } = reply.body
    expect([reply.status, error.code]).toEqual([status, code])
    expect(`${error.message}; ${error.remedy}`).toMatch(message)
    expect(await ask(lab, 'GET', '/_lab/faults')).toEqual(before)
  })
})

test.each<[string, string, unknown, string]>([
  ['PUT', '/_lab/clock', { mode: 'x99999999999999999999999999999999' }, 'is not a mode of a clock'],
  ['PUT', '/_lab/clock', { mode: 'x0' }, 'is not a mode of a clock'],
  ['POST', '/_lab/clock/advance', { by: 1e300 }, 'the clock is moved by at most 366 days at once'],
  [
    'POST',
    '/_lab/clock/advance',
    { by: '1m', until: { node: 'a', state: 'active' } },
    'by and until exclude each other',
  ],
  ['DELETE', '/_lab/snapshots/start', undefined, 'the start of a lab cannot be removed'],
  ['POST', '/_lab/clock/advance', { by: '999999999h' }, 'the clock is moved by at most 366 days at once'],
  ['GET', '/_lab/journal?since=yesterday', undefined, 'since is "yesterday", which is not a time'],
  [
    'GET',
    '/_lab/journal?until=2026-99-99T00:00:00Z',
    undefined,
    'until is "2026-99-99T00:00:00Z", which is not a time',
  ],
  ['GET', '/_lab/events?after=99999', undefined, 'there is no entry 99999: the last one is'],
  ['PUT', '/_lab/machines/machine-1/disks/sda', { size: 1e300 }, 'sda has a size of 1e+300 bytes'],
  ['PUT', '/_lab/machines/machine-1/disks/sda', { serial: '' }, 'serial must NOT have fewer than 1 characters'],
])('%s %s %j is refused with a sentence, and the lab continues', async (method, path, body, message) => {
  await using lab = await onSocket()
  await lab.enroll()
  const before = await ask(lab, 'GET', '/_lab/clock')
  const refused = await ask(lab, method, path, body)
  expect(refused.status).toBeLessThan(500)
  expect(refused.status).toBeGreaterThanOrEqual(400)
  expect(refused.body.error.message).toContain(message)
  expect(await ask(lab, 'GET', '/_lab/clock')).toEqual(before)
  expect((await ask(lab, 'GET', '/_lab/machines/machine-1')).body.takenOut).toEqual([])
})

test.each(['abc', '-4', '1e3', '999999'])('a reader of events with Last-Event-ID %s gets what is wrong', async (id) => {
  await using lab = await onSocket()
  const answer = await fetch(`${lab.url}/_lab/events`, { headers: { 'last-event-id': id } })
  expect(answer.status).toBe(400)
  expect(await answer.json()).toMatchObject({ error: { code: 'bad-request', message: expect.stringContaining(id) } })
})

test('a snapshot is taken and restored by HTTP, and the lab reset', async () => {
  await using lab = await onSocket()
  await ask(lab, 'POST', '/_lab/nodes', {})
  await available(lab, 'node-0')
  await ask(lab, 'PUT', '/v1/nodes/node-0/states/provision', { target: 'manage' })
  await until(lab, 'node-0', 'manageable')
  const stateOf = async () =>
    (await ask(lab, 'GET', '/_lab/nodes')).body.nodes.map((node: { provision_state: string }) => node.provision_state)

  const taken = await ask(lab, 'POST', '/_lab/snapshots')
  // An agent runs, so the lab is repeated.
  expect(taken.status).toBe(201)
  expect(taken.body.repeats).toBeGreaterThan(0)
  const { id } = taken.body
  await ask(lab, 'PUT', '/v1/nodes/node-0/states/provision', { target: 'provide' })
  await until(lab, 'node-0', 'available')
  expect(await stateOf()).toEqual(['available'])
  expect(await ask(lab, 'POST', `/_lab/snapshots/${id}/restore`)).toMatchObject({ status: 204 })
  expect(await stateOf()).toEqual(['manageable'])
  expect(await ask(lab, 'GET', '/_lab/clock')).toMatchObject({ body: { labTime: taken.body.labTime } })

  expect((await ask(lab, 'GET', '/_lab/snapshots')).body.snapshots).toContainEqual(taken.body)
  expect(await ask(lab, 'DELETE', `/_lab/snapshots/${id}`)).toMatchObject({ status: 204 })
  const gone = await ask(lab, 'POST', `/_lab/snapshots/${id}/restore`)
  expect([gone.status, gone.body.error.code]).toEqual([404, 'snapshot-unknown'])
  const damaged = await ask(lab, 'POST', '/_lab/snapshots/import', { file: 'no snapshot' })
  expect([damaged.status, damaged.body.error.code]).toEqual([400, 'snapshot-file'])

  expect(await ask(lab, 'POST', '/_lab/reset')).toMatchObject({ status: 204 })
  expect(await stateOf()).toEqual([])
})

test('web pages of other servers are refused, and change nothing; those of the lab, and programs, are answered', async () => {
  await using lab = await onSocket()
  const url = `${lab.url}/_lab/nodes`
  const { host, port } = new URL(url)
  expect(await pageCall(url, { origin: 'http://evil.example' })).toBe(403)
  expect(await pageCall(url, { host: `evil.example:${port}`, origin: `http://evil.example:${port}` })).toBe(403)
  expect(await pageCall(`${lab.url}/_lab/reset`, { host: 'evil.example' })).toBe(403)
  expect((await ask(lab, 'GET', '/_lab/nodes')).body.nodes).toEqual([])
  expect(await pageCall(url, { origin: `http://${host}` })).toBe(201)
  expect(await pageCall(url, {})).toBe(201)
  const inProcess = { headers: { host: 'ironic.example', origin: 'http://page.example' } }
  expect((await lab.fetchAt('http://ironic.example')('http://ironic.example/_lab', inProcess)).status).toBe(200)
  const metrics = () => fetch(`${lab.url}/metrics`, { headers: { origin: 'http://evil.example' } })
  expect((await metrics()).status).toBe(403)
})
