import { describe, expect, test } from 'vitest'
import { createStagedLab } from '../../lab/index.js'
import { defined, hours } from '../../base/runtime/index.js'
import { BASE } from './replay.js'
import { openStage, type Stage } from './stage.js'

/** Differences from upstream on purpose that no recording shows; rows of docs/fidelity/. */

async function ask(stage: Stage, method: string, target: string, body?: string) {
  const response = await stage.api({
    method,
    target,
    base: BASE,
    headers: { 'x-openstack-ironic-api-version': '1.115' },
    ...defined({ body }),
  })
  const answer = JSON.parse(response.body ?? 'null') as { error_message?: string } | null
  const { faultstring, description } = JSON.parse(answer?.error_message ?? '{}') as Record<string, string>
  return { status: response.status, sentence: faultstring ?? description, answer }
}

test('a field that nodes do not have is a 400 that names it, in lists too', async () => {
  await using stage = await openStage()
  await stage.client.createNode({ driver: 'fake-hardware', name: 'one' })
  for (const target of ['/v1/nodes?fields=uuid,nosuch', '/v1/nodes/one?fields=nosuch'])
    expect(await ask(stage, 'GET', target)).toMatchObject({
      status: 400,
      sentence: expect.stringContaining('nosuch') as unknown,
    })
})

describe('bodies beyond what a call takes', () => {
  test('too deep is a 400', async () => {
    await using stage = await openStage()
    const extra = JSON.stringify({
      driver: 'fake-hardware',
      extra: JSON.parse('{"a":'.repeat(40) + '1' + '}'.repeat(40)) as unknown,
    })
    expect(await ask(stage, 'POST', '/v1/nodes', extra)).toMatchObject({
      status: 400,
      sentence: 'The request body is nested more than 25 levels deep.',
    })
  })

  test('too large is a 413, later where a configdrive is carried', async () => {
    await using stage = await openStage()
    const { uuid } = await stage.client.createNode({ driver: 'fake-hardware' })
    const large = 'x'.repeat(1024 * 1024)
    expect(await ask(stage, 'POST', '/v1/nodes', JSON.stringify({ description: large }))).toMatchObject({
      status: 413,
      sentence: 'The request body is larger than 1024 KiB, the most that this call takes.',
    })
    const provision = JSON.stringify({ target: 'active', configdrive: large })
    expect(await ask(stage, 'PUT', `/v1/nodes/${uuid}/states/provision`, provision)).toMatchObject({ status: 400 })
  })
})

test('the conductor is alive however long it has run', async () => {
  await using lab = await createStagedLab()
  await lab.clock.advance(hours(3))
  const { body } = await lab.transport.send({
    method: 'GET',
    url: `${lab.url}/v1/conductors`,
    headers: { 'x-openstack-ironic-api-version': '1.49' },
  })
  expect(JSON.parse(body!)).toMatchObject({ conductors: [{ alive: true }] })
})

test('a lock does not show in updated_at', async () => {
  await using stage = await openStage()
  const { uuid } = await stage.client.createNode({ driver: 'fake-hardware' })
  const port = JSON.stringify({ node_uuid: uuid, address: '52:54:00:00:00:01' })
  expect(await ask(stage, 'POST', '/v1/ports', port)).toMatchObject({ status: 201 })
  expect((await ask(stage, 'GET', `/v1/nodes/${uuid}`)).answer).toMatchObject({ updated_at: null })
})

test.each([
  ['POST', '/v1/nodes/x/y/z', 404],
  ['DELETE', '/v1/nodes/x/y/z', 404],
  ['PUT', '/v1', 405],
  ['POST', '/v1/nodes/x/ports', 400],
])('what leads nowhere is a 404 or a 405: %s %s', async (method, target, status) => {
  await using stage = await openStage()
  expect(await ask(stage, method, target, '{}')).toMatchObject({ status, sentence: expect.any(String) as unknown })
})

test('the uuid of an allocation is one', async () => {
  await using stage = await openStage()
  const body = JSON.stringify({ resource_class: 'any', uuid: 'abc' })
  expect(await ask(stage, 'POST', '/v1/allocations', body)).toMatchObject({
    status: 400,
    sentence: 'Expected UUID for uuid: abc',
  })
})

test('rescue by the agent does not mind a fake boot interface', async () => {
  await using stage = await openStage()
  const { uuid } = await stage.client.createNode({
    driver: 'fake-hardware',
    boot_interface: 'fake',
    rescue_interface: 'agent',
  })
  expect((await ask(stage, 'GET', `/v1/nodes/${uuid}/validate`)).answer).toMatchObject({ rescue: { result: true } })
})
