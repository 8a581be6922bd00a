import { describe, expect, test } from 'vitest'
import { ADMIN, basic, served } from '../../test/kit/redfish/served.js'

const SYSTEM = '/redfish/v1/Systems/machine-1'

/** The messages of an error, without the registry's version. */
const messagesOf = ({ document }: { document: { error: { '@Message.ExtendedInfo': { MessageId: string }[] } } }) =>
  document.error['@Message.ExtendedInfo'].map(({ MessageId }) => MessageId.replace(/^Base\.\d+\.\d+\./, ''))

describe('a caller', () => {
  test('reads the root without credentials, and nothing else', async () => {
    await using bmc = await served()
    const root = await bmc.call('GET', '/redfish/v1/', undefined, {})
    expect(root).toMatchObject({ status: 200, headers: { 'odata-version': '4.0' } })
    expect(await bmc.call('GET', '/redfish/v1', undefined, {})).toMatchObject({ body: root.body })
    expect((await bmc.call('GET', '/redfish', undefined, {})).document).toEqual({ v1: '/redfish/v1/' })
    for (const path of ['/redfish/v1/Systems', SYSTEM, '/redfish/v1/Nothing', '/redfish/v1/Systems/nobody']) {
      const refused = await bmc.call('GET', path, undefined, {})
      expect(refused).toMatchObject({ status: 401, headers: { 'www-authenticate': 'Basic realm="RedfishService"' } })
      expect(messagesOf(refused)).toEqual(['NoValidSession'])
    }
  })

  test('with a wrong password is refused, and with one of another machine sees that machine only', async () => {
    await using bmc = await served(3)
    bmc.accounts.set('machine-2', { username: 'other', password: 'secret-2' })
    expect(await bmc.call('GET', SYSTEM, undefined, basic({ ...ADMIN, password: 'no' }))).toMatchObject({ status: 401 })
    const other = basic({ username: 'other', password: 'secret-2' })
    const { document } = await bmc.call('GET', '/redfish/v1/Systems', undefined, other)
    expect(document.Members).toEqual([{ '@odata.id': '/redfish/v1/Systems/machine-2' }])
    expect(await bmc.call('GET', SYSTEM, undefined, other)).toMatchObject({ status: 401 })
    expect((await bmc.call('GET', '/redfish/v1/Systems')).document['Members@odata.count']).toBe(2)
  })

  test('signs in, works with the token, and signs out', async () => {
    await using bmc = await served()
    const { username: UserName, password: Password } = ADMIN
    const made = await bmc.call('POST', '/redfish/v1/SessionService/Sessions', { UserName, Password }, {})
    expect(made).toMatchObject({ status: 201, document: { UserName: 'admin', Password: null } })
    const { 'x-auth-token': token, location } = made.headers
    const session = { 'x-auth-token': token! }
    expect(await bmc.call('GET', SYSTEM, undefined, session)).toMatchObject({ status: 200 })
    expect(await bmc.call('GET', location!, undefined, session)).toMatchObject({ status: 200 })
    expect(await bmc.call('DELETE', location!, undefined, session)).toMatchObject({ status: 204 })
    expect(await bmc.call('GET', SYSTEM, undefined, session)).toMatchObject({ status: 401 })
    const wrong = { UserName, Password: 'no' }
    expect(await bmc.call('POST', '/redfish/v1/SessionService/Sessions', wrong, {})).toMatchObject({ status: 401 })
  })

  test('finds the session limit, and room again when a session has ended from idleness', async () => {
    await using bmc = await served(1, { sessionLimit: 1 })
    const signIn = () =>
      bmc.call('POST', '/redfish/v1/SessionService/Sessions', { UserName: 'admin', Password: ADMIN.password }, {})
    expect((await signIn()).status).toBe(201)
    const full = await signIn()
    expect(full).toMatchObject({ status: 503, headers: { 'retry-after': '30' } })
    expect(messagesOf(full)).toEqual(['SessionLimitExceeded'])
    await bmc.clock.advance(1801_000)
    expect((await signIn()).status).toBe(201)
  })
})

describe('a request', () => {
  test('is answered with the reason when it asks for what is not there', async () => {
    await using bmc = await served()
    const missing = await bmc.call('GET', '/redfish/v1/Systems/machine-9')
    expect(missing.status).toBe(404)
    expect(messagesOf(missing)).toEqual(['ResourceMissingAtURI'])
    const method = await bmc.call('DELETE', SYSTEM)
    expect(method).toMatchObject({ status: 405, headers: { allow: 'GET, HEAD, PATCH' } })
    expect(await bmc.call('GET', SYSTEM, undefined, { ...basic(ADMIN), 'odata-version': '3.0' })).toMatchObject({
      status: 412,
    })
  })

  test.each([
    ['{', 400, ['MalformedJSON']],
    ['[]', 400, ['UnrecognizedRequestBody']],
    [{}, 400, ['NoOperation']],
    [{ Nonsense: 1, SerialNumber: 'x' }, 400, ['PropertyUnknown', 'PropertyNotWritable']],
    [{ IndicatorLED: 'Purple' }, 400, ['PropertyValueNotInList']],
    [{ Boot: { BootSourceOverrideTarget: 7 } }, 400, ['PropertyValueTypeError']],
    [{ Boot: { BootOrder: ['CD.1', 'CD.1'] } }, 400, ['PropertyValueNotInList']],
    [{ Boot: { BootSourceOverrideTarget: 'UefiTarget' } }, 400, ['PropertyValueConflict']],
  ])('with the body %j is refused with the names of its properties', async (body, status, expected) => {
    await using bmc = await served()
    const before = (await bmc.call('GET', SYSTEM)).body
    const refused = await bmc.call('PATCH', SYSTEM, body)
    expect(refused.status).toBe(status)
    expect(messagesOf(refused)).toEqual(expected)
    expect((await bmc.call('GET', SYSTEM)).body).toBe(before)
  })

  test('with an old ETag changes nothing; with the present one it does', async () => {
    await using bmc = await served(1, { requireIfMatch: true })
    const { headers } = await bmc.call('GET', SYSTEM)
    const patch = (more: Record<string, string>, IndicatorLED = 'Lit') =>
      bmc.call('PATCH', SYSTEM, { IndicatorLED }, { ...basic(ADMIN), ...more })
    expect((await patch({})).status).toBe(428)
    expect((await patch({ 'if-match': headers['etag']! })).document.IndicatorLED).toBe('Lit')
    expect((await patch({ 'if-match': headers['etag']! }, 'Off')).status).toBe(412)
    expect((await patch({ 'if-match': '*' }, 'Off')).status).toBe(200)
    const now = (await bmc.call('GET', SYSTEM)).headers['etag']!
    expect(now).toBe(headers['etag'])
    const known = await bmc.call('GET', SYSTEM, undefined, { ...basic(ADMIN), 'if-none-match': now })
    expect(known).toMatchObject({ status: 304, document: {} })
  })

  test('expands, selects and pages as it asks', async () => {
    await using bmc = await served(5)
    const get = async (query: string) => (await bmc.call('GET', `/redfish/v1/Systems?${query}`)).document
    const expanded = await get('$expand=.($levels=1)&$select=Members/Id')
    expect(expanded.Members[4]).toMatchObject({ Id: 'machine-5' })
    expect(expanded.Members[4]).not.toHaveProperty('PowerState')
    const page = await get('$top=2&$skip=2')
    expect(page.Members.map((each: Record<string, string>) => each['@odata.id'])).toEqual([
      '/redfish/v1/Systems/machine-3',
      '/redfish/v1/Systems/machine-4',
    ])
    expect(page['Members@odata.nextLink']).toBe('/redfish/v1/Systems?$top=2&$skip=4')
    expect(await bmc.call('GET', '/redfish/v1/Systems?$filter=x')).toMatchObject({ status: 501 })
    expect(await bmc.call('GET', '/redfish/v1/Systems?$top=-1')).toMatchObject({ status: 400 })
    expect((await bmc.call('GET', `${SYSTEM}?$select=PowerState`)).document).toMatchObject({ PowerState: 'Off' })
    expect(await bmc.call('GET', `${SYSTEM}?only`)).toMatchObject({ status: 400 })
  })
})

test('the root shows its collections to those who have credentials, also expanded', async () => {
  await using bmc = await served(2)
  const { document } = await bmc.call('GET', '/redfish/v1/?$expand=.')
  expect(document.Systems['Members@odata.count']).toBe(2)
  const open = await bmc.call('GET', '/redfish/v1/?$expand=.', undefined, {})
  expect(open.document.Systems).toEqual({ '@odata.id': '/redfish/v1/Systems' })
  const wrong = await bmc.call('GET', '/redfish/v1/?$expand=.', undefined, basic({ ...ADMIN, password: 'no' }))
  expect(wrong.document).toEqual(open.document)
})

describe('an expanded collection', () => {
  interface Page {
    Members: Record<string, string>[]
    'Members@odata.nextLink'?: string
  }
  const pages = async (bmc: Awaited<ReturnType<typeof served>>, first: Page): Promise<Page[]> => {
    const next = first['Members@odata.nextLink']
    if (next === undefined) return [first]
    return [first, ...(await pages(bmc, (await bmc.call('GET', next)).document as Page))]
  }
  const ids = (all: readonly Page[]) => all.flatMap(({ Members }) => Members.map(({ Id }) => Id))
  const expected = (count: number) => Array.from({ length: count }, (_, index) => `machine-${index + 1}`)

  test('comes in pages, also below another resource', async () => {
    await using bmc = await served(1100)
    const systems = (await bmc.call('GET', '/redfish/v1/Systems?$expand=.')).document as Page
    expect(systems.Members).toHaveLength(500)
    const own = await pages(bmc, systems)
    expect(own.map(({ Members }) => Members.length)).toEqual([500, 500, 100])
    expect(ids(own)).toEqual(expected(1100))
    const root = (await bmc.call('GET', '/redfish/v1/?$expand=.($levels=2)')).document as Record<string, Page>
    expect(root['Systems']!.Members).toHaveLength(500)
    expect(ids(await pages(bmc, root['Systems']!))).toEqual(expected(1100))
  })

  test('of many levels has as many members as one answer may have resources', async () => {
    await using bmc = await served(300)
    const first = (await bmc.call('GET', '/redfish/v1/Systems?$expand=*($levels=4)')).document as Page
    expect(first.Members.length).toBeGreaterThan(5)
    expect(first.Members.length).toBeLessThan(100)
    expect(first['Members@odata.nextLink']).toBe(
      `/redfish/v1/Systems?$expand=*($levels=4)&$skip=${first.Members.length}`,
    )
  })

  test('is read while other requests are answered', async () => {
    await using bmc = await served(1000)
    const order: string[] = []
    const long = bmc.call('GET', '/redfish/v1/Systems?$expand=*($levels=4)').then(() => order.push('expansion'))
    await new Promise((resolve) => setImmediate(resolve))
    await bmc.call('GET', SYSTEM).then(() => order.push('system'))
    await long
    expect(order).toEqual(['system', 'expansion'])
  })
})

describe('a machine', () => {
  const reset = `${SYSTEM}/Actions/ComputerSystem.Reset`

  test('follows a reset, and refuses one that needs it to be on', async () => {
    await using bmc = await served()
    const state = async () => (await bmc.call('GET', SYSTEM)).document.PowerState
    expect(await bmc.call('POST', reset, { ResetType: 'ForceRestart' })).toMatchObject({ status: 409 })
    expect((await bmc.call('POST', reset, { ResetType: 'On' })).status).toBe(204)
    expect(await state()).toBe('On')
    expect((await bmc.call('POST', reset, { ResetType: 'GracefulShutdown' })).status).toBe(204)
    expect(await state()).toBe('Off')
    const wrong = await bmc.call('POST', reset, { ResetType: 'Explode' })
    expect(wrong.status).toBe(400)
    expect(wrong.document.error['@Message.ExtendedInfo'][0].RelatedProperties).toEqual(['#/ResetType'])
  })

  test('boots once from the inserted CD, then from its disks', async () => {
    await using bmc = await served()
    const machine = bmc.machine()
    await machine.setBoot({ kind: 'disk' })
    await bmc.call('PATCH', SYSTEM, { Boot: { BootSourceOverrideTarget: 'Cd', BootSourceOverrideEnabled: 'Once' } })
    expect((await bmc.call('GET', SYSTEM)).document.Boot).toMatchObject({ BootSourceOverrideEnabled: 'Once' })
    await machine.setPower('on')
    expect((await bmc.call('GET', SYSTEM)).document.Boot).toMatchObject({
      BootSourceOverrideEnabled: 'Disabled',
      BootSourceOverrideTarget: 'None',
    })
    await expect.poll(() => machine.boot()?.source).toEqual({ kind: 'cdrom' })
    await machine.setPower('reboot')
    await expect.poll(() => machine.boot()?.source).toEqual({ kind: 'disk' })
  })

  test('with a continuous override follows it at each boot', async () => {
    await using bmc = await served()
    await bmc.machine().setBoot({ kind: 'disk' })
    const Boot = { BootSourceOverrideTarget: 'Cd', BootSourceOverrideEnabled: 'Continuous' }
    await bmc.call('PATCH', SYSTEM, { Boot })
    for (let boot = 0; boot < 2; boot++) {
      await bmc.machine().setPower('reboot')
      await expect.poll(() => bmc.machine().boot()?.source).toEqual({ kind: 'cdrom' })
    }
    expect((await bmc.call('GET', SYSTEM)).document.Boot).toMatchObject(Boot)
  })

  test.each(['Managers', 'Systems'])(
    'takes and ejects virtual media below %s, with the account of its server',
    async (parent) => {
      await using bmc = await served()
      const slot = `/redfish/v1/${parent}/machine-1/VirtualMedia/Cd`
      const Image = 'https://images.example.com/boot-1.iso?token=abc'
      const insert = { Image, UserName: 'reader', Password: 'hidden' }
      expect((await bmc.call('POST', `${slot}/Actions/VirtualMedia.InsertMedia`, insert)).status).toBe(204)
      const { document, body } = await bmc.call('GET', slot)
      expect(document).toMatchObject({
        Image,
        ImageName: 'boot-1.iso',
        Inserted: true,
        UserName: 'reader',
        Password: null,
      })
      expect(body).not.toContain('hidden')
      expect(bmc.machine().firmware.mediaOptions('cdrom')).toMatchObject({ username: 'reader', password: 'hidden' })
      expect((await bmc.call('POST', `${slot}/Actions/VirtualMedia.EjectMedia`)).status).toBe(204)
      expect((await bmc.call('GET', slot)).document).toMatchObject({ Image: null, Inserted: false })
      expect((await bmc.call('PATCH', slot, { Image, Inserted: true })).document).toMatchObject({ Inserted: true })
      expect((await bmc.call('PATCH', slot, { Image: null })).document).toMatchObject({ Inserted: false })
      const missing = await bmc.call('POST', `${slot}/Actions/VirtualMedia.InsertMedia`, {})
      expect(messagesOf(missing)).toEqual(['ActionParameterMissing'])
    },
  )

  test('takes BIOS settings for its next boot', async () => {
    await using bmc = await served()
    const settings = `${SYSTEM}/Bios/Settings`
    const wrong = await bmc.call('PATCH', settings, { Attributes: { QuietBoot: 'Maybe', Nothing: 1 } })
    expect(messagesOf(wrong)).toEqual(['PropertyValueNotInList', 'PropertyUnknown'])
    await bmc.call('PATCH', settings, { Attributes: { QuietBoot: 'Disabled' } })
    const attribute = async (path: string) => (await bmc.call('GET', path)).document.Attributes.QuietBoot
    expect([await attribute(settings), await attribute(`${SYSTEM}/Bios`)]).toEqual(['Disabled', 'Enabled'])
    await bmc.machine().setPower('on')
    expect([await attribute(settings), await attribute(`${SYSTEM}/BIOS`)]).toEqual([undefined, 'Disabled'])
    await bmc.call('POST', `${SYSTEM}/Bios/Actions/Bios.ResetBios`)
    await bmc.machine().setPower('reboot')
    expect(await attribute(`${SYSTEM}/Bios`)).toBe('Enabled')
  })

  test('turns secure boot on at its next boot, where it boots by UEFI', async () => {
    await using bmc = await served()
    const path = `${SYSTEM}/SecureBoot`
    await bmc.call('PATCH', path, { SecureBootEnable: true })
    const before = await bmc.call('GET', path)
    expect(before.document).toMatchObject({ SecureBootEnable: true, SecureBootCurrentBoot: 'Disabled' })
    await bmc.machine().setPower('on')
    expect((await bmc.call('GET', path)).document).toMatchObject({ SecureBootCurrentBoot: 'Enabled' })
    await bmc.call('PATCH', SYSTEM, { Boot: { BootSourceOverrideMode: 'Legacy' } })
    expect(messagesOf(await bmc.call('PATCH', path, { SecureBootEnable: true }))).toEqual(['PropertyValueConflict'])
  })
})

test('every call passes the probe with its machine, method and path', async () => {
  await using bmc = await served()
  const seen: unknown[] = []
  using _ = bmc.probe.attach((point, next) => (seen.push(point), next()), ['bmc'])
  await bmc.call('GET', SYSTEM)
  await bmc.call('POST', `${SYSTEM}/Actions/ComputerSystem.Reset`, { ResetType: 'On' })
  expect(seen).toEqual([
    { kind: 'bmc', call: 'read power', method: 'GET', target: SYSTEM, lie: expect.any(Function), machine: 'machine-1' },
    expect.objectContaining({ call: 'set power', method: 'POST', machine: 'machine-1' }),
  ])
})
