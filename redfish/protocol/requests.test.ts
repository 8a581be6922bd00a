import { expect, test } from 'vitest'
import { ADMIN, basic, served } from '../../test/kit/redfish/served.js'

const SYSTEM = '/redfish/v1/Systems/machine-1'

test.each([
  {
    what: 'a percent sign in a target',
    path: 'UpdateService/Actions/UpdateService.SimpleUpdate',
    body: JSON.stringify({ ImageURI: 'http://a.test/b', Targets: ['/redfish/v1/Systems/%zz'] }),
  },
  {
    what: 'JSON that is nested too deep',
    path: 'Systems/machine-1',
    body: `{"Boot":${'['.repeat(100_000)}${']'.repeat(100_000)}}`,
  },
])('$what is the mistake of the client', async ({ path, body }) => {
  await using bmc = await served()
  const { status, document } = await bmc.call(path.startsWith('Update') ? 'POST' : 'PATCH', `/redfish/v1/${path}`, body)
  expect([status, document.error['@Message.ExtendedInfo'].length]).toEqual([400, 1])
})

test('the ETag of a selection is that of the resource, also where it is said to be weak', async () => {
  await using bmc = await served()
  const whole = await bmc.call('GET', SYSTEM)
  const part = await bmc.call('GET', `${SYSTEM}?$select=Boot`)
  expect(part.headers['etag']).toBe(whole.headers['etag'])
  const headers = { ...basic(ADMIN), 'if-none-match': `W/${whole.headers['etag']}` }
  expect((await bmc.call('GET', SYSTEM, undefined, headers)).status).toBe(304)
  const change = await bmc.call(
    'PATCH',
    SYSTEM,
    { Boot: { BootSourceOverrideTarget: 'Cd', BootSourceOverrideEnabled: 'Once' } },
    { ...basic(ADMIN), 'if-match': part.headers['etag']! },
  )
  expect(change.status).toBe(200)
})
