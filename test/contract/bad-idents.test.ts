import { afterAll, beforeAll, expect, test } from 'vitest'
import { defined } from '../../base/runtime/index.js'
import { BASE } from './replay.js'
import { openStage, type Stage } from './stage.js'

/** A node or portgroup that nothing can be called, as a real Ironic answered each of these calls. */

let stage: Stage
beforeAll(async () => void (stage = await openStage()))
afterAll(() => stage[Symbol.asyncDispose]())

const ROUTER = { code: 400, description: 'Expected UUID or name for node: a b' }
const PORTGROUP = { code: 400, description: 'Expected UUID or name for portgroup: a b' }
const ARGUMENT = { faultcode: 'Client', faultstring: 'Expected UUID or name for node_ident: a b' }
const UNEXPECTED = { faultcode: 'Client', faultstring: 'Unexpected arguments: x' }

const CALLS: readonly (readonly [method: string, path: string, body: unknown, answer: object])[] = [
  ['GET', 'nodes/a%20b', undefined, ROUTER],
  // The router looks at it before it looks at anything else.
  ['GET', 'nodes/a%20b/ports?x=1', undefined, ROUTER],
  ['GET', 'nodes/a%20b/traits?x=1', undefined, ROUTER],
  ['PUT', 'nodes/a%20b/traits', { traits: ['bad'] }, ROUTER],
  ['GET', 'nodes/a%20b/vifs?x=1', undefined, ROUTER],
  ['POST', 'nodes/a%20b/vifs', { id: 1 }, ROUTER],
  ['POST', 'nodes/a%20b/vmedia', { x: 1 }, ROUTER],
  ['GET', 'nodes/a%20b/history?x=1', undefined, ROUTER],
  ['GET', 'nodes/a%20b/volume/targets?x=1', undefined, ROUTER],
  ['GET', 'nodes/a%20b/validate?x=1', undefined, ROUTER],
  ['GET', 'portgroups/a%20b', undefined, PORTGROUP],
  ['GET', 'portgroups/a%20b/ports?x=1', undefined, PORTGROUP],
  // An argument like others, and the first of them.
  ['GET', 'nodes/a%20b/states', undefined, ARGUMENT],
  ['PUT', 'nodes/a%20b/states/provision', { target: 'manage' }, ARGUMENT],
  ['PUT', 'nodes/a%20b/states/power', {}, ARGUMENT],
  ['PUT', 'nodes/a%20b/states/power', { target: 1 }, ARGUMENT],
  ['PUT', 'nodes/a%20b/states/secure_boot', { target: 'zzz' }, ARGUMENT],
  ['PUT', 'nodes/a%20b/management/boot_device', { boot_device: 1 }, ARGUMENT],
  ['GET', 'nodes/a%20b/management/indicators', undefined, ARGUMENT],
  ['DELETE', 'nodes/a%20b/maintenance', undefined, ARGUMENT],
  ['GET', 'nodes/a%20b/vendor_passthru?method=x', undefined, ARGUMENT],
  ['GET', 'nodes/a%20b/states?x=1', undefined, UNEXPECTED],
]

test.each([
  ['GET', 'runbooks/a%20b/traits', 'Expected a logical name or UUID but received a b.'],
  ['DELETE', 'runbooks/%2C/traits', 'Expected a logical name or UUID but received ,.'],
  ['GET', 'nodes/n/bios/a%20b', "Schema error: 'a b' does not match '(?i)^[A-Z0-9-._~]+$'"],
])('%s %s: other names that nothing has', async (method, path, sentence) => {
  const headers = { 'x-openstack-ironic-api-version': '1.115' }
  const response = await stage.api({ method, target: `/v1/${path}`, base: BASE, headers })
  expect(response.status).toBe(400)
  const { error_message } = JSON.parse(response.body!) as { error_message: string }
  expect(JSON.parse(error_message)).toMatchObject({ faultstring: sentence })
})

test.each(CALLS.flatMap((call) => (['1.115', '1.5'] as const).map((version) => [...call, version] as const)))(
  '%s %s',
  async (method, path, body, answer, version) => {
    const response = await stage.api({
      method,
      target: `/v1/${path}`,
      base: BASE,
      headers: { 'x-openstack-ironic-api-version': version },
      ...defined({ body: body === undefined ? undefined : JSON.stringify(body) }),
    })
    expect(response.status).toBe(400)
    const { error_message } = JSON.parse(response.body!) as { error_message: string }
    expect(JSON.parse(error_message)).toMatchObject(answer)
  },
)
