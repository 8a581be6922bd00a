import { describe, expect, test } from 'vitest'
import { IRONIC_RELEASES, IronicClient, InProcessTransport, type IronicRelease } from '../../base/wire/index.js'
import { defined, systemClock } from '../../base/runtime/index.js'
import { SERVICE_DEFAULTS } from '../../ironic-mock/index.js'
import { BASE } from './replay.js'
import { openStage, type Stage } from './stage.js'

/** The API of an older Ironic, and its limits. */

const of = (release: IronicRelease) => openStage({ api: { newest: IRONIC_RELEASES[release] } })

async function ask(stage: Stage, method: string, target: string, { body, version = 'latest' }: Asked = {}) {
  const response = await stage.api({
    method,
    target,
    base: BASE,
    headers: { 'x-openstack-ironic-api-version': version },
    ...defined({ body: body === undefined ? undefined : JSON.stringify(body) }),
  })
  const answer = JSON.parse(response.body ?? 'null') as Record<string, unknown>
  const inner = JSON.parse((answer?.['error_message'] as string | undefined) ?? '{}') as Record<string, string>
  return {
    status: response.status,
    headers: response.headers,
    sentence: inner['faultstring'] ?? inner['description'],
    answer,
  }
}
const CHASSIS = '00000000-0000-4000-8000-000000000001'
const MAC = '52:54:00:00:00:01'

interface Asked {
  body?: unknown
  version?: string
}

describe.each<[IronicRelease, string]>([
  ['2024.2', '1.93'],
  ['2025.1', '1.96'],
  ['2025.2', '1.101'],
  ['2026.1', '1.111'],
  ['master', '1.115'],
])('Ironic %s', (release, newest) => {
  test('says what its newest version is, in headers and root documents', async () => {
    await using stage = await of(release)
    const { headers, answer } = await ask(stage, 'GET', '/v1')
    expect(headers).toMatchObject({
      'x-openstack-ironic-api-version': newest,
      'x-openstack-ironic-api-maximum-version': newest,
    })
    expect(answer['version']).toMatchObject({ min_version: '1.1', version: newest })
    expect((await ask(stage, 'GET', '/')).answer['default_version']).toMatchObject({ version: newest })
  })

  test('refuses what is newer', async () => {
    await using stage = await of(release)
    const version = `1.${IRONIC_RELEASES[release] + 1}`
    expect(await ask(stage, 'GET', '/v1/nodes', { version })).toMatchObject({
      status: 406,
      sentence: expect.stringContaining(`The supported version range is: [1.1, ${newest}].`) as unknown,
      headers: { 'x-openstack-ironic-api-maximum-version': newest },
    })
  })
})

describe('later features are missing in an older release', () => {
  test('fields are not shown, and not known', async () => {
    await using stage = await of('2025.1')
    const { status, answer } = await ask(stage, 'POST', '/v1/nodes', { body: { driver: 'fake-hardware', name: 'a' } })
    expect(status).toBe(201)
    expect(answer).toHaveProperty('disable_power_off')
    expect(answer).not.toHaveProperty('instance_name')
    expect(answer).not.toHaveProperty('health')
    for (const [method, target, body, sentence] of [
      ['GET', '/v1/nodes?fields=instance_name', undefined, 'Field instance_name is not a valid field.'],
      ['GET', '/v1/nodes?sort_key=instance_name', undefined, 'The sort_key value "instance_name" is an invalid field'],
      ['GET', '/v1/nodes?instance_name=x', undefined, 'Unexpected arguments: instance_name'],
      ['POST', '/v1/nodes', { driver: 'fake-hardware', instance_name: 'x' }, "('instance_name' was unexpected)"],
      ['PATCH', '/v1/nodes/a', [{ op: 'add', path: '/instance_name', value: 'x' }], 'Cannot patch /instance_name.'],
      ['GET', '/v1/ports?fields=category', undefined, 'Field category is not a valid field.'],
    ] as const)
      expect(await ask(stage, method, target, { body })).toMatchObject({
        status: 400,
        sentence: expect.stringContaining(sentence) as unknown,
      })
  })

  test('arguments are unexpected, and not too new', async () => {
    await using stage = await of('2024.2')
    await stage.client.createNode({ driver: 'fake-hardware', name: 'a' })
    const { uuid } = (await stage.client.nodes())[0]!
    expect((await ask(stage, 'POST', '/v1/portgroups', { body: { node_uuid: uuid, name: 'g' } })).status).toBe(201)
    expect((await ask(stage, 'POST', '/v1/chassis', { body: { uuid: CHASSIS } })).status).toBe(201)
    const step = { interface: 'deploy', step: 'a', args: {}, order: 1 }
    expect((await ask(stage, 'POST', '/v1/runbooks', { body: { name: 'CUSTOM_A', steps: [step] } })).status).toBe(201)
    for (const [method, target, body, sentence] of [
      ['GET', '/v1/ports?conductor_groups=x', undefined, 'Unexpected arguments: conductor_groups'],
      ['GET', '/v1/ports/detail?description_contains=x', undefined, 'Unexpected arguments: description_contains'],
      ['GET', '/v1/portgroups?shard=x', undefined, 'Unexpected arguments: shard'],
      ['GET', '/v1/nodes/a/portgroups?conductor_groups=x', undefined, 'Unexpected arguments: conductor_groups'],
      ['GET', '/v1/nodes/detail?instance_name=x', undefined, 'Unexpected arguments: instance_name'],
      ['GET', `/v1/chassis/${CHASSIS}/nodes?instance_name=x`, undefined, 'Unexpected arguments: instance_name'],
      ['GET', '/v1/portgroups?fields=category', undefined, 'Field category is not a valid field.'],
      ['GET', '/v1/portgroups?sort_key=category', undefined, 'The sort_key value "category" is an invalid field'],
      ['GET', '/v1/runbooks?sort_key=description', undefined, 'The sort_key value "description" is an invalid field'],
      ['POST', '/v1/portgroups', { node_uuid: uuid, category: 'x' }, "('category' was unexpected)"],
      ['PATCH', '/v1/portgroups/g', [{ op: 'add', path: '/category', value: 'x' }], 'Cannot patch /category.'],
      ['POST', '/v1/ports', { node_ident: 'a', address: MAC, node_uuid: uuid }, "('node_ident' was unexpected)"],
      ['POST', '/v1/ports', { address: MAC }, "'node_uuid' is a required property"],
    ] as const)
      expect(await ask(stage, method, target, { body }), `${method} ${target}`).toMatchObject({
        status: 400,
        sentence: expect.stringContaining(sentence) as unknown,
      })
    expect((await ask(stage, 'POST', '/v1/ports', { body: { address: MAC, node_uuid: uuid } })).status).toBe(201)
  })

  test('endpoints are unknown paths', async () => {
    const root = async (release: IronicRelease) => {
      await using stage = await of(release)
      return Object.keys((await ask(stage, 'GET', '/v1')).answer)
    }
    expect(await root('2025.1')).toContain('inspection_rules')
    expect(await root('2024.2')).not.toContain('inspection_rules')
    await using stage = await of('2024.2')
    expect((await ask(stage, 'GET', '/v1/inspection_rules')).status).toBe(404)
  })

  test("a client of ours speaks an older Ironic's newest version", async () => {
    await using stage = await of('2024.2')
    const transport = new InProcessTransport()
    const asked: (string | undefined)[] = []
    transport.register(BASE, (request) => {
      asked.push(request.headers['x-openstack-ironic-api-version'])
      return stage.api(request)
    })
    const client = new IronicClient({ transport, endpoint: BASE, clock: systemClock() })
    await client.nodes()
    await client.nodes()
    expect(asked).toEqual(['1.115', '1.93', '1.93'])
    const insisting = new IronicClient({ transport, endpoint: BASE, clock: systemClock(), microversion: 115 })
    await expect(insisting.nodes()).rejects.toMatchObject({ status: 406 })
  })
})

describe('limits that an operator sets', () => {
  test('pages are as long as max_limit, whatever is asked for', async () => {
    await using stage = await openStage({ api: { service: { ...SERVICE_DEFAULTS, maxLimit: 2 } } })
    for (const name of ['a', 'b', 'c']) await stage.client.createNode({ driver: 'fake-hardware', name })
    for (const query of ['', '?limit=1000']) {
      const { answer } = await ask(stage, 'GET', `/v1/nodes${query}`)
      expect(answer['nodes']).toHaveLength(2)
      expect(answer['next']).toContain('limit=2')
    }
    expect(await stage.client.nodes()).toHaveLength(3)
  })

  test('links begin with the public endpoint', async () => {
    const service = { ...SERVICE_DEFAULTS, publicEndpoint: 'https://ironic.example.org' }
    await using stage = await openStage({ api: { service } })
    expect((await ask(stage, 'GET', '/v1')).answer['links']).toContainEqual({
      href: 'https://ironic.example.org/v1/',
      rel: 'self',
    })
  })

  test('bodies as large and deep as configured', async () => {
    await using stage = await openStage({ api: { service: { ...SERVICE_DEFAULTS, maxBodySize: 4, maxBodyDepth: 8 } } })
    const extra = (value: unknown) => ({ body: { driver: 'fake-hardware', extra: { value } } })
    expect((await ask(stage, 'POST', '/v1/nodes', extra('x'.repeat(5000)))).status).toBe(413)
    expect((await ask(stage, 'POST', '/v1/nodes', extra([[[[[[[]]]]]]]))).status).toBe(400)
    expect((await ask(stage, 'POST', '/v1/nodes', extra('x'))).status).toBe(201)
  })
})
