import { describe, expect, test } from 'vitest'
import { ADMIN, basic, served, type Served } from '../../../test/kit/redfish/served.js'
import { bmcOf, memberPaths, messageIds, REDFISH_ROOT as ROOT } from '../../../test/kit/redfish/bmc-of.js'
import { crawled } from '../../../test/kit/redfish/crawled.js'
import { redfishCallsAt } from '../call-names.js'
import { defaultMachineSpec, NO_PACE, withHardware } from '../../../machine/index.js'
import { BMC_DIALECTS, readOwnDialect, type DialectName } from '../../dialects/index.js'

const IMAGE = 'http://images.test/boot.iso'

const names = Object.keys(BMC_DIALECTS) as DialectName[]

describe('a walk over every link', () => {
  test.each(names.flatMap((name) => [[name, 1] as const, [name, 2] as const]))(
    'of %s meets resources that name themselves, also of %i machines behind one address',
    async (dialect, count) => {
      await using bmc = await bmcOf(dialect, count)
      for (const machine of bmc.machines.list()) await machine.setPower('on')
      const all = await crawled(bmc)
      expect(all.size).toBeGreaterThan(130)
      for (const [path, { status, document }] of all) {
        expect({ path, status }).toEqual({ path, status: 200 })
        const self = String(document['@odata.id'] ?? path)
        expect(self.replace(/\/$/, '')).toBe(path.replace(/\/$/, ''))
      }
      const ids = all.get(`${ROOT}/`)!.document
      expect(ids.RedfishVersion).toBe(BMC_DIALECTS[dialect].service.redfishVersion)
    },
  )
})

describe('paths (1.1)', () => {
  test.each([
    ['idrac9', 'System.Embedded.1', 'iDRAC.Embedded.1', 'System.Embedded.1'],
    ['supermicro-x13', '1', '1', '1'],
    ['irmc', '0', 'iRMC', '0'],
    ['ami', 'Self', 'Self', 'Self'],
    ['nvidia-gb200', 'System_0', 'BMC_0', 'Chassis_0'],
    ['cimc', 'machine-1', 'CIMC', 'machine-1'],
  ] as const)('quirks 1, 2, 3, 4, 5, 13: %s has ids of its own', async (dialect, system, manager, chassis) => {
    await using bmc = await bmcOf(dialect)
    expect(await memberPaths(bmc, `${ROOT}/Systems`)).toContain(`${ROOT}/Systems/${system}`)
    expect(await memberPaths(bmc, `${ROOT}/Managers`)).toContain(`${ROOT}/Managers/${manager}`)
    expect(await memberPaths(bmc, `${ROOT}/Chassis`)).toContain(`${ROOT}/Chassis/${chassis}`)
    const { document } = await bmc.call('GET', `${ROOT}/Systems/${system}`)
    expect(document).toMatchObject({
      Id: system,
      Links: { ManagedBy: [{ '@odata.id': `${ROOT}/Managers/${manager}` }] },
    })
  })

  test("an id that several machines of a service have names none of them: each has its machine's", async () => {
    await using bmc = await bmcOf('idrac9', 2)
    expect(await memberPaths(bmc, `${ROOT}/Systems`)).toEqual([
      `${ROOT}/Systems/machine-1`,
      `${ROOT}/Systems/machine-2`,
    ])
    expect((await bmc.call('GET', `${ROOT}/Systems/System.Embedded.1`)).status).toBe(404)
    expect(await memberPaths(bmc, `${ROOT}/Systems/machine-2/VirtualMedia`)).toEqual([
      `${ROOT}/Systems/machine-2/VirtualMedia/1`,
      `${ROOT}/Systems/machine-2/VirtualMedia/2`,
    ])
  })

  test('quirk 7: an iLO ignores case, and writes the paths of its BIOS in lower case', async () => {
    await using bmc = await bmcOf('ilo5')
    const { document } = await bmc.call('GET', `${ROOT}/systems/1/BIOS/`)
    expect(document['@odata.id']).toBe(`${ROOT}/systems/1/bios/`)
    expect(document['@Redfish.Settings'].SettingsObject).toEqual({ '@odata.id': `${ROOT}/systems/1/bios/settings/` })
    const path = `${ROOT}/systems/1/bios/settings/`
    expect((await bmc.call('PATCH', path, { Attributes: { Sriov: 'Disabled' } })).status).toBe(200)
    expect(bmc.machine().firmware.pendingBios).toEqual({ Sriov: 'Disabled' })
    await using other = await bmcOf('supermicro-x13')
    expect((await other.call('GET', `${ROOT}/systems/1`)).status).toBe(404)
  })

  test('quirk 9: a Huawei links its manager as Managers', async () => {
    await using bmc = await bmcOf('huawei')
    const { document } = await bmc.call('GET', `${ROOT}/Systems/1`)
    expect(document.Links).toMatchObject({ Managers: [{ '@odata.id': `${ROOT}/Managers/1` }] })
    expect(document.Links).not.toHaveProperty('ManagedBy')
  })

  test.each([
    ['idrac9', 'Dell', ['Dell']],
    ['supermicro-x13', undefined, ['Supermicro']],
    ['cimc', undefined, []],
    ['ilo6', 'HPE', ['Hpe']],
  ] as const)('quirk 14: the root of %s names its vendor, or has a key of Oem', async (dialect, vendor, oem) => {
    await using bmc = await bmcOf(dialect)
    const { document } = await bmc.call('GET', `${ROOT}/`, undefined, {})
    expect(document.Vendor).toBe(vendor)
    expect(Object.keys(document.Oem ?? {})).toEqual(oem)
  })
})

describe('power (1.2)', () => {
  const reset = (bmc: Served, ResetType: string, system: string, headers = {}) =>
    bmc.call(
      'POST',
      `${ROOT}/Systems/${system}/Actions/ComputerSystem.Reset`,
      { ResetType },
      { ...basic(ADMIN), ...headers },
    )

  test.each([
    ['idrac9', 'System.Embedded.1', 409],
    ['xcc', '1', 204],
    ['ilo5', '1', 400],
  ] as const)('quirk 17: %s answers On of a system that is on', async (dialect, system, status) => {
    await using bmc = await bmcOf(dialect)
    await bmc.machine().setPower('on')
    expect((await reset(bmc, 'On', system)).status).toBe(status)
    expect(bmc.machine().power()).toBe('on')
  })

  test('quirk 18: an iDRAC 10 refuses On for a while after the power went off', async () => {
    await using bmc = await bmcOf('idrac10')
    await bmc.machine().setPower('on')
    expect((await reset(bmc, 'ForceOff', 'System.Embedded.1')).status).toBe(204)
    const refused = await reset(bmc, 'On', 'System.Embedded.1')
    expect(refused.status).toBe(409)
    expect(messageIds(refused)).toEqual(['Base.1.12.ActionParameterValueConflict'])
    await bmc.clock.advance(10_000)
    expect((await reset(bmc, 'On', 'System.Embedded.1')).status).toBe(204)
  })

  test('quirk 19: an iLO refuses a shutdown of a system that is off by its own message', async () => {
    await using bmc = await bmcOf('ilo5')
    const refused = await reset(bmc, 'GracefulShutdown', '1')
    expect(refused.status).toBe(400)
    expect(messageIds(refused)).toEqual(['iLO.2.14.InvalidOperationForSystemState'])
  })

  test('quirk 21: the values of a reset are in a resource of their own, with Supermicro, AMI and OpenBMC', async () => {
    for (const [dialect, system] of [
      ['supermicro-x13', '1'],
      ['nvidia-dgx', 'DGX'],
      ['openbmc', 'system'],
    ] as const) {
      await using bmc = await bmcOf(dialect)
      const action = (await bmc.call('GET', `${ROOT}/Systems/${system}`)).document.Actions['#ComputerSystem.Reset']
      expect(action['ResetType@Redfish.AllowableValues']).toBeUndefined()
      const { document } = await bmc.call('GET', action['@Redfish.ActionInfo'] as string)
      expect(document.Parameters[0].AllowableValues).toEqual(BMC_DIALECTS[dialect].power.resets)
    }
  })

  test('quirk 22: an iLO has neither PowerCycle nor ForceOn', async () => {
    await using bmc = await bmcOf('ilo5')
    await bmc.machine().setPower('on')
    const refused = await reset(bmc, 'PowerCycle', '1')
    expect(refused.status).toBe(400)
    expect(messageIds(refused)).toEqual(['Base.1.4.ActionParameterValueNotInList'])
  })

  test('quirk 24: an iDRAC is reset gracefully only', async () => {
    await using bmc = await bmcOf('idrac9')
    const path = `${ROOT}/Managers/iDRAC.Embedded.1/Actions/Manager.Reset`
    expect((await bmc.call('POST', path, { ResetType: 'ForceRestart' })).status).toBe(400)
    expect((await bmc.call('POST', path, { ResetType: 'GracefulRestart' })).status).toBe(204)
  })
})

describe('boot override (1.3)', () => {
  const once = { BootSourceOverrideTarget: 'Pxe', BootSourceOverrideEnabled: 'Once' }

  test('quirk 26: Boot of an iDRAC 10 changes by its settings object only, which lists the targets', async () => {
    await using bmc = await bmcOf('idrac10')
    const system = `${ROOT}/Systems/System.Embedded.1`
    const refused = await bmc.call('PATCH', system, { Boot: once })
    expect(refused.status).toBe(400)
    expect(new Set(messageIds(refused))).toEqual(new Set(['Base.1.12.PropertyNotWritable']))
    const { document } = await bmc.call('GET', system)
    expect(document.Boot['BootSourceOverrideTarget@Redfish.AllowableValues']).toBeUndefined()
    const settings = document['@Redfish.Settings'].SettingsObject['@odata.id'] as string
    expect(settings).toBe(`${system}/Settings`)
    const boot = (await bmc.call('GET', settings)).document.Boot
    expect(boot['BootSourceOverrideTarget@Redfish.AllowableValues']).toContain('Cd')
    expect((await bmc.call('PATCH', settings, { Boot: once })).status).toBe(200)
    expect((await bmc.call('GET', system)).document.Boot).toMatchObject(once)
    expect((await bmc.call('PATCH', settings, { Boot: { BootSourceOverrideMode: 'UEFI' } })).status).toBe(400)
  })

  test('quirks 27, 33: AMI takes an override at its settings object, with all three properties', async () => {
    await using bmc = await bmcOf('ami')
    const tag = { ...basic(ADMIN), 'if-match': '*' }
    const refused = await bmc.call('PATCH', `${ROOT}/Systems/Self`, { Boot: once }, tag)
    expect(new Set(messageIds(refused))).toEqual(new Set(['Ami.1.0.OperationSupportedInFutureStateURI']))
    const partly = await bmc.call('PATCH', `${ROOT}/Systems/Self/SD`, { Boot: once }, tag)
    expect(partly.status).toBe(400)
    expect(messageIds(partly)).toEqual(['Base.1.12.PropertyMissing'])
    const whole = { ...once, BootSourceOverrideMode: 'UEFI' }
    expect((await bmc.call('PATCH', `${ROOT}/Systems/Self/SD`, { Boot: whole }, tag)).status).toBe(200)
    expect(bmc.machine().firmware.boot.override).toMatchObject({ target: 'Pxe', enabled: 'Once' })
  })

  test('quirks 28, 43: a GB200 takes it at both places, and has no mode', async () => {
    await using bmc = await bmcOf('nvidia-gb200')
    for (const path of ['Systems/System_0', 'Systems/System_0/Settings']) {
      expect((await bmc.call('PATCH', `${ROOT}/${path}`, { Boot: once })).status).toBe(200)
      const { document } = await bmc.call('GET', `${ROOT}/Systems/System_0`)
      expect(document.Boot).toMatchObject(once)
      expect(document.Boot).not.toHaveProperty('BootSourceOverrideMode')
      await bmc.machine().firmware.boot.setOverride({ target: 'None', enabled: 'Disabled' })
    }
    const mode = await bmc.call('PATCH', `${ROOT}/Systems/System_0`, { Boot: { BootSourceOverrideMode: 'UEFI' } })
    expect(messageIds(mode)).toEqual(['Base.1.18.1.PropertyUnknown'])
  })

  test('quirks 29, 37: the settings object of an XCC has the order, and an override holds for one boot', async () => {
    await using bmc = await bmcOf('xcc')
    const { document } = await bmc.call('GET', `${ROOT}/Systems/1`)
    expect(document['@Redfish.Settings'].SettingsObject).toEqual({ '@odata.id': `${ROOT}/Systems/1/Pending` })
    expect(Object.keys((await bmc.call('GET', `${ROOT}/Systems/1/Pending`)).document.Boot as object)).toEqual([
      'BootOrder',
    ])
    const continuous = { BootSourceOverrideTarget: 'Hdd', BootSourceOverrideEnabled: 'Continuous' }
    expect((await bmc.call('PATCH', `${ROOT}/Systems/1`, { Boot: continuous })).status).toBe(400)
    expect((await bmc.call('PATCH', `${ROOT}/Systems/1`, { Boot: once })).status).toBe(200)
  })

  test('quirk 31: with Supermicro Enabled falls to Once, and the mode to Legacy, where they do not come with a target', async () => {
    await using bmc = await bmcOf('supermicro-x13')
    const boot = async () => (await bmc.call('GET', `${ROOT}/Systems/1`)).document.Boot
    const uefi = { BootSourceOverrideMode: 'UEFI' }
    await bmc.call('PATCH', `${ROOT}/Systems/1`, {
      Boot: { BootSourceOverrideTarget: 'Pxe', BootSourceOverrideEnabled: 'Continuous', ...uefi },
    })
    expect(await boot()).toMatchObject({ BootSourceOverrideEnabled: 'Continuous', ...uefi })
    await bmc.call('PATCH', `${ROOT}/Systems/1`, { Boot: { BootSourceOverrideTarget: 'Hdd' } })
    expect(await boot()).toMatchObject({ BootSourceOverrideEnabled: 'Once', BootSourceOverrideMode: 'Legacy' })
  })

  test('quirk 32: an Enabled that is so already is refused, by a BMC of a user', async () => {
    await using bmc = await bmcOf({ boot: { refusesUnchangedEnabled: true } })
    expect((await bmc.call('PATCH', `${ROOT}/Systems/machine-1`, { Boot: once })).status).toBe(200)
    expect((await bmc.call('PATCH', `${ROOT}/Systems/machine-1`, { Boot: once })).status).toBe(400)
  })

  test('quirk 36: an iLO refuses a mode', async () => {
    await using bmc = await bmcOf('ilo5')
    const refused = await bmc.call('PATCH', `${ROOT}/Systems/1/`, { Boot: { BootSourceOverrideMode: 'UEFI' } })
    expect(refused.status).toBe(400)
    expect(refused.document.error.code).toBe('iLO.0.10.ExtendedInfo')
    expect(messageIds(refused)).toEqual(['iLO.2.14.PropertyNotWritableOrUnknown'])
  })

  test.each([
    ['supermicro-x12', 'UsbCd', 'cdrom'],
    ['supermicro-x12', 'Cd', 'disk'],
    ['supermicro-x13', 'Cd', 'cdrom'],
    ['idrac8', 'Cd', 'disk'],
  ] as const)('quirks 39, 40: %s boots by %s from the %s', async (dialect, target, source) => {
    await using bmc = await bmcOf(dialect)
    await bmc.machine().firmware.insert('cdrom', IMAGE)
    const [system] = await memberPaths(bmc, `${ROOT}/Systems`)
    await bmc.call('PATCH', system!, { Boot: { BootSourceOverrideTarget: target, BootSourceOverrideEnabled: 'Once' } })
    expect((await bmc.call('GET', system!)).document.Boot.BootSourceOverrideTarget).toBe(target)
    await bmc.machine().setPower('on')
    await expect.poll(() => bmc.machine().boot()?.source.kind).toBe(source)
  })

  test('quirk 42: an iLO refuses a change while the firmware is at work', async () => {
    await using bmc = await bmcOf('ilo5', 1, { ...NO_PACE, bootDisk: 60_000 })
    await bmc.machine().setBoot({ kind: 'disk' })
    await bmc.machine().setPower('on')
    const refused = await bmc.call('PATCH', `${ROOT}/Systems/1`, { Boot: once })
    expect(refused.status).toBe(400)
    expect(messageIds(refused)).toEqual(['iLO.2.37.UnableToModifyDuringSystemPOST'])
    await bmc.clock.advance(60_000)
    await expect.poll(() => bmc.machine().boot()?.outcome).toBeDefined()
    expect((await bmc.call('PATCH', `${ROOT}/Systems/1`, { Boot: once })).status).toBe(200)
  })
})

describe('virtual media (1.4)', () => {
  const insertAt = (bmc: Served, slot: string, more: object = {}) =>
    bmc.call('POST', `${ROOT}/${slot}/Actions/VirtualMedia.InsertMedia`, { Image: IMAGE, ...more })

  test('quirk 49: an iDRAC 9 has slots below its system, and others below its manager', async () => {
    await using bmc = await bmcOf('idrac9')
    expect(await memberPaths(bmc, `${ROOT}/Managers/iDRAC.Embedded.1/VirtualMedia`)).toEqual([
      `${ROOT}/Managers/iDRAC.Embedded.1/VirtualMedia/CD`,
      `${ROOT}/Managers/iDRAC.Embedded.1/VirtualMedia/RemovableDisk`,
    ])
    const slot = 'Systems/System.Embedded.1/VirtualMedia/1'
    expect((await insertAt(bmc, slot)).status).toBe(204)
    expect(bmc.machine().firmware.inserted('cdrom')).toBe(IMAGE)
    expect((await insertAt(bmc, 'Managers/iDRAC.Embedded.1/VirtualMedia/1')).status).toBe(404)
  })

  test('slots of a system and of its manager are the same drives', async () => {
    await using bmc = await bmcOf('idrac9')
    await insertAt(bmc, 'Systems/System.Embedded.1/VirtualMedia/1')
    const { document } = await bmc.call('GET', `${ROOT}/Managers/iDRAC.Embedded.1/VirtualMedia/CD`)
    expect(document).toMatchObject({ Image: IMAGE, Inserted: true })
  })

  test('quirk 50: an iDRAC 10 lists slot 2 first, and only below its system', async () => {
    await using bmc = await bmcOf('idrac10')
    const slots = `${ROOT}/Systems/System.Embedded.1/VirtualMedia`
    expect(await memberPaths(bmc, slots)).toEqual([`${slots}/2`, `${slots}/1`])
    const manager = `${ROOT}/Managers/iDRAC.Embedded.1`
    expect((await bmc.call('GET', manager)).document).not.toHaveProperty('VirtualMedia')
    expect((await bmc.call('GET', `${manager}/VirtualMedia`)).status).toBe(404)
  })

  test('quirks 52, 53: an iDRAC answers 500 where an image is in, and ejects with a body only', async () => {
    await using bmc = await bmcOf('idrac9')
    const slot = 'Systems/System.Embedded.1/VirtualMedia/1'
    await insertAt(bmc, slot)
    expect((await insertAt(bmc, slot)).status).toBe(500)
    const eject = `${ROOT}/${slot}/Actions/VirtualMedia.EjectMedia`
    expect((await bmc.call('POST', eject)).status).toBe(400)
    expect((await bmc.call('POST', eject, {})).status).toBe(204)
  })

  test('quirk 54: an iLO has its slots below the manager only, with an empty Image', async () => {
    await using bmc = await bmcOf('ilo5')
    expect((await bmc.call('GET', `${ROOT}/Systems/1`)).document).not.toHaveProperty('VirtualMedia')
    const { document } = await bmc.call('GET', `${ROOT}/Managers/1/VirtualMedia/2`)
    expect(document).toMatchObject({ MediaTypes: ['CD', 'DVD'], Image: '', Inserted: false })
    expect(document).not.toHaveProperty('ImageName')
  })

  test('quirk 56: an XCC inserts by PATCH, as its Allow says, and not in each slot', async () => {
    await using bmc = await bmcOf('xcc')
    const slot = `${ROOT}/Systems/1/VirtualMedia/EXT1`
    const read = await bmc.call('GET', slot)
    expect(read.document).not.toHaveProperty('Actions')
    expect(read.headers['allow']).toBe('GET, HEAD, PATCH')
    expect((await insertAt(bmc, 'Systems/1/VirtualMedia/EXT1')).status).toBe(404)
    const medium = { Image: IMAGE, Inserted: true, WriteProtected: true }
    expect((await bmc.call('PATCH', slot, medium)).document).toMatchObject({ Inserted: true })
    expect((await bmc.call('PATCH', `${ROOT}/Managers/1/VirtualMedia/RDOC1`, medium)).status).toBe(400)
  })

  test('quirk 57: a Supermicro X12 refuses Inserted, and goes on to show the name of what it had', async () => {
    await using bmc = await bmcOf('supermicro-x12')
    const slot = 'Managers/1/VirtualMedia/CD1'
    expect(messageIds(await insertAt(bmc, slot, { Inserted: true }))).toEqual(['Base.v1_10_3.ActionParameterUnknown'])
    expect((await insertAt(bmc, slot)).status).toBe(204)
    await bmc.call('POST', `${ROOT}/${slot}/Actions/VirtualMedia.EjectMedia`)
    const { document } = await bmc.call('GET', `${ROOT}/${slot}`)
    expect(document).toMatchObject({ Inserted: false, ImageName: 'boot.iso', ConnectedVia: 'NotConnected' })
  })

  test('quirk 58: a Supermicro X13 lists the action that can be carried out, and refuses a second image', async () => {
    await using bmc = await bmcOf('supermicro-x13')
    const slot = 'Managers/1/VirtualMedia/VirtualMedia1'
    const actions = async () => Object.keys((await bmc.call('GET', `${ROOT}/${slot}`)).document.Actions as object)
    expect(await actions()).toEqual(['#VirtualMedia.InsertMedia'])
    await insertAt(bmc, slot)
    expect(await actions()).toEqual(['#VirtualMedia.EjectMedia'])
    expect((await insertAt(bmc, slot)).status).toBe(400)
  })

  test('quirk 60: the internal slot of a CIMC takes no image', async () => {
    await using bmc = await bmcOf('cimc')
    expect((await insertAt(bmc, 'Managers/CIMC/VirtualMedia/0')).status).toBe(204)
    expect((await insertAt(bmc, 'Managers/CIMC/VirtualMedia/1')).status).toBe(400)
  })

  test('quirks 62, 64, 65: a BMC may need the protocol, an account, or the end .iso', async () => {
    await using irmc = await bmcOf('irmc')
    const slot = 'Managers/iRMC/VirtualMedia/Cd'
    expect(messageIds(await insertAt(irmc, slot))).toEqual(['Base.1.22.ActionParameterMissing'])
    const secured = { TransferProtocolType: 'HTTPS', Image: 'https://images.test/boot.iso' }
    expect((await insertAt(irmc, slot, secured)).status).toBe(204)
    await using ami = await bmcOf('ami')
    expect((await insertAt(ami, 'Managers/Self/VirtualMedia/CD1')).status).toBe(400)
    const account = { UserName: 'none', Password: 'none' }
    expect((await insertAt(ami, 'Managers/Self/VirtualMedia/CD1', account)).status).toBe(204)
    await using own = await bmcOf({ media: { imageSuffix: '.iso' } })
    const Image = 'http://images.test/boot'
    expect((await insertAt(own, 'Managers/machine-1/VirtualMedia/Cd', { Image })).status).toBe(400)
  })

  test('quirk 67: a DGX has no slot', async () => {
    await using bmc = await bmcOf('nvidia-dgx')
    expect(await memberPaths(bmc, `${ROOT}/Managers/BMC/VirtualMedia`)).toEqual([])
  })
})

describe('ETags, errors and sessions (1.5)', () => {
  const boot = { Boot: { BootSourceOverrideTarget: 'Pxe' } }

  test('quirk 68: AMI refuses a change without If-Match', async () => {
    await using bmc = await bmcOf('ami')
    const refused = await bmc.call('PATCH', `${ROOT}/Systems/Self`, { IndicatorLED: 'Lit' })
    expect(refused.status).toBe(428)
    expect(messageIds(refused)).toEqual(['Ami.1.0.PreconditionHeaderMissing'])
    const { etag } = (await bmc.call('GET', `${ROOT}/Systems/Self`)).headers
    const headers = { ...basic(ADMIN), 'if-match': etag! }
    expect((await bmc.call('PATCH', `${ROOT}/Systems/Self`, { IndicatorLED: 'Lit' }, headers)).status).toBe(200)
  })

  test('quirk 69: an iLO writes weak tags, and takes strong ones', async () => {
    await using bmc = await bmcOf('ilo5')
    const { etag = '' } = (await bmc.call('GET', `${ROOT}/Systems/1`)).headers
    expect(etag).toMatch(/^W\/"/)
    const patch = (tag: string) => bmc.call('PATCH', `${ROOT}/Systems/1`, boot, { ...basic(ADMIN), 'if-match': tag })
    expect((await patch(etag)).status).toBe(412)
    const changed = await patch(etag.slice('W/'.length))
    expect(changed).toMatchObject({ status: 200, document: { error: { code: 'iLO.0.10.ExtendedInfo' } } })
    expect(messageIds(changed)).toEqual(['Base.1.4.Success'])
  })

  test('quirk 70: a BMC of a user takes tags without quotes only', async () => {
    await using bmc = await bmcOf({ etags: { match: 'bare' } })
    const path = `${ROOT}/Systems/machine-1`
    const { etag = '' } = (await bmc.call('GET', path)).headers
    const patch = (tag: string) => bmc.call('PATCH', path, boot, { ...basic(ADMIN), 'if-match': tag })
    expect((await patch(etag)).status).toBe(412)
    expect((await patch(etag.replaceAll('"', ''))).status).toBe(200)
  })

  test('quirk 71: an iDRAC 10 refuses If-Match on an action', async () => {
    await using bmc = await bmcOf('idrac10')
    const path = `${ROOT}/Systems/System.Embedded.1`
    const { etag = '' } = (await bmc.call('GET', path)).headers
    expect(etag).toMatch(/^"W\/'.*'"$/)
    const reset = (headers: object) =>
      bmc.call('POST', `${path}/Actions/ComputerSystem.Reset`, { ResetType: 'On' }, { ...basic(ADMIN), ...headers })
    expect((await reset({ 'if-match': etag })).status).toBe(412)
    expect((await reset({})).status).toBe(204)
  })

  test('quirk 73: a BMC of a user drops a change without If-Match, and says nothing', async () => {
    await using bmc = await bmcOf({ base: 'ami', boot: { at: 'system' }, etags: { without: 'dropped' } })
    const patch = { Boot: { BootSourceOverrideTarget: 'Pxe', BootSourceOverrideEnabled: 'Once' } }
    expect((await bmc.call('PATCH', `${ROOT}/Systems/Self`, patch)).status).toBe(204)
    expect(bmc.machine().firmware.boot.override.target).toBe('None')
  })

  test('quirk 77: the ninth session of an iDRAC is refused by RAC0218', async () => {
    await using bmc = await bmcOf('idrac9')
    const credentials = { UserName: ADMIN.username, Password: ADMIN.password }
    const open = () => bmc.call('POST', `${ROOT}/SessionService/Sessions`, credentials, {})
    for (let session = 0; session < 8; session++) expect((await open()).status).toBe(201)
    const refused = await open()
    expect(refused.status).toBe(503)
    expect(messageIds(refused)).toEqual(['IDRAC.2.8.RAC0218'])
  })

  test.each([
    ['ilo5', 30],
    ['xcc', 300],
    ['idrac9', 1800],
  ] as const)('quirk 78: a session of %s ends after %i s of idleness', async (dialect, seconds) => {
    await using bmc = await bmcOf(dialect)
    const credentials = { UserName: ADMIN.username, Password: ADMIN.password }
    const opened = await bmc.call('POST', `${ROOT}/SessionService/Sessions`, credentials, {})
    const session = { 'x-auth-token': opened.headers['x-auth-token']! }
    expect((await bmc.call('GET', `${ROOT}/SessionService`, undefined, session)).document.SessionTimeout).toBe(seconds)
    await bmc.clock.advance(seconds * 1000)
    expect((await bmc.call('GET', `${ROOT}/SessionService`, undefined, session)).status).toBe(200)
    await bmc.clock.advance(seconds * 1000 + 1)
    expect((await bmc.call('GET', `${ROOT}/SessionService`, undefined, session)).status).toBe(401)
  })
})

describe('BIOS and inventory (1.6)', () => {
  test.each([
    ['idrac9', 'ProcVirtualization'],
    ['ilo5', 'ProcHyperthreading'],
    ['xcc', 'Processors_SWGuardExtensions'],
    ['supermicro-x13', 'AES_NI_3C75'],
    ['nvidia-gb200', 'EGM'],
  ] as const)('quirk 82: %s has the setting %s, in its registry too', async (dialect, name) => {
    await using bmc = await bmcOf(dialect)
    const [system] = await memberPaths(bmc, `${ROOT}/Systems`)
    const { document } = await bmc.call('GET', `${system}/Bios`)
    expect(Object.keys(document.Attributes as object)).toContain(name)
    expect(document.AttributeRegistry).toBe(BMC_DIALECTS[dialect].bios.registry ?? undefined)
    if (document.AttributeRegistry === undefined) return
    const registry = `${ROOT}/Registries/${document.AttributeRegistry}/Registry`
    const entries = (await bmc.call('GET', registry)).document.RegistryEntries.Attributes as { AttributeName: string }[]
    expect(entries.map(({ AttributeName }) => AttributeName)).toContain(name)
  })

  test.each([
    ['idrac9', 'Bios/Settings'],
    ['xcc', 'Bios/Pending'],
    ['supermicro-x13', 'Bios/SD'],
  ] as const)('quirk 83: %s has its settings at %s, and nowhere else', async (dialect, place) => {
    await using bmc = await bmcOf(dialect)
    const [system] = await memberPaths(bmc, `${ROOT}/Systems`)
    const { SettingsObject } = (await bmc.call('GET', `${system}/Bios`)).document['@Redfish.Settings']
    expect(SettingsObject).toEqual({ '@odata.id': `${system}/${place}` })
    for (const other of ['Settings', 'Pending', 'SD']) {
      const { status } = await bmc.call('GET', `${system}/Bios/${other}`)
      expect({ other, status }).toEqual({ other, status: place.endsWith(other) ? 200 : 404 })
    }
  })

  test('quirk 84: with nothing waiting an X13 shows no Attributes, an XCC all, an iDRAC none', async () => {
    const shown = async (dialect: DialectName, path: string) => {
      await using bmc = await bmcOf(dialect)
      const attributes = (await bmc.call('GET', `${ROOT}/${path}`)).document.Attributes as object | undefined
      return attributes && Object.keys(attributes).length
    }
    expect(await shown('supermicro-x13', 'Systems/1/Bios/SD')).toBeUndefined()
    expect(await shown('xcc', 'Systems/1/Bios/Pending')).toBe(13)
    expect(await shown('idrac9', 'Systems/System.Embedded.1/Bios/Settings')).toBe(0)
  })

  test('quirk 85: settings of an iDRAC without a time wait until one is named', async () => {
    await using bmc = await bmcOf('idrac9')
    const bios = `${ROOT}/Systems/System.Embedded.1/Bios`
    const quiet = async () => (await bmc.call('GET', bios)).document.Attributes.QuietBoot
    await bmc.call('PATCH', `${bios}/Settings`, { Attributes: { QuietBoot: 'Disabled' } })
    await bmc.machine().setPower('reboot')
    expect(await quiet()).toBe('Enabled')
    expect((await bmc.call('GET', `${bios}/Settings`)).document.Attributes).toEqual({ QuietBoot: 'Disabled' })
    const timed = await bmc.call('PATCH', `${bios}/Settings`, {
      Attributes: {},
      '@Redfish.SettingsApplyTime': { ApplyTime: 'OnReset' },
    })
    expect(timed.status).toBe(202)
    const job = timed.headers['location']!
    expect(job).toMatch(/\/TaskService\/Tasks\/JID_\d{12}$/)
    expect((await bmc.call('GET', job)).document.TaskState).toBe('Running')
    await bmc.machine().setPower('reboot')
    expect(await quiet()).toBe('Disabled')
    await expect.poll(async () => (await bmc.call('GET', job)).document.TaskState).toBe('Completed')
  })

  test('quirk 86: a Supermicro refuses a time', async () => {
    await using bmc = await bmcOf('supermicro-x13')
    const refused = await bmc.call('PATCH', `${ROOT}/Systems/1/Bios/SD`, {
      Attributes: { QuietBoot_002D: false },
      '@Redfish.SettingsApplyTime': { ApplyTime: 'OnReset' },
    })
    expect(messageIds(refused)).toEqual(['Base.v1_10_3.PropertyUnknown'])
  })

  test('quirk 89: an iDRAC resets its BIOS with a body only', async () => {
    await using bmc = await bmcOf('idrac9')
    const path = `${ROOT}/Systems/System.Embedded.1/Bios/Actions/Bios.ResetBios`
    expect((await bmc.call('POST', path)).status).toBe(400)
    expect((await bmc.call('POST', path, {})).status).toBe(204)
  })

  test('quirks 95, 97: a GB200 has no NICs, and an iDRAC writes MAC addresses in capitals', async () => {
    await using gb200 = await bmcOf('nvidia-gb200')
    expect((await gb200.call('GET', `${ROOT}/Systems/System_0`)).document).not.toHaveProperty('EthernetInterfaces')
    await using idrac = await bmcOf('idrac9')
    const { document } = await idrac.call('GET', `${ROOT}/Systems/System.Embedded.1/EthernetInterfaces/eno1`)
    expect(document.MACAddress).toBe('52:54:00:00:00:02'.toUpperCase())
  })
})

test('an event names the system by the id that its BMC has for it, and a subscription may too', async () => {
  const sent: string[] = []
  const transport = {
    send: (request: { body?: string }) => (
      sent.push(request.body ?? ''),
      Promise.resolve({ status: 204, headers: {} })
    ),
  }
  const { manufacturer, product } = withHardware(defaultMachineSpec(1), { bmc: 'ilo5' })
  await using bmc = await served(1, { transport }, { dialect: 'ilo5', manufacturer, product })
  const subscription = {
    Destination: 'http://127.0.0.1:9/',
    Protocol: 'Redfish',
    OriginResources: [{ '@odata.id': `${ROOT}/Systems/1` }],
  }
  expect((await bmc.call('POST', `${ROOT}/EventService/Subscriptions`, subscription)).status).toBe(201)
  await bmc.machine().setPower('on')
  await expect.poll(() => sent.length).toBeGreaterThan(0)
  expect(sent[0]).toContain(`"OriginOfCondition":{"@odata.id":"${ROOT}/Systems/1"}`)
})

test('an expanded collection has the resources as the BMC writes them, and a query finds them', async () => {
  await using bmc = await bmcOf('ilo5')
  const { document } = await bmc.call('GET', `${ROOT}/Systems?$expand=.`)
  expect(document.Members).toMatchObject([{ Id: '1', Boot: { BootSourceOverrideTarget: 'None' } }])
  expect(document.Members[0]['@odata.etag']).toMatch(/^W\//)
})

test.each([
  ['PATCH', 'Systems/:id/Bios/SD', ['change firmware']],
  ['GET', 'Systems/:id/Pending', ['read boot']],
  ['GET', 'Systems/:id/SD/SD', []],
  ['GET', 'Chassis/:id/SD', []],
] as const)('a fault may name %s /redfish/v1/%s', (method, path, calls) => {
  expect(redfishCallsAt(method, ['redfish', 'v1', ...path.split('/')])).toEqual(calls)
})

test('a machine of Dell whose hardware names the dialect standard is as one that names none', async () => {
  await using bmc = await served(1, {}, { dialect: 'standard', manufacturer: 'Dell Inc.', product: 'PowerEdge R650' })
  await using other = await served(1, {}, { manufacturer: 'Dell Inc.', product: 'PowerEdge R650' })
  const path = `${ROOT}/Managers/machine-1`
  const read = async (from: Served) => {
    const { ServiceEntryPointUUID: _, '@odata.etag': _etag, ...document } = (await from.call('GET', path)).document
    return document as object
  }
  expect(await read(bmc)).toEqual(await read(other))
  expect(await read(bmc)).toHaveProperty('Links.Oem.Dell')
})

test('machines of one file with a BMC have the same', async () => {
  const own = { service: { vendor: 'ACME' } }
  await using bmc = await bmcOf(own)
  const { spec } = bmc.machine()
  await bmc.machines.create({ ...spec, id: 'machine-2', bmc: null, dialect: structuredClone(own) })
  expect((await bmc.call('GET', `${ROOT}/`, undefined, {})).document.Vendor).toBe('ACME')
  const create = bmc.machines.create({ ...spec, id: 'machine-3', bmc: null, dialect: JSON.parse('"idrac11"') })
  await expect(create).rejects.toThrow('the BMC "idrac11" cannot be used: there is none; did you mean idrac10?')
})

test('machines with several BMCs behind one address have each its own', async () => {
  await using bmc = await bmcOf('ilo5', 2)
  const { machines } = bmc
  const own = machines.get('machine-2')!
  await machines.remove('machine-2')
  await machines.create({ ...own.spec, dialect: 'xcc' })
  await machines.create({ ...own.spec, id: 'machine-3', dialect: 'idrac9', bmc: null, nics: [] })
  bmc.accounts.set('machine-3', ADMIN)
  expect(await memberPaths(bmc, `${ROOT}/Systems`)).toEqual([
    `${ROOT}/Systems/machine-1`,
    `${ROOT}/Systems/machine-2`,
    `${ROOT}/Systems/System.Embedded.1`,
  ])
  expect((await bmc.call('GET', `${ROOT}/`, undefined, {})).document.Vendor).toBeUndefined()
  expect((await bmc.call('GET', `${ROOT}/Systems/machine-2/Bios/Pending`)).status).toBe(200)
  expect((await bmc.call('GET', `${ROOT}/Systems/machine-3`)).document.Id).toBe('System.Embedded.1')
})

const furtherSystem = (id: string) => ({ folder: 'Systems', id, place: 'last', properties: {} })

describe('a BMC of a user', () => {
  test('changes what its file says of another', async () => {
    const own = readOwnDialect(
      {
        base: 'idrac10',
        properties: { leftOut: ['ComputerSystem.SKU'], changed: { 'ComputerSystem.Status.Health': 'Warning' } },
      },
      'the BMC file',
    )
    await using bmc = await bmcOf(own)
    const { document } = await bmc.call('GET', `${ROOT}/Systems/System.Embedded.1`)
    expect(document).not.toHaveProperty('SKU')
    expect(document.Status).toMatchObject({ Health: 'Warning', State: 'Enabled' })
  })

  test.each([
    [{ base: 'idrac11' }, 'base is "idrac11"; did you mean idrac10?'],
    [{ boot: { target: {} } }, 'there is no boot.target; did you mean targets?'],
    [{ boot: { at: 'settings' } }, 'boot.at is settings, and boot.settings names none'],
    [
      { boot: { mode: 'absent', together: ['BootSourceOverrideMode'] } },
      'boot.together names BootSourceOverrideMode, and boot.mode is absent',
    ],
    [{ media: { required: ['Inserted'], refused: ['Inserted'] } }, 'media requires and refuses Inserted'],
    [{ properties: { leftOut: ['SKU'] } }, 'properties.leftOut names SKU: write SCHEMA.PROPERTY'],
    [{ paths: { system: 'a/b' } }, 'a/b is the last part of a path: it has no slash'],
    [{ paths: { lowerCaseBios: true } }, 'paths.lowerCaseBios needs paths.ignoresCase'],
    [{ media: { required: ['Zork'] } }, 'media.required.0 is "Zork"'],
    [{ boot: { withoutEnabled: ['Zork'] } }, 'boot.withoutEnabled names Zork, which boot.targets lacks'],
    [{ events: { required: ['Context'], refused: ['Context'] } }, 'events requires and refuses Context'],
    [
      { base: 'idrac9', resources: { further: [furtherSystem('System.Embedded.1')] } },
      "resources.further has Systems/System.Embedded.1, which is the id of the machine's own",
    ],
    [{ resources: { further: [furtherSystem('A'), furtherSystem('A')] } }, 'resources.further has two Systems/A'],
    [{ resources: { absent: ['Systems'] } }, 'resources.absent.0 is "Systems", which has another form'],
    [{ resources: { refused: [{ at: '/Systems' }] } }, 'resources.refused.0'],
    [{ ipmi: { cipherSuites: [] } }, 'ipmi.cipherSuites'],
    [{ ipmi: { sensors: { Zork: 'x' } } }, 'there is no ipmi.sensors.Zork'],
    [[], 'it is a list, and not a mapping'],
  ])('that is %j is refused', (document, message) => {
    expect(() => readOwnDialect(document, 'the BMC file x')).toThrow(`the BMC file x cannot be used: ${message}`)
  })
})
