import { describe, expect, test } from 'vitest'
import { ADMIN, basic, type Answer, type Served } from '../../../test/kit/redfish/served.js'
import { bmcOf, memberPaths, messageIds, REDFISH_ROOT as ROOT } from '../../../test/kit/redfish/bmc-of.js'

const IMAGE = 'http://images.test/boot.iso'
const system = async (bmc: Served): Promise<Answer> => {
  const paths = await memberPaths(bmc, `${ROOT}/Systems`)
  return bmc.call('GET', paths.find((path) => !path.includes('HGX')) ?? '')
}

describe('systems, managers and chassis beside those of the machine', () => {
  test('quirks 5, 8: a GB200 has a baseboard and its controller, which a client cannot reset or boot', async () => {
    await using bmc = await bmcOf('nvidia-gb200')
    expect(await memberPaths(bmc, `${ROOT}/Systems`)).toEqual([
      `${ROOT}/Systems/System_0`,
      `${ROOT}/Systems/HGX_Baseboard_0`,
    ])
    expect(await memberPaths(bmc, `${ROOT}/Managers`)).toContain(`${ROOT}/Managers/HGX_BMC_0`)
    const { document } = await bmc.call('GET', `${ROOT}/Systems/HGX_Baseboard_0`)
    expect(document).toMatchObject({ Id: 'HGX_Baseboard_0', PowerState: 'On' })
    for (const name of ['Actions', 'Boot', 'Bios', 'EthernetInterfaces']) expect(document).not.toHaveProperty(name)
    expect((await bmc.call('GET', `${ROOT}/Systems/HGX_Baseboard_0/Processors`)).status).toBe(404)
    const reset = `${ROOT}/Systems/HGX_Baseboard_0/Actions/ComputerSystem.Reset`
    expect((await bmc.call('POST', reset, { ResetType: 'On' })).status).toBe(404)
    expect(bmc.machine().power()).toBe('off')
  })

  test('quirk 5: a client that takes the first chassis finds the board of the BMC', async () => {
    await using bmc = await bmcOf('nvidia-gb200')
    const [first] = await memberPaths(bmc, `${ROOT}/Chassis`)
    expect((await bmc.call('GET', first!)).document).toMatchObject({ Id: 'BMC_0', ChassisType: 'Component' })
  })

  test('those of several machines behind one address have the names of these, and their links lead to each other', async () => {
    await using bmc = await bmcOf('nvidia-gb200', 2)
    expect(await memberPaths(bmc, `${ROOT}/Systems`)).toEqual([
      `${ROOT}/Systems/machine-1`,
      `${ROOT}/Systems/machine-1-HGX_Baseboard_0`,
      `${ROOT}/Systems/machine-2`,
      `${ROOT}/Systems/machine-2-HGX_Baseboard_0`,
    ])
    const { document } = await bmc.call('GET', `${ROOT}/Systems/machine-2-HGX_Baseboard_0`)
    expect(document.Links.ManagedBy).toEqual([{ '@odata.id': `${ROOT}/Managers/machine-2-HGX_BMC_0` }])
    expect((await bmc.call('GET', `${ROOT}/Systems/HGX_Baseboard_0`)).status).toBe(404)
    expect((await bmc.call('GET', `${ROOT}/Systems/machine-1/FurtherMembers/HGX_Baseboard_0`)).status).toBe(404)
  })

  test.each(["HGX 'Base'", 'Enclosure.Internal.0-1:RAID.1', 'Größe %2F', '..'])('may have the id %s', async (id) => {
    const further = [{ folder: 'Chassis', id, place: 'last', properties: { ChassisType: 'Zone' } }]
    await using bmc = await bmcOf({ base: 'xcc', resources: { further } }, 2)
    for (const path of await memberPaths(bmc, `${ROOT}/Chassis`)) {
      const { status, document } = await bmc.call('GET', path)
      expect({ status, path: document['@odata.id'] as string }).toEqual({ status: 200, path })
    }
    await using alone = await bmcOf({ base: 'xcc', resources: { further } })
    const [, last] = await memberPaths(alone, `${ROOT}/Chassis`)
    expect((await alone.call('GET', last!)).document).toMatchObject({ Id: id, ChassisType: 'Zone' })
  })

  test('an expanded collection has them too', async () => {
    await using bmc = await bmcOf('nvidia-dgx')
    const { document } = await bmc.call('GET', `${ROOT}/Systems?$expand=.`)
    expect(document.Members).toMatchObject([{ Id: 'DGX' }, { Id: 'HGX_Baseboard_0' }])
  })

  test('quirk 13: a Cisco has a second manager without a status', async () => {
    await using bmc = await bmcOf('cimc')
    const [, second] = await memberPaths(bmc, `${ROOT}/Managers`)
    expect((await bmc.call('GET', second!)).document).not.toHaveProperty('Status')
  })

  test('quirk 15: a chassis of a user has no ChassisType', async () => {
    const further = [{ folder: 'Chassis', id: 'Tray', place: 'first', properties: {} }]
    await using bmc = await bmcOf({ base: 'openbmc', resources: { further } })
    const [first] = await memberPaths(bmc, `${ROOT}/Chassis`)
    const { document } = await bmc.call('GET', first!)
    expect(document).toMatchObject({ Id: 'Tray', '@odata.id': `${ROOT}/Chassis/Tray` })
    expect(document).not.toHaveProperty('ChassisType')
  })
})

describe('collections and resources', () => {
  test('quirk 6: ids of the sample of DMTF', async () => {
    await using bmc = await bmcOf({ paths: { system: '437XR1138R2' } })
    expect((await bmc.call('GET', `${ROOT}/Systems/437XR1138R2`)).document.Id).toBe('437XR1138R2')
  })

  test('quirk 10: the members of a collection are texts', async () => {
    await using bmc = await bmcOf({ paths: { members: 'texts' } })
    expect((await bmc.call('GET', `${ROOT}/Systems`)).document.Members).toEqual([`${ROOT}/Systems/machine-1`])
  })

  test('quirk 11: a collection without members has null, and a system no UUID', async () => {
    const own = {
      paths: { noMembers: 'null' },
      media: { slots: [] },
      properties: { changed: { 'ComputerSystem.UUID': '' } },
    }
    await using bmc = await bmcOf(own)
    const path = `${ROOT}/Managers/machine-1/VirtualMedia`
    expect((await bmc.call('GET', path)).document).toMatchObject({ Members: null, 'Members@odata.count': 0 })
    expect((await system(bmc)).document.UUID).toBe('')
  })

  test('quirk 12: a chassis has neither type nor name', async () => {
    await using bmc = await bmcOf({
      base: 'nvidia-dgx',
      resources: { further: [] },
      properties: { leftOut: ['Chassis.ChassisType', 'Chassis.Name'] },
    })
    const { document } = await bmc.call('GET', `${ROOT}/Chassis/DGX`)
    expect(document).toHaveProperty('Id')
    for (const name of ['ChassisType', 'Name']) expect(document).not.toHaveProperty(name)
  })

  test('quirk 79: a service of a user is not there, and nothing links to it', async () => {
    await using bmc = await bmcOf({ resources: { absent: ['/SessionService', '/Systems/*/SimpleStorage'] } })
    const root = (await bmc.call('GET', `${ROOT}/`, undefined, {})).document
    expect(root).not.toHaveProperty('SessionService')
    expect((await bmc.call('GET', `${ROOT}/SessionService`)).status).toBe(404)
    expect((await system(bmc)).document).not.toHaveProperty('SimpleStorage')
    expect((await bmc.call('GET', `${ROOT}/Systems/machine-1/SimpleStorage/RAID.1`)).status).toBe(404)
  })

  test('quirks 90, 91: a resource is refused without a licence, others are not', async () => {
    const refused = [
      {
        at: '/Systems/*/SecureBoot',
        methods: null,
        status: 403,
        messageId: 'SMC.1.0.OemLicenseNotPassed',
        message: 'Not licensed to perform this request: SFT-OOB-LIC.',
        while: 'always',
      },
    ]
    await using bmc = await bmcOf({ base: 'supermicro-x13', resources: { refused } })
    const answer = await bmc.call('GET', `${ROOT}/Systems/1/SecureBoot/SecureBootDatabases`)
    expect(answer.status).toBe(403)
    expect(messageIds(answer)).toEqual(['SMC.1.0.OemLicenseNotPassed'])
    expect(answer.document.error.message).toContain('SFT-OOB-LIC')
    expect((await bmc.call('GET', `${ROOT}/Systems/1/Bios`)).status).toBe(200)
  })

  test('quirk 96: the adapters of an iLO are there once the system is on, and its NICs tell no state', async () => {
    await using bmc = await bmcOf('ilo5')
    const path = `${ROOT}/chassis/1/networkadapters/`
    expect(messageIds(await bmc.call('GET', path))).toEqual(['iLO.2.14.ResourceNotReadyRetry'])
    await bmc.machine().setPower('on')
    expect((await bmc.call('GET', path)).status).toBe(200)
    const { document } = await bmc.call('GET', `${ROOT}/Systems/1/EthernetInterfaces/eno1`)
    expect(document).toMatchObject({ Status: { Health: null, State: null }, PermanentMACAddress: null })
  })
})

describe('power and boot', () => {
  const once = { BootSourceOverrideTarget: 'Pxe', BootSourceOverrideEnabled: 'Once' }
  const boot = (bmc: Served) => bmc.machine().firmware.boot.override

  test('quirk 20: the power is shown late', async () => {
    await using bmc = await bmcOf({ power: { shownAfter: 40 } })
    const shown = async () => (await system(bmc)).document.PowerState
    await bmc.machine().setPower('on')
    expect(await shown()).toBe('Off')
    await bmc.clock.advance(40_000)
    expect(await shown()).toBe('On')
    await bmc.machine().setPower('off')
    expect(await shown()).toBe('On')
  })

  test('quirk 30: an override by the settings object only', async () => {
    await using bmc = await bmcOf({ boot: { at: 'settings', settings: 'Settings' } })
    expect((await bmc.call('PATCH', `${ROOT}/Systems/machine-1`, { Boot: once })).status).toBe(400)
    expect((await bmc.call('PATCH', `${ROOT}/Systems/machine-1/Settings`, { Boot: once })).status).toBe(200)
  })

  test('quirks 34, 41: an X10 has targets of its own, and knows no mode', async () => {
    await using bmc = await bmcOf('supermicro-x10')
    const path = `${ROOT}/Systems/1`
    const targets = (await bmc.call('GET', path)).document.Boot['BootSourceOverrideTarget@Redfish.AllowableValues']
    expect(targets).toEqual(expect.arrayContaining(['CD/DVD', 'UefiUsbCd', 'UsbKey']))
    const named = { BootSourceOverrideTarget: 'UefiUsbCd', BootSourceOverrideEnabled: 'Once' }
    const refused = await bmc.call('PATCH', path, { Boot: { ...named, BootSourceOverrideMode: 'UEFI' } })
    expect(refused.status).toBe(400)
    expect(boot(bmc).target).toBe('None')
    expect((await bmc.call('PATCH', path, { Boot: named })).status).toBe(200)
    expect(boot(bmc).target).toBe('Cd')
  })

  test('quirk 35: the mode must come with Disabled, too', async () => {
    const together = ['BootSourceOverrideEnabled', 'BootSourceOverrideMode']
    await using bmc = await bmcOf({
      base: 'ami',
      boot: { at: 'system', mode: 'writable', together },
      etags: { without: 'accepted' },
    })
    const patch = (change: object) => bmc.call('PATCH', `${ROOT}/Systems/Self`, { Boot: change })
    const disabled = { BootSourceOverrideEnabled: 'Disabled' }
    expect(messageIds(await patch(disabled))).toEqual(['Base.1.12.PropertyMissing'])
    expect((await patch({ ...disabled, BootSourceOverrideMode: 'UEFI' })).status).toBe(200)
  })

  test('quirk 38: an iDRAC 8 refuses Enabled with a UEFI target', async () => {
    await using bmc = await bmcOf('idrac8')
    const path = `${ROOT}/Systems/System.Embedded.1`
    const [option] = bmc.machine().firmware.boot.options()
    const target = { BootSourceOverrideTarget: 'UefiTarget', UefiTargetBootSourceOverride: option!.path }
    const refused = await bmc.call('PATCH', path, { Boot: { ...target, BootSourceOverrideEnabled: 'Once' } })
    expect(messageIds(refused)).toEqual(['Base.1.0.PropertyValueConflict'])
    const taken = await bmc.call('PATCH', path, { Boot: { ...target, BootSourceOverrideMode: 'UEFI' } })
    expect(taken.status).toBe(200)
    expect(boot(bmc)).toMatchObject({ target: 'UefiTarget', enabled: 'Once' })
  })

  test('quirk 44: an override is confirmed, and the disk boots', async () => {
    await using bmc = await bmcOf({
      base: 'supermicro-x13',
      boot: { targets: { None: 'None', Cd: 'Hdd', Pxe: 'Hdd' } },
    })
    await bmc.machine().firmware.insert('cdrom', IMAGE)
    const wanted = { BootSourceOverrideTarget: 'Cd', BootSourceOverrideEnabled: 'Once' }
    expect((await bmc.call('PATCH', `${ROOT}/Systems/1`, { Boot: wanted })).document.Boot).toMatchObject(wanted)
    await bmc.machine().setPower('on')
    await expect.poll(() => bmc.machine().boot()?.source.kind).toBe('disk')
  })

  test('quirks 45, 46: Redfish shows another boot order than the firmware has, and entries with their names', async () => {
    const BootOrder = ['Boot0019: Ubuntu', 'Boot0001: Network']
    await using bmc = await bmcOf({ properties: { changed: { 'ComputerSystem.Boot.BootOrder': BootOrder } } })
    expect((await system(bmc)).document.Boot.BootOrder).toEqual(BootOrder)
    expect(bmc.machine().firmware.boot.order).not.toEqual(BootOrder)
  })

  test('quirk 47: a boot option of an iDRAC tells no device, and there is no HttpBootUri', async () => {
    await using bmc = await bmcOf('idrac9')
    const path = `${ROOT}/Systems/System.Embedded.1`
    const [option] = await memberPaths(bmc, `${path}/BootOptions`)
    expect((await bmc.call('GET', option!)).document.RelatedItem).toBeNull()
    expect((await bmc.call('GET', path)).document.Boot).not.toHaveProperty('HttpBootUri')
  })

  test('quirk 48: an iRMC changes the override by BootConfig too, with its ETag', async () => {
    await using bmc = await bmcOf('irmc')
    const path = `${ROOT}/Systems/0/Oem/ts_fujitsu/BootConfig`
    const read = await bmc.call('GET', path)
    expect(read.document).toMatchObject({ BootDevice: 'None', BootType: 'UEFI', NextBootOnlyEnabled: true })
    expect(read.headers['etag']).not.toContain('"')
    const headers = (tag: string) => ({ ...basic(ADMIN), 'if-match': tag })
    const wanted = { BootDevice: 'Cd', NextBootOnlyEnabled: false }
    const changed = { ...wanted, '@odata.etag': read.document['@odata.etag'] as string }
    expect((await bmc.call('PATCH', path, changed)).status).toBe(428)
    expect((await bmc.call('PATCH', path, changed, headers('older'))).status).toBe(412)
    expect((await bmc.call('PATCH', path, changed, headers(`"${read.headers['etag']}"`))).status).toBe(412)
    expect((await bmc.call('PATCH', path, changed, headers(read.headers['etag']!))).document).toMatchObject(wanted)
    expect(boot(bmc)).toMatchObject({ target: 'Cd', enabled: 'Continuous' })
    const text = { BootDevice: 'Pxe', BootType: 'Legacy', NextBootOnlyEnabled: 'true' }
    expect((await bmc.call('PATCH', path, text, headers('*'))).document).toMatchObject({ BootType: 'Legacy' })
    expect(boot(bmc)).toMatchObject({ target: 'Pxe', enabled: 'Once' })
    expect((await bmc.call('PATCH', path, { BootDevice: 'Zork' }, headers('*'))).status).toBe(400)
    await using other = await bmcOf('xcc')
    expect((await other.call('GET', `${ROOT}/Systems/1/Oem/ts_fujitsu/BootConfig`)).status).toBe(404)
  })
})

describe('virtual media', () => {
  test('quirk 51: slots that can only be read', async () => {
    await using bmc = await bmcOf({ base: 'idrac9', media: { insertBy: 'none' } })
    const path = `${ROOT}/Managers/iDRAC.Embedded.1/VirtualMedia/CD`
    const { document, headers } = await bmc.call('GET', path)
    expect(document).not.toHaveProperty('Actions')
    expect(headers['allow']).toBe('GET, HEAD')
    expect((await bmc.call('PATCH', path, { Image: IMAGE })).status).toBe(405)
    expect(bmc.machine().firmware.hasSlot('cdrom')).toBe(false)
  })

  test('quirk 55: an iLO 4 takes a PATCH of the image alone', async () => {
    await using bmc = await bmcOf('ilo4')
    const path = `${ROOT}/Managers/1/VirtualMedia/2`
    const refused = await bmc.call('PATCH', path, { Image: IMAGE, Inserted: true })
    expect(refused.status).toBe(400)
    expect(messageIds(refused)).toEqual(['Base.0.10.PropertyUnknown'])
    expect((await bmc.call('PATCH', path, { Image: IMAGE })).status).toBe(200)
    expect(bmc.machine().firmware.inserted('cdrom')).toBe(IMAGE)
  })

  test('quirk 59: an X10 has its image written into CfgCD, and mounted by an action', async () => {
    await using bmc = await bmcOf('supermicro-x10')
    const slots = `${ROOT}/Managers/1/VM1`
    expect((await bmc.call('GET', `${ROOT}/Managers/1`)).document.VirtualMedia).toEqual({ '@odata.id': slots })
    const empty = (await bmc.call('GET', slots)).document
    expect(empty).toMatchObject({ 'Members@odata.count': 0 })
    expect(empty).not.toHaveProperty('Members')
    const config = empty.Oem.Supermicro.VirtualMediaConfig['@odata.id'] as string
    expect(config).toBe(`${slots}/CfgCD`)
    const mount = `${config}/Actions/IsoConfig.Mount`
    expect((await bmc.call('POST', mount, {})).status).toBe(400)
    const written = { Host: 'http://images.test', Path: '/boot.iso', Username: '', Password: '' }
    expect((await bmc.call('PATCH', config, written)).status).toBe(200)
    expect(bmc.machine().firmware.inserted('cdrom')).toBeUndefined()
    expect((await bmc.call('POST', mount, {})).status).toBe(200)
    expect(bmc.machine().firmware.inserted('cdrom')).toBe(IMAGE)
    expect(await memberPaths(bmc, slots)).toEqual([`${slots}/CD1`])
    expect((await bmc.call('GET', `${slots}/CD1`)).document).toMatchObject({ Inserted: true, ImageName: 'boot.iso' })
    expect((await bmc.call('GET', config)).document).toMatchObject({ Path: '/boot.iso', Password: '********' })
    expect((await bmc.call('POST', `${config}/Actions/IsoConfig.UnMount`)).status).toBe(200)
    expect(bmc.machine().firmware.inserted('cdrom')).toBeUndefined()
    expect((await bmc.call('GET', `${ROOT}/Managers/1/VirtualMedia`)).status).toBe(404)
  })

  test('quirk 59: CfgCD refuses paths with a query, and takes a share of Windows', async () => {
    await using bmc = await bmcOf('supermicro-x10')
    const config = `${ROOT}/Managers/1/VM1/CfgCD`
    expect((await bmc.call('PATCH', config, { Path: '/boot.iso?token=1' })).status).toBe(400)
    expect((await bmc.call('PATCH', config, { Host: 5 })).status).toBe(400)
    await bmc.call('PATCH', config, { Host: 'file://a b', Path: '/etc/passwd' })
    const refused = await bmc.call('POST', `${config}/Actions/IsoConfig.Mount`)
    expect(messageIds(refused)).toEqual(['Base.1.0.0.PropertyValueFormatError'])
    expect(bmc.machine().firmware.inserted('cdrom')).toBeUndefined()
    const share = { Host: '192.0.2.10', Path: '\\images\\boot.iso', Username: 'iso', Password: 'secret' }
    await bmc.call('PATCH', config, share)
    await bmc.call('POST', `${config}/Actions/IsoConfig.Mount`)
    expect(bmc.machine().firmware.mediaOptions('cdrom')).toEqual({ username: 'iso', password: 'secret' })
    expect(bmc.machine().firmware.inserted('cdrom')).toBe('cifs://192.0.2.10/images/boot.iso')
  })

  test('quirk 61: a slot that takes no image has the action to eject only', async () => {
    const slots = [{ id: 'Slot_0', name: 'Slot', drive: null, types: ['CD'], below: ['Managers'] }]
    await using bmc = await bmcOf({ base: 'openbmc', media: { slots } })
    const path = `${ROOT}/Managers/bmc/VirtualMedia/Slot_0`
    expect(Object.keys((await bmc.call('GET', path)).document.Actions as object)).toEqual(['#VirtualMedia.EjectMedia'])
    expect((await bmc.call('POST', `${path}/Actions/VirtualMedia.InsertMedia`, { Image: IMAGE })).status).toBe(405)
  })

  test('quirk 63: TransferMethod is needed', async () => {
    await using bmc = await bmcOf({ media: { required: ['TransferMethod'] } })
    const insert = (more: object) =>
      bmc.call('POST', `${ROOT}/Managers/machine-1/VirtualMedia/Cd/Actions/VirtualMedia.InsertMedia`, {
        Image: IMAGE,
        ...more,
      })
    expect((await insert({})).status).toBe(400)
    expect((await insert({ TransferMethod: 'Stream' })).status).toBe(204)
  })

  test('quirk 66: an iRMC takes no images by HTTP', async () => {
    await using bmc = await bmcOf('irmc')
    const path = `${ROOT}/Managers/iRMC/VirtualMedia/Cd/Actions/VirtualMedia.InsertMedia`
    const refused = await bmc.call('POST', path, { Image: IMAGE, TransferProtocolType: 'HTTP' })
    expect(messageIds(refused)).toEqual(['Base.1.22.ActionParameterValueNotInList'])
    const Image = 'https://images.test/boot.iso'
    expect((await bmc.call('POST', path, { Image, TransferProtocolType: 'HTTPS' })).status).toBe(204)
  })
})

describe('answers, tasks and events', () => {
  test('quirk 72: a BMC takes no form of a tag', async () => {
    await using bmc = await bmcOf({ etags: { match: 'never' } })
    const { etag } = (await bmc.call('GET', `${ROOT}/Systems/machine-1`)).headers
    const headers = { ...basic(ADMIN), 'if-match': etag! }
    expect((await bmc.call('PATCH', `${ROOT}/Systems/machine-1`, { IndicatorLED: 'Lit' }, headers)).status).toBe(412)
  })

  test('quirk 76: the information on an error is an object, and no list', async () => {
    await using bmc = await bmcOf({ base: 'idrac9', errors: { info: 'object' } })
    const { document } = await bmc.call('GET', `${ROOT}/Systems/zork`)
    expect(document.error['@Message.ExtendedInfo']).toHaveProperty('MessageId')
  })

  test('quirk 80: a refusal is a page of the web server', async () => {
    await using bmc = await bmcOf({ errors: { pages: [401] } })
    const request = { method: 'GET', target: `${ROOT}/Systems`, base: 'http://bmc.test', headers: {} }
    const { status, headers, body } = await bmc.service.dispatch(request)
    expect(status).toBe(401)
    expect(headers['content-type']).toBe('application/xhtml+xml')
    expect(body).toContain('<html')
  })

  test('quirk 81: subscriptions refuse, or need, what others do not', async () => {
    const subscription = { Destination: 'http://127.0.0.1:9/', Protocol: 'Redfish' }
    const path = `${ROOT}/EventService/Subscriptions`
    await using ilo = await bmcOf('ilo5')
    const refused = await ilo.call('POST', path, { ...subscription, DeliveryRetryPolicy: 'TerminateAfterRetries' })
    expect(messageIds(refused)).toEqual(['Base.1.4.PropertyUnknown'])
    expect((await ilo.call('POST', path, subscription)).status).toBe(201)
    await using own = await bmcOf({ events: { required: ['Context'], emptyContext: 'refused' } })
    expect((await own.call('POST', path, subscription)).status).toBe(400)
    expect((await own.call('POST', path, { ...subscription, Context: '' })).status).toBe(400)
    expect((await own.call('POST', path, { ...subscription, Context: 'ironic' })).status).toBe(201)
  })

  test('quirk 92: a task is New at first, and gone a minute after its end', async () => {
    await using bmc = await bmcOf({ base: 'idrac9', tasks: { retention: 60 } })
    const started = await bmc.call('POST', `${ROOT}/UpdateService/Actions/UpdateService.SimpleUpdate`, {
      ImageURI: 'http://images.test/bios-2.0.exe',
    })
    const task = started.headers['location']!.replace('TaskMonitors', 'Tasks')
    expect((await bmc.call('GET', task)).document.TaskState).toBe('New')
    await bmc.clock.advance(1_000)
    expect((await bmc.call('GET', task)).document.TaskState).toBe('Running')
    await bmc.clock.advance(1_000)
    await expect.poll(async () => (await bmc.call('GET', task)).document.TaskState).toBe('Completed')
    await bmc.clock.advance(60_000)
    expect((await bmc.call('GET', task)).status).toBe(404)
  })

  test('quirk 94: a GB200 has no SimpleUpdate, and each maker a place of its own for pushed files', async () => {
    await using gb200 = await bmcOf('nvidia-gb200')
    expect((await gb200.call('GET', `${ROOT}/UpdateService`)).document.Actions).toEqual({ Oem: {} })
    const action = `${ROOT}/UpdateService/Actions/UpdateService.SimpleUpdate`
    expect((await gb200.call('POST', action, { ImageURI: IMAGE })).status).toBe(404)
    for (const [dialect, uri] of [
      ['idrac9', `${ROOT}/UpdateService/FirmwareInventory`],
      ['ilo5', '/cgi-bin/uploadFile'],
      ['xcc', '/fwupdate'],
    ] as const) {
      await using bmc = await bmcOf(dialect)
      expect((await bmc.call('GET', `${ROOT}/UpdateService`)).document.HttpPushUri).toBe(uri)
    }
  })
})

describe('inventory', () => {
  test('quirks 87, 88: a GB200 names no registry, and that of an iLO does not say that a reset is needed', async () => {
    await using gb200 = await bmcOf('nvidia-gb200')
    expect((await gb200.call('GET', `${ROOT}/Systems/System_0/Bios`)).document).not.toHaveProperty('AttributeRegistry')
    await using ilo = await bmcOf('ilo5')
    const { AttributeRegistry: id } = (await ilo.call('GET', `${ROOT}/systems/1/bios`)).document
    const { document } = await ilo.call('GET', `${ROOT}/Registries/${id}/Registry`)
    expect(document.RegistryEntries.Attributes[0]).not.toHaveProperty('ResetRequired')
  })

  test('quirk 97: NICs have an empty address, or that which they were made with', async () => {
    const changed = { 'EthernetInterface.MACAddress': '' }
    await using empty = await bmcOf({ properties: { changed } })
    const path = `${ROOT}/Systems/machine-1/EthernetInterfaces/eno1`
    expect((await empty.call('GET', path)).document.MACAddress).toBe('')
    await using permanent = await bmcOf({ properties: { leftOut: ['EthernetInterface.MACAddress'] } })
    const { document } = await permanent.call('GET', path)
    expect(document).not.toHaveProperty('MACAddress')
    expect(document.PermanentMACAddress).toBe('52:54:00:00:00:02')
  })

  test('quirk 99: no storage at all', async () => {
    await using bmc = await bmcOf({ resources: { absent: ['/Systems/*/Storage', '/Systems/*/SimpleStorage'] } })
    const { document } = await system(bmc)
    for (const name of ['Storage', 'SimpleStorage']) {
      expect(document).not.toHaveProperty(name)
      expect((await bmc.call('GET', `${ROOT}/Systems/machine-1/${name}`)).status).toBe(404)
    }
  })

  test('quirk 98: the SKU of a Dell is its service tag, that of an XCC or iLO a product number', async () => {
    await using dell = await bmcOf('idrac9')
    expect((await system(dell)).document.SKU).toBe(dell.machine().spec.serial)
    await using xcc = await bmcOf('xcc')
    expect((await system(xcc)).document.SKU).toBe('7Z23CTO1WW')
  })

  test('quirk 99: drives and controllers tell less, each maker otherwise', async () => {
    const drive = async (bmc: Served, path: string) =>
      (await bmc.call('GET', `${ROOT}/Systems/${path}/Storage/RAID.1/Drives/sda`)).document as object
    await using x13 = await bmcOf('supermicro-x13')
    for (const name of ['MediaType', 'Protocol', 'Identifiers', 'BlockSizeBytes'])
      expect(await drive(x13, '1')).not.toHaveProperty(name)
    await using idrac = await bmcOf('idrac9')
    expect(await drive(idrac, 'System.Embedded.1')).toMatchObject({ Identifiers: [{ DurableName: null }] })
    await using xcc = await bmcOf('xcc')
    const storage = (await xcc.call('GET', `${ROOT}/Systems/1/Storage/RAID.1`)).document
    expect(storage).toHaveProperty('StorageControllers')
    expect(storage).not.toHaveProperty('Controllers')
    await using ilo = await bmcOf('ilo5')
    expect((await ilo.call('GET', `${ROOT}/Systems/1/Storage/RAID.1`)).document).not.toHaveProperty('Volumes')
    await using own = await bmcOf({ properties: { changed: { 'Drive.CapacityBytes': null } } })
    expect(await drive(own, 'machine-1')).toMatchObject({ CapacityBytes: null })
  })

  test('quirk 100: values are of the wrong type', async () => {
    await using idrac = await bmcOf('idrac9')
    expect((await system(idrac)).document.LastResetTime).toMatch(/^0000-00-00T/)
    const changed = { 'Processor.Socket': 1, 'Storage.StorageControllers.MemberId': 0 }
    await using bmc = await bmcOf({ properties: { changed } })
    const below = `${ROOT}/Systems/machine-1`
    expect((await bmc.call('GET', `${below}/Processors/CPU.1`)).document.Socket).toBe(1)
    expect((await bmc.call('GET', `${below}/Storage/RAID.1`)).document.StorageControllers[0].MemberId).toBe(0)
  })

  test('quirk 101: the switches of an iDRAC are in a resource of Dell, by the names of its NICs', async () => {
    await using bmc = await bmcOf('idrac9')
    const path = `${ROOT}/Systems/System.Embedded.1/NetworkPorts/Oem/Dell/DellSwitchConnections`
    expect((await bmc.call('GET', path)).document.Members).toMatchObject([
      { FQDD: 'eno1', SwitchConnectionID: '02:00:5e:00:53:01', SwitchPortConnectionID: 'Ethernet1/1' },
      { FQDD: 'eno2', SwitchConnectionID: 'No Link' },
    ])
  })

  test('the ports of adapters hear of their switch by LLDP, where the BMC tells it', async () => {
    const heard = async (bmc: Served, chassis: string, nic = 'eno1') => {
      await bmc.machine().setPower('on')
      const path = `${ROOT}/Chassis/${chassis}/NetworkAdapters/${nic}/Ports/1`
      return (await bmc.call('GET', path)).document.Ethernet as Record<string, object>
    }
    await using plain = await bmcOf('standard')
    expect(await heard(plain, 'machine-1')).toMatchObject({
      LLDPEnabled: true,
      LLDPReceive: {
        ChassisId: '02:00:5e:00:53:01',
        ChassisIdSubtype: 'MacAddr',
        PortId: 'Ethernet1/1',
        PortIdSubtype: 'IfName',
        SystemName: 'switch-1',
      },
    })
    expect(await heard(plain, 'machine-1', 'eno2')).not.toHaveProperty('LLDPReceive')
    await using ilo = await bmcOf('ilo5')
    expect(await heard(ilo, '1')).toMatchObject({ LLDPReceive: { ChassisId: '', PortIdSubtype: 'NotTransmitted' } })
    await using idrac = await bmcOf('idrac9')
    expect(await heard(idrac, 'System.Embedded.1')).not.toHaveProperty('LLDPReceive')
  })

  test('quirk 102: a machine shows no NICs of its own', async () => {
    await using bmc = await bmcOf({
      resources: { absent: ['/Systems/*/EthernetInterfaces', '/Chassis/*/NetworkAdapters'] },
    })
    expect((await system(bmc)).document).not.toHaveProperty('EthernetInterfaces')
    expect((await bmc.call('GET', `${ROOT}/Chassis/machine-1/NetworkAdapters`)).status).toBe(404)
  })
})
