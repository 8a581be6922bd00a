import { expect, test } from 'vitest'
import { crawled } from '../../../test/kit/redfish/crawled.js'
import { served, type Served } from '../../../test/kit/redfish/served.js'

const MANAGER = '/redfish/v1/Managers/machine-1'
const DELL = { manufacturer: 'Dell Inc.', product: 'PowerEdge R650' }

const idrac = () => served(1, {}, DELL)

const profile = (component: string, ...attributes: [string, string][]) => {
  const inner = attributes.map(([name, value]) => `<Attribute Name="${name}">${value}</Attribute>`).join('')
  return `<SystemConfiguration><Component FQDD="${component}">${inner}</Component></SystemConfiguration>`
}

/** An action by its place among those of the manager, whose task has ended. */
async function configured(bmc: Served, name: string, body: Record<string, unknown>) {
  const { document } = await bmc.call('GET', MANAGER)
  const [key] = Object.keys(document.Actions.Oem).filter((each) => each.endsWith(`#OemManager.${name}`))
  const answer = await bmc.call('POST', document.Actions.Oem[key!].target, {
    ShareParameters: { Target: ['ALL'] },
    ...body,
  })
  if (answer.status !== 202) return answer
  expect((await bmc.call('GET', answer.headers['location']!)).status).toBe(202)
  await bmc.clock.advance(2000)
  return bmc.call('GET', answer.headers['location']!)
}

const boots = (device: string, once = 'Enabled') =>
  profile('iDRAC.Embedded.1', ['ServerBoot.1#BootOnce', once], ['ServerBoot.1#FirstBootDevice', device])

test('every link of an iDRAC leads to a resource', async () => {
  await using bmc = await idrac()
  await configured(bmc, 'ImportSystemConfiguration', { ImportBuffer: boots('VCD-DVD') })
  const all = await crawled(bmc)
  expect([...all].filter(([, { status }]) => status !== 200)).toEqual([])
  const dell = [...all.keys()].filter((path) => path.includes('/Dell/'))
  expect(dell.map((path) => path.replace(/JID_\d{12}/, 'JID'))).toEqual(
    expect.arrayContaining(
      ['DelliDRACCardService', 'DellJobService', 'DellLCService', 'Jobs', 'Jobs/JID'].map(
        (name) => `${MANAGER}/Oem/Dell/${name}`,
      ),
    ),
  )
})

test.each([
  ['VCD-DVD', 'Enabled', 'Cd', 'Once'],
  ['VFDD', 'Enabled', 'Floppy', 'Once'],
  ['PXE', 'Disabled', 'Pxe', 'Continuous'],
  ['Normal', 'Enabled', 'None', 'Disabled'],
])('an imported profile with %s, once %s, sets the boot override %s, %s', async (device, once, target, enabled) => {
  await using bmc = await idrac()
  const done = await configured(bmc, 'ImportSystemConfiguration', { ImportBuffer: boots(device, once) })
  expect(done.document).toMatchObject({ TaskState: 'Completed' })
  expect(bmc.machine().firmware.boot.override).toMatchObject({ target, enabled })
})

test('imported BIOS settings hold after the next boot', async () => {
  await using bmc = await idrac()
  const buffer = profile('BIOS.Setup.1-1', ['ProcCores', '4'], ['MemTest', 'true'], ['PxeDev2EnDis', 'Enabled'])
  await configured(bmc, 'ImportSystemConfiguration', { ImportBuffer: buffer })
  expect(bmc.machine().firmware.pendingBios).toEqual({ ProcCores: 4, MemTest: true, PxeDev2EnDis: 'Enabled' })
})

test('a profile with an attribute that cannot be imported changes nothing, and its job says which', async () => {
  await using bmc = await idrac()
  const buffer = boots('PXE').replace('<Attribute', '<Attribute Name="Users.2#Password">x</Attribute><Attribute')
  const { document } = await configured(bmc, 'ImportSystemConfiguration', { ImportBuffer: buffer })
  expect(document).toMatchObject({ TaskState: 'Exception' })
  expect(document.Messages[0].Message).toContain('no attribute Users.2#Password')
  expect(bmc.machine().firmware.boot.override.target).toBe('None')
  const jobs = await bmc.call('GET', `${MANAGER}/Oem/Dell/Jobs?$expand=.($levels=1)`)
  expect(jobs.document.Members).toMatchObject([{ JobState: 'Failed', JobType: 'ImportConfiguration' }])
})

test.each([
  ['no XML', 'ServerBoot', 'ImportBuffer'],
  ['a tag that is not closed', '<SystemConfiguration><Component>', 'ImportBuffer'],
  ['another document', '<Profile/>', 'SystemConfiguration'],
  ['a component without a name', '<SystemConfiguration><Component/></SystemConfiguration>', 'FQDD'],
])('%s is refused as a profile', async (_, buffer, named) => {
  await using bmc = await idrac()
  const { status, body } = await configured(bmc, 'ImportSystemConfiguration', { ImportBuffer: buffer })
  expect(status).toBe(400)
  expect(body).toContain(named)
})

test('the exported profile of NICs says which of them boot', async () => {
  await using bmc = await idrac()
  const { document } = await configured(bmc, 'ExportSystemConfiguration', {
    ShareParameters: { Target: 'NIC' },
    ExportFormat: 'JSON',
    ExportUse: 'Default',
    IncludeInExport: 'Default',
  })
  expect(document.SystemConfiguration.Components).toMatchObject([
    { FQDD: 'eno1', Attributes: [{ Name: 'LegacyBootProto', Value: 'PXE' }] },
    { FQDD: 'eno2', Attributes: [{ Name: 'LegacyBootProto', Value: 'NONE' }] },
  ])
})

test('the queue of jobs is cleared, but not of one that runs', async () => {
  await using bmc = await idrac()
  const clear = (JobID: string) =>
    bmc.call('POST', `${MANAGER}/Oem/Dell/DellJobService/Actions/DellJobService.DeleteJobQueue`, { JobID })
  const { document } = await bmc.call('GET', MANAGER)
  const [target] = Object.entries(document.Actions.Oem).flatMap(([name, action]) =>
    name.endsWith('ImportSystemConfiguration') ? [(action as { target: string }).target] : [],
  )
  await bmc.call('POST', target!, { ShareParameters: { Target: 'ALL' }, ImportBuffer: boots('PXE') })
  expect((await clear('JID_CLEARALL')).status).toBe(409)
  await bmc.clock.advance(2000)
  expect((await clear('JID_123')).status).toBe(400)
  expect((await clear('JID_CLEARALL')).status).toBe(204)
  expect((await bmc.call('GET', `${MANAGER}/Oem/Dell/Jobs`)).document.Members).toEqual([])
})

test('the services of an iDRAC: ready, without foreign drives, reset', async () => {
  await using bmc = await idrac()
  const dell = `${MANAGER}/Oem/Dell`
  const ready = await bmc.call('POST', `${dell}/DellLCService/Actions/DellLCService.GetRemoteServicesAPIStatus`, {})
  expect(ready.document).toMatchObject({ LCStatus: 'Ready', RTStatus: 'Ready', ServerStatus: 'PoweredOff' })
  const raid = '/redfish/v1/Systems/machine-1/Oem/Dell/DellRaidService/Actions/DellRaidService.ClearForeignConfig'
  const foreign = await bmc.call('POST', raid, { TargetFQDD: 'RAID.1' })
  expect(foreign).toMatchObject({ status: 400 })
  expect(foreign.body).toContain('STOR018')
  await bmc.call('POST', `${dell}/DelliDRACCardService/Actions/DelliDRACCardService.iDRACReset`, { Force: 'Graceful' })
  expect(bmc.machine().firmware.log.entries.map(({ kind }) => kind)).toContain('bmc reset')
})

test('the switch of a NIC with a link is that of its LLDP frames', async () => {
  await using bmc = await idrac()
  const path = '/redfish/v1/Systems/machine-1/NetworkPorts/Oem/Dell/DellSwitchConnections'
  expect((await bmc.call('GET', path)).document.Members).toMatchObject([
    { FQDD: 'eno1', SwitchConnectionID: '02:00:5e:00:53:01', SwitchPortConnectionID: 'Ethernet1/1' },
    { FQDD: 'eno2', SwitchConnectionID: 'No Link', SwitchPortConnectionID: 'No Link' },
  ])
})

test('a machine of another vendor has none of it', async () => {
  await using bmc = await served()
  expect((await bmc.call('GET', `${MANAGER}/Oem/Dell/Jobs`)).status).toBe(404)
  const target = `${MANAGER}/Actions/Oem/OemManager.ImportSystemConfiguration`
  expect((await bmc.call('POST', target, { ImportBuffer: boots('PXE') })).status).toBe(404)
})
