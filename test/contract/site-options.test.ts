import { describe, expect, test } from 'vitest'
import { defined } from '../../base/runtime/index.js'
import { createStagedLab } from '../../lab/index.js'
import { SERVICE_DEFAULTS } from '../../ironic-mock/index.js'
import { openStage, type Stage } from './stage.js'

async function call(stage: Stage, method: string, path: string, body?: unknown) {
  const answer = await stage.api({
    method,
    target: `/v1${path}`,
    base: 'http://ironic.test:6385',
    headers: { 'x-openstack-ironic-api-version': '1.99', 'content-type': 'application/json' },
    ...defined({ body: body === undefined ? undefined : JSON.stringify(body) }),
  })
  return { status: answer.status, body: String(answer.body) }
}

const REASON =
  'No valid host was found. Reason: No conductor service registered which supports driver fake-hardware for conductor group'

describe('[conductor]conductor_group', () => {
  test('a node of the group of the conductor works, one of another group is refused', async () => {
    await using stage = await openStage({ conf: { conductorGroup: 'rack-1' } })
    const created = await call(stage, 'POST', '/nodes', {
      driver: 'fake-hardware',
      conductor_group: 'rack-1',
      name: 'a',
    })
    expect(created.status).toBe(201)
    expect(JSON.parse(created.body)).toMatchObject({ conductor_group: 'rack-1', conductor: 'peers-conductor' })
    expect((await call(stage, 'PUT', '/nodes/a/states/provision', { target: 'manage' })).status).toBe(202)

    const refused = await call(stage, 'POST', '/nodes', { driver: 'fake-hardware', name: 'b' })
    expect(refused).toMatchObject({ status: 400, body: expect.stringContaining(REASON) as string })
    const moved = await call(stage, 'PATCH', '/nodes/a', [{ op: 'replace', path: '/conductor_group', value: 'rack-2' }])
    expect(moved.status).toBe(400)
    const conductors = await call(stage, 'GET', '/conductors')
    expect(conductors.body).toContain('"conductor_group":"rack-1"')
  })

  test('a node of another group waits: it has no conductor, and what asks for one is refused', async () => {
    await using first = await openStage()
    await call(first, 'POST', '/nodes', { driver: 'fake-hardware', name: 'a' })
    await using stage = await openStage({ conf: { conductorGroup: 'rack-1' }, earlier: first.store })
    expect(JSON.parse((await call(stage, 'GET', '/nodes/a')).body)).toMatchObject({ conductor: null })
    expect((await call(stage, 'GET', '/nodes?conductor=peers-conductor')).body).toBe('{"nodes":[]}')
    const power = await call(stage, 'PUT', '/nodes/a/states/power', { target: 'power on' })
    expect(power).toMatchObject({ status: 404, body: expect.stringContaining(REASON) as string })
    expect((await call(stage, 'PUT', '/nodes/a/states/provision', { target: 'manage' })).status).toBe(404)
    expect((await call(stage, 'GET', '/nodes/a/validate')).status).toBe(404)
    expect((await call(stage, 'PUT', '/nodes/a/maintenance', {})).status).toBe(400)
    expect((await call(stage, 'PATCH', '/nodes/a', [{ op: 'add', path: '/extra/b', value: 1 }])).status).toBe(400)
    expect((await call(stage, 'DELETE', '/nodes/a')).status).toBe(400)

    const join = [{ op: 'replace', path: '/conductor_group', value: 'RACK-1' }]
    expect((await call(stage, 'PATCH', '/nodes/a', join)).status).toBe(200)
    expect((await call(stage, 'PUT', '/nodes/a/states/provision', { target: 'manage' })).status).toBe(202)
  })

  test('the machines of a lab join the group of its conductor', async () => {
    await using lab = await createStagedLab({ ironic: { set: ['conductor.conductor_group=rack-1'] } })
    const node = await lab.enroll()
    expect(await node.get()).toMatchObject({ conductor_group: 'rack-1', conductor: 'ironstage' })
  })

  test('new nodes without a group or a resource class get the defaults', async () => {
    const conf = { conductorGroup: 'rack-1', defaultConductorGroup: 'rack-1', defaultResourceClass: 'baremetal' }
    await using stage = await openStage({ conf })
    const created = await call(stage, 'POST', '/nodes', { driver: 'fake-hardware' })
    expect(JSON.parse(created.body)).toMatchObject({ conductor_group: 'rack-1', resource_class: 'baremetal' })
  })
})

test("[api]network_data_schema: a site's own schema decides about network_data", async () => {
  const networkDataSchema = {
    type: 'object',
    required: ['site'],
    properties: { site: { $ref: '#/definitions/site' } },
    definitions: { site: { type: 'string', pattern: '^dc[0-9]$' } },
  }
  await using stage = await openStage({ api: { service: { ...SERVICE_DEFAULTS, networkDataSchema } } })
  const node = (network_data: unknown) => ({ driver: 'fake-hardware', network_data })
  const created = await call(stage, 'POST', '/nodes', { ...node({ site: 'dc1' }), name: 'a' })
  expect(created.status).toBe(201)
  expect((await call(stage, 'POST', '/nodes', node({}))).status).toBe(201)
  const refused = await call(stage, 'POST', '/nodes', node({ site: 'elsewhere' }))
  expect(refused.status).toBe(400)
  const patch = (value: unknown) => call(stage, 'PATCH', '/nodes/a', [{ op: 'replace', path: '/network_data', value }])
  expect((await patch({ site: 'dc2', links: 7 })).status).toBe(200)
  const wrong = await patch({ site: 'dc22' })
  expect(wrong).toMatchObject({ status: 400, body: expect.stringContaining('Invalid network_data: ') as string })
  expect(wrong.body).toContain('does not match')
})
