import { expect, test } from 'vitest'
import { ADMIN, basic, served } from '../../../test/kit/redfish/served.js'

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

const MEDIUM = 'Managers/machine-1/VirtualMedia/Cd/Actions/VirtualMedia.InsertMedia'
const SUBSCRIPTION = { Destination: 'http://127.0.0.1:1/', Protocol: 'Redfish' }

test.each([
  [
    'a medium that is not to be inserted',
    'POST',
    MEDIUM,
    { Image: 'http://a.test/i', Inserted: false },
    'ListInserted',
  ],
  [
    ...(['a medium of another protocol', 'POST', MEDIUM] as const),
    { Image: 'http://a.test/i', TransferProtocolType: 'NFS' },
    'ConflictTransferProtocolType',
  ],
  [
    ...(['a BIOS setting of another type', 'PATCH', 'Systems/machine-1/Bios/Settings'] as const),
    { Attributes: { QuietBoot: { a: 1 } } },
    'TypeErrorAttributes/QuietBoot',
  ],
  [
    ...(['a number that a BIOS setting cannot have', 'PATCH', 'Systems/machine-1/Bios/Settings'] as const),
    { Attributes: { PowerOnDelay: 241 } },
    'OutOfRangeAttributes/PowerOnDelay',
  ],
  [
    ...(['a time that settings cannot take effect at', 'PATCH', 'Systems/machine-1/Bios/Settings'] as const),
    { Attributes: {}, '@Redfish.SettingsApplyTime': { ApplyTime: 'Nonsense' } },
    'NotInList@Redfish.SettingsApplyTime/ApplyTime',
  ],
  [
    ...(['a header that ends a line', 'POST', 'EventService/Subscriptions'] as const),
    { ...SUBSCRIPTION, HttpHeaders: [{ 'X-A': 'b\r\nEvil: 1' }] },
    'FormatErrorHttpHeaders',
  ],
  [
    ...(['a header whose name has a space', 'POST', 'EventService/Subscriptions'] as const),
    { ...SUBSCRIPTION, HttpHeaders: [{ 'X A': 'b' }] },
    'FormatErrorHttpHeaders',
  ],
] as [string, string, string, object, string][])(
  '%s is refused, with its property',
  async (_, method, path, body, why) => {
    await using bmc = await served()
    const { status, document } = await bmc.call(method, `/redfish/v1/${path}`, body)
    const [{ MessageId, RelatedProperties }] = document.error['@Message.ExtendedInfo']
    expect(status).toBe(400)
    const kind = String(MessageId)
      .split('.')
      .at(-1)!
      .replace(/^.*?Value(NotIn)?/, '$1')
    expect(kind + String(RelatedProperties[0]).replace('#/', '')).toBe(why.replace(/^List/, 'NotInList'))
  },
)

test('a filter of the stream of events is refused', async () => {
  await using bmc = await served()
  expect((await bmc.call('GET', "/redfish/v1/EventService/SSE?$filter=EventType eq 'Alert'")).status).toBe(501)
})

test('a third power command is refused while two are carried out', async () => {
  await using bmc = await served()
  const reset = (ResetType: string) => bmc.call('POST', `${SYSTEM}/Actions/ComputerSystem.Reset`, { ResetType })
  let go = (): void => {}
  const held = new Promise<void>((resolve) => (go = resolve))
  using _slow = bmc.probe.attach(async (point, next) => {
    if (point.kind === 'power') await held
    return next()
  })
  const statuses = (await Promise.all([reset('On'), reset('ForceOff'), reset('On')])).map(({ status }) => status)
  expect(statuses).toEqual([204, 204, 503])
  go()
  await expect.poll(async () => (await reset('ForceOff')).status).toBe(204)
})
