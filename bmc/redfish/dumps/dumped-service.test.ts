import { dirname, join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { importedFace, writtenFace, type DumpedFace } from '../../../test/kit/bmc-dumps/dumped-faces.js'
import { ADMIN, served, type Answer, type Served } from '../../../test/kit/redfish/served.js'
import { defaultMachineSpec, withHardware } from '../../../machine/index.js'

const ROOT = '/redfish/v1'

/** A machine of a face with the identities of the dump, behind its service. */
async function dumpedBmc(face: DumpedFace): Promise<Served> {
  const { hardware } = await importedFace(await writtenFace(face), { keepsIdentities: true })
  return served(1, {}, withHardware(defaultMachineSpec(1), hardware))
}

const messageIds = ({ document }: Answer): string[] =>
  (document.error['@Message.ExtendedInfo'] as { MessageId: string }[]).map(({ MessageId }) => MessageId)

describe('a resource of a dump', () => {
  test('is the dumped document, with what lives where the dump has it', async () => {
    await using bmc = await dumpedBmc('idrac9')
    const path = `${ROOT}/Systems/System.Embedded.1`
    const { document, headers } = await bmc.call('GET', path)
    expect(document).toMatchObject({
      HostName: 'db7.corp.example',
      PowerState: 'Off',
      SKU: 'QX7TEST',
      BiosVersion: '1.9.2',
    })
    // The dump has neither, and this iDRAC no ETags.
    expect(document).not.toHaveProperty('BootProgress')
    expect(headers).not.toHaveProperty('etag')
    expect(headers['allow']).toBe('GET, HEAD, PATCH')
    await bmc.machine().setPower('on')
    expect((await bmc.call('GET', path)).document.PowerState).toBe('On')
  })

  test('has an ETag of its present state, in the form of the dump', async () => {
    await using bmc = await dumpedBmc('xcc')
    const read = () => bmc.call('GET', `${ROOT}/Systems/1`)
    const before = await read()
    expect(before.headers['etag']).toBe(before.document['@odata.etag'])
    expect(before.body!.match(/@odata\.etag/g)).toHaveLength(1)
    await bmc.machine().setPower('on')
    expect((await read()).headers['etag']).not.toBe(before.headers['etag'])
  })

  test('is found whatever its case where the BMC ignores it, and where else it is', async () => {
    await using bmc = await dumpedBmc('ilo5')
    expect((await bmc.call('GET', `${ROOT}/SYSTEMS/1/Bios/`)).document.Attributes).toHaveProperty('ProcAes')
    await using smc = await dumpedBmc('supermicro-x13')
    const registry = await smc.call('GET', '/registries/BiosAttributeRegistry.1.0.0.json')
    expect(registry.document.Id).toBe('BiosAttributeRegistry.1.0.0')
  })

  test('needs an account, but for the root', async () => {
    await using bmc = await dumpedBmc('ilo5')
    expect((await bmc.call('GET', `${ROOT}/`, undefined, {})).status).toBe(200)
    expect((await bmc.call('GET', `${ROOT}/Systems/1`, undefined, {})).status).toBe(401)
    expect((await bmc.call('GET', `${ROOT}/Registries`, undefined, {})).status).toBe(401)
  })
})

describe('a write', () => {
  test('to a resource that only reads is refused with its methods', async () => {
    await using bmc = await dumpedBmc('idrac9')
    const answer = await bmc.call('PATCH', `${ROOT}/Managers/iDRAC.Embedded.1/Attributes`, { Attributes: {} })
    expect(answer.status).toBe(405)
    expect(answer.headers['allow']).toBe('GET, HEAD')
    expect(messageIds(answer)).toEqual(['Base.1.12.OperationNotAllowed'])
    expect((await bmc.call('DELETE', `${ROOT}/Chassis/System.Embedded.1`)).status).toBe(405)
  })

  test('of a property that the machine does not have is refused in the words of the BMC', async () => {
    await using bmc = await dumpedBmc('ilo5')
    const answer = await bmc.call('PATCH', `${ROOT}/Systems/1`, { HostName: 'other' })
    expect(answer.status).toBe(400)
    expect(messageIds(answer)).toEqual(['Base.1.4.PropertyUnknown'])
  })

  test('by an action that nothing here carries out is refused, and one of nothing is not found', async () => {
    await using bmc = await dumpedBmc('idrac9')
    const manager = `${ROOT}/Managers/iDRAC.Embedded.1`
    const answer = await bmc.call('POST', `${manager}/Actions/Manager.ResetToDefaults`, {})
    expect(answer.status).toBe(400)
    expect(messageIds(answer)).toEqual(['Base.1.12.ActionNotSupported'])
    expect((await bmc.call('POST', `${ROOT}/Nothing/Actions/Nothing.Do`, {})).status).toBe(404)
  })

  test('of the boot order is refused, since the options are those of the dump', async () => {
    await using bmc = await dumpedBmc('ilo6')
    const system = `${ROOT}/Systems/1`
    const { BootOrder } = (await bmc.call('GET', system)).document.Boot
    expect(BootOrder).toEqual(['Boot0010'])
    const [option] = bmc.machine().firmware.boot.options()
    const changed = await bmc.call('PATCH', system, { Boot: { BootOrder: [option!.reference] } })
    expect([changed.status, messageIds(changed)]).toEqual([400, ['iLO.2.14.PropertyNotWritableOrUnknown']])
  })

  test('of firmware settings waits for the next boot, in the place that the dump links to', async () => {
    await using bmc = await dumpedBmc('xcc')
    const pending = `${ROOT}/Systems/1/Bios/Pending`
    const changed = await bmc.call('PATCH', pending, { Attributes: { Processors_HyperThreading: 'Disabled' } })
    expect(changed.status).toBeLessThan(300)
    const value = async (path: string) => (await bmc.call('GET', path)).document.Attributes.Processors_HyperThreading
    expect(await value(pending)).toBe('Disabled')
    expect(await value(`${ROOT}/Systems/1/Bios`)).toBe('Enabled')
    await bmc.machine().setPower('on')
    expect(await value(`${ROOT}/Systems/1/Bios`)).toBe('Disabled')
    const wrong = await bmc.call('PATCH', pending, { Attributes: { Processors_HyperThreading: 'Sideways' } })
    expect(messageIds(wrong)).toEqual(['Base.1.12.PropertyValueNotInList'])
  })

  test('of the boot override goes where the BMC takes it', async () => {
    const boot = {
      Boot: { BootSourceOverrideTarget: 'Cd', BootSourceOverrideEnabled: 'Once', BootSourceOverrideMode: 'UEFI' },
    }
    await using bmc = await dumpedBmc('ami-dgx')
    const system = `${ROOT}/Systems/DGX`
    const { headers } = await bmc.call('GET', `${system}/SD`)
    const match = {
      'if-match': headers['etag']!,
      authorization: `Basic ${Buffer.from(`${ADMIN.username}:${ADMIN.password}`).toString('base64')}`,
    }
    expect((await bmc.call('PATCH', system, boot)).status).toBe(428)
    expect((await bmc.call('PATCH', `${system}/SD`, boot, match)).status).toBe(200)
    expect((await bmc.call('GET', system)).document.Boot).toMatchObject({
      BootSourceOverrideTarget: 'Cd',
      BootSourceOverrideEnabled: 'Once',
      BootSourceOverrideMode: null,
    })
  })
})

describe('what lives besides', () => {
  test('sessions, subscriptions, tasks and the log of the machine, at the paths of the dump', async () => {
    await using bmc = await dumpedBmc('ilo6')
    const session = await bmc.call(
      'POST',
      `${ROOT}/SessionService/Sessions`,
      { UserName: ADMIN.username, Password: ADMIN.password },
      {},
    )
    expect(session.status).toBe(201)
    const token = { 'x-auth-token': session.headers['x-auth-token']! }
    const sessions = await bmc.call('GET', `${ROOT}/SessionService/Sessions`, undefined, token)
    expect(sessions.document.Members).toEqual([{ '@odata.id': session.headers['location'] }])
    expect((await bmc.call('DELETE', session.headers['location']!, undefined, token)).status).toBeLessThan(300)

    await bmc.machine().setPower('on')
    const entries = `${ROOT}/Systems/1/LogServices/IML/Entries`
    const log = await bmc.call('GET', entries)
    expect(log.document.Members[0]['@odata.id']).toBe(`${entries}/1`)
    expect((await bmc.call('GET', `${entries}/1`)).document.Message).toContain('on')
    const clear = `${ROOT}/Systems/1/LogServices/IML/Actions/LogService.ClearLog`
    expect((await bmc.call('POST', clear, {})).status).toBeLessThan(300)

    const subscribed = await bmc.call('POST', `${ROOT}/EventService/Subscriptions`, {
      Destination: 'http://listener.test/events',
      Protocol: 'Redfish',
    })
    expect(subscribed.status).toBe(201)
    const { Members } = (await bmc.call('GET', `${ROOT}/EventService/Subscriptions`)).document
    expect(Members).toEqual([{ '@odata.id': subscribed.headers['location'] }])
  })

  test('an update of firmware changes the version in the member of the dump', async () => {
    await using bmc = await dumpedBmc('idrac9')
    const bios = `${ROOT}/UpdateService/FirmwareInventory/Installed-159-1.9.2__BIOS.Setup.1-1`
    expect((await bmc.call('GET', bios)).document.Version).toBe('1.9.2')
    const body = { ImageURI: 'http://images.test/BIOS_2.10.1.exe', Targets: [bios] }
    const started = await bmc.call('POST', `${ROOT}/UpdateService/Actions/UpdateService.SimpleUpdate`, body)
    expect(started.status).toBe(202)
    await bmc.clock.advance(5000)
    expect((await bmc.call('GET', bios)).document.Version).toBe('2.10.1')
    expect((await bmc.call('GET', `${ROOT}/Systems/System.Embedded.1`)).document.BiosVersion).toBe('2.10.1')
  })

  test('jobs and readiness of an iDRAC, whose actions the dump names in its own way', async () => {
    await using bmc = await dumpedBmc('idrac9')
    const manager = `${ROOT}/Managers/iDRAC.Embedded.1`
    const ready = `${manager}/Oem/Dell/DellLCService/Actions/DellLCService.GetRemoteServicesAPIStatus`
    expect((await bmc.call('POST', ready, {})).document).toMatchObject({ LCStatus: 'Ready' })
    const buffer =
      '<SystemConfiguration><Component FQDD="iDRAC.Embedded.1"><Attribute Name="ServerBoot.1#FirstBootDevice">VCD-DVD</Attribute></Component></SystemConfiguration>'
    const body = { ShareParameters: { Target: 'ALL' }, ImportBuffer: buffer }
    const imported = await bmc.call('POST', `${manager}/Actions/Oem/EID_674_Manager.ImportSystemConfiguration`, body)
    expect(imported.status).toBe(202)
  })
})

test('a dump that is gone is an error of its BMC that says so', async () => {
  const { hardware, file } = await importedFace(await writtenFace('xcc'))
  const moved = { ...hardware, bmc: { ...(hardware.bmc as object), dump: { folder: join(dirname(file), 'gone') } } }
  await using bmc = await served(1, {}, withHardware(defaultMachineSpec(1), moved))
  const answer = await bmc.call('GET', `${ROOT}/Systems/1`)
  expect(answer.status).toBe(500)
  expect(answer.body).toContain(`${join(dirname(file), 'gone')} cannot be read`)
})
