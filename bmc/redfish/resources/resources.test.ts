import { describe, expect, test } from 'vitest'
import { crawled } from '../../../test/kit/redfish/crawled.js'
import { ADMIN, basic, served } from '../../../test/kit/redfish/served.js'

const SYSTEM = '/redfish/v1/Systems/machine-1'

test('every link leads to a resource, which names itself and has a schema in $metadata', async () => {
  await using bmc = await served(2)
  await bmc.machine().setPower('on')
  await bmc.call('POST', `${SYSTEM}/Storage/RAID.1/Volumes`, { RAIDType: 'RAID1' })
  await bmc.call('POST', '/redfish/v1/EventService/Subscriptions', {
    Destination: 'http://127.0.0.1:9',
    Protocol: 'Redfish',
  })
  const all = await crawled(bmc)
  expect(all.size).toBeGreaterThan(200)
  const metadata = (
    await bmc.service.dispatch({ method: 'GET', target: '/redfish/v1/$metadata', headers: {}, base: '' })
  ).body
  for (const [path, { status, document }] of all) {
    expect({ path, status }).toEqual({ path, status: 200 })
    const { '@odata.id': self = path, '@odata.type': type } = document as Record<string, string>
    expect(self).toBe(path)
    expect({ path, isNamed: metadata!.includes(`Namespace="${type!.replace(/^#|\.\w+$/g, '')}"`) }).toEqual({
      path,
      isNamed: true,
    })
  }
})

describe('volumes', () => {
  const volumes = `${SYSTEM}/Storage/RAID.1/Volumes`

  test('are made of named drives, shown, and deleted', async () => {
    await using bmc = await served()
    const disks = bmc.machine().spec.disks.map(({ name }) => name)
    const Drives = [
      { '@odata.id': `${SYSTEM}/Storage/RAID.1/Drives/sda` },
      { '@odata.id': `${SYSTEM}/Storage/RAID.1/Drives/sdb` },
    ]
    const made = await bmc.call('POST', volumes, {
      Name: 'root',
      RAIDType: 'RAID1',
      CapacityBytes: 1024 ** 3,
      Links: { Drives },
    })
    expect(made.status).toBe(201)
    expect(bmc.machine().spec.disks.map(({ name }) => name)).toEqual(disks)
    const { document } = await bmc.call('GET', made.headers['location']!)
    expect(document).toMatchObject({ Name: 'root', RAIDType: 'RAID1', CapacityBytes: 1024 ** 3, Links: { Drives } })
    expect(bmc.machine().firmware.volumes).toMatchObject([
      { raid_level: '1', size_gb: 1, physical_disks: ['sda', 'sdb'] },
    ])
    expect((await bmc.call('DELETE', made.headers['location']!)).status).toBe(204)
    expect((await bmc.call('GET', volumes)).document['Members@odata.count']).toBe(0)
  })

  test('of a driver of Ironic are shown like any other', async () => {
    await using bmc = await served()
    await bmc.machine().firmware.setVolumes([{ size_gb: 10, raid_level: '1+0' }])
    expect((await bmc.call('GET', `${volumes}/1`)).document).toMatchObject({
      RAIDType: 'RAID10',
      CapacityBytes: 10 * 1024 ** 3,
    })
  })

  test.each([
    [{ RAIDType: 'RAID5' }, 'RAIDType'],
    [
      { RAIDType: 'RAID1', Links: { Drives: [{ '@odata.id': `${SYSTEM}/Storage/RAID.1/Drives/sdz` }] } },
      'Links/Drives',
    ],
    [{ RAIDType: 'RAID7' }, 'RAIDType'],
    [{ RAIDType: 'RAID1', CapacityBytes: Number.MAX_SAFE_INTEGER }, 'CapacityBytes'],
    [
      {
        RAIDType: 'RAID1',
        Links: { Drives: ['sda', 'sda'].map((name) => ({ '@odata.id': `${SYSTEM}/Storage/RAID.1/Drives/${name}` })) },
      },
      'Links/Drives',
    ],
  ])('are refused as %j', async (body, property) => {
    await using bmc = await served()
    const { status, document } = await bmc.call('POST', volumes, body)
    expect(status).toBe(400)
    expect(document.error['@Message.ExtendedInfo'][0].RelatedProperties).toEqual([`#/${property}`])
    expect(bmc.machine().firmware.volumes).toEqual([])
  })

  test('are shown at their drives, whose room they share', async () => {
    await using bmc = await served()
    const made = await bmc.call('POST', volumes, { RAIDType: 'RAID1' })
    expect(made.status).toBe(201)
    const drive = await bmc.call('GET', `${SYSTEM}/Storage/RAID.1/Drives/sda`)
    expect(drive.document.Links.Volumes).toEqual([{ '@odata.id': made.headers['location'] }])
    const another = await bmc.call('POST', volumes, { RAIDType: 'RAID1' })
    expect(another.status).toBe(400)
    expect(another.document.error['@Message.ExtendedInfo'][0].MessageId).toContain('ResourceExhaustion')
  })
})

describe('an update of firmware', () => {
  const update = '/redfish/v1/UpdateService/Actions/UpdateService.SimpleUpdate'
  const inventory = '/redfish/v1/UpdateService/FirmwareInventory'

  test('is a task, at the end of which the component has its new version', async () => {
    await using bmc = await served()
    const started = await bmc.call('POST', update, { ImageURI: 'http://images.test/bios-4.2.bin' })
    expect(started).toMatchObject({ status: 202, document: {} })
    const monitor = started.headers['location']!
    const running = { TaskState: 'Running', TaskStatus: 'OK' }
    expect(await bmc.call('GET', monitor)).toMatchObject({ status: 202, document: running })
    const version = async () => (await bmc.call('GET', `${inventory}/machine-1-bios`)).document.Version
    expect(await version()).toBe('1.0.0')
    await bmc.clock.advance(2000)
    expect(await bmc.call('GET', monitor)).toMatchObject({ status: 200, document: { TaskState: 'Completed' } })
    expect(await version()).toBe('4.2')
    expect((await bmc.call('GET', SYSTEM)).document.BiosVersion).toBe('4.2')
  })

  test('fetches its image, with the account of the request; where it cannot, the task says why and nothing is written', async () => {
    const fetched: unknown[] = []
    await using bmc = await served(1, {
      fetchFirmware: (url, { account }) => {
        fetched.push([url, account])
        return url.includes('missing') ? Promise.reject(new Error('the server answered 404')) : Promise.resolve()
      },
    })
    const ended = async (ImageURI: string, more: object = {}) => {
      const { headers } = await bmc.call('POST', update, { ImageURI, ...more })
      await bmc.clock.advance(2000)
      return (await bmc.call('GET', headers['location']!)).document
    }
    const versions = () => bmc.machine().firmware.versions()
    const before = versions()
    const failed = await ended('http://someone:secret@images.test/missing-bios-9.1.bin')
    expect(failed).toMatchObject({ TaskState: 'Exception', TaskStatus: 'Critical' })
    expect(failed.Messages[0].Message).toBe(
      'The operation failed: fetching http://******@images.test/missing-bios-9.1.bin: the server answered 404.',
    )
    expect(versions()).toEqual(before)
    const account = { Username: 'reader', Password: 'of images' }
    expect(await ended('http://images.test/bios-4.2.bin', account)).toMatchObject({ TaskState: 'Completed' })
    expect(fetched[1]).toEqual(['http://images.test/bios-4.2.bin', { username: 'reader', password: 'of images' }])
    expect(versions()[0]).toMatchObject({ component: 'bios', version: '4.2' })
  })

  test('names its machine where several have the same account', async () => {
    await using bmc = await served(2)
    const ImageURI = 'http://images.test/bmc-7.0.bin'
    const refused = await bmc.call('POST', update, { ImageURI })
    expect(refused.document.error['@Message.ExtendedInfo'][0]).toMatchObject({ RelatedProperties: ['#/Targets'] })
    await bmc.call('POST', update, { ImageURI, Targets: ['/redfish/v1/Systems/machine-2'] })
    await bmc.clock.advance(2000)
    const versions = [1, 2].map((n) =>
      bmc
        .machine(n)
        .firmware.report()
        .firmware.find(({ component }) => component === 'bmc'),
    )
    expect(versions.map((each) => each!.version)).toEqual(['2.0.0', '7.0'])
    expect(await bmc.call('POST', update, { ImageURI, Targets: [`${inventory}/machine-9-bmc`] })).toMatchObject({
      status: 400,
    })
  })
})

test('a changed password opens the machine, the old one does not, and the session continues', async () => {
  await using bmc = await served()
  const signedIn = await bmc.call(
    'POST',
    '/redfish/v1/SessionService/Sessions',
    { UserName: 'admin', Password: ADMIN.password },
    {},
  )
  const session = { 'x-auth-token': signedIn.headers['x-auth-token']! }
  const account = '/redfish/v1/AccountService/Accounts/machine-1'
  expect((await bmc.call('PATCH', account, { Password: 'short' }, session)).status).toBe(400)
  const changed = await bmc.call('PATCH', account, { Password: 'a-new-secret' }, session)
  expect(changed).toMatchObject({ status: 200, document: { UserName: 'admin', Password: null } })
  expect((await bmc.call('GET', SYSTEM)).status).toBe(401)
  expect((await bmc.call('GET', SYSTEM, undefined, basic({ ...ADMIN, password: 'a-new-secret' }))).status).toBe(200)
  expect((await bmc.call('GET', SYSTEM, undefined, session)).status).toBe(200)
})

test('the log says what happened to the machine, and why a boot failed; clearing leaves one entry', async () => {
  await using bmc = await served()
  const log = `${SYSTEM}/LogServices/EventLog`
  const Image = 'http://images.test/none.iso?token=hidden'
  await bmc.call('POST', `${SYSTEM}/VirtualMedia/Cd/Actions/VirtualMedia.InsertMedia`, { Image })
  await bmc.call('PATCH', SYSTEM, { Boot: { BootSourceOverrideTarget: 'Cd', BootSourceOverrideEnabled: 'Once' } })
  await bmc.machine().setPower('on')
  const entries = async () => (await bmc.call('GET', `${log}/Entries`)).document.Members as Record<string, string>[]
  await expect.poll(async () => (await entries()).length).toBe(3)
  const [inserted, on, failed] = await entries()
  expect(inserted!['Message']).toBe('A virtual medium was inserted: cdrom http://images.test/none.iso?token=******.')
  expect(on!['MessageId']).toBe('MachineEvent.1.0.PowerOn')
  expect(failed!['Severity']).toBe('Critical')
  expect(failed!['Message']).toMatch(/^The system did not boot: cdrom: no bootable device: /)
  await bmc.call('POST', `${log}/Actions/LogService.ClearLog`)
  expect((await entries()).map(({ Id }) => Id)).toEqual(['4'])
})

test('secure boot needs a platform key', async () => {
  await using bmc = await served()
  const path = `${SYSTEM}/SecureBoot`
  await bmc.call('PATCH', path, { SecureBootEnable: true })
  await bmc.call('POST', `${path}/Actions/SecureBoot.ResetKeys`, { ResetKeysType: 'DeletePK' })
  expect((await bmc.call('GET', path)).document).toMatchObject({ SecureBootEnable: false, SecureBootMode: 'SetupMode' })
  expect((await bmc.call('PATCH', path, { SecureBootEnable: true })).status).toBe(400)
  await bmc.call('POST', `${path}/SecureBootDatabases/PK/Actions/SecureBootDatabase.ResetKeys`, {
    ResetKeysType: 'ResetAllKeysToDefault',
  })
  expect((await bmc.call('PATCH', path, { SecureBootEnable: true })).document).toMatchObject({
    SecureBootMode: 'UserMode',
  })
})

test('sensors follow the power of the machine', async () => {
  await using bmc = await served()
  const read = async () => (await bmc.call('GET', '/redfish/v1/Chassis/machine-1/Thermal')).document
  expect((await read()).Temperatures[1]).toMatchObject({ ReadingCelsius: null, Status: { State: 'Absent' } })
  await bmc.machine().setPower('on')
  expect((await read()).Temperatures[1]).toMatchObject({ ReadingCelsius: 46, Status: { State: 'Enabled' } })
})

test('no resource of a machine of another vendor than Dell has parts of a vendor', async () => {
  await using bmc = await served()
  const all = await crawled(bmc)
  expect([...all].filter(([, { body }]) => body!.includes('"Oem"')).map(([path]) => path)).toEqual([])
})

test('a machine has one account, which is an administrator', async () => {
  await using bmc = await served()
  const accounts = '/redfish/v1/AccountService/Accounts'
  expect((await bmc.call('GET', accounts)).document.Members).toEqual([{ '@odata.id': `${accounts}/machine-1` }])
  expect((await bmc.call('GET', `${accounts}/machine-1`)).document.RoleId).toBe('Administrator')
  expect((await bmc.call('POST', accounts, { UserName: 'other', Password: 'a-new-secret' })).status).toBe(405)
  expect((await bmc.call('PATCH', `${accounts}/machine-1`, { RoleId: 'ReadOnly' })).status).toBe(400)
})
