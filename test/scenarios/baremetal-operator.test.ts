import { createHash } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { BareMetalOperator, bmcAccess, wantedHosts, type RequestedHost } from '../../metal3/index.js'
import { createStagedLab, type StagedLab } from '../../lab/index.js'
import type { IronicRelease } from '../../base/wire/index.js'
import { ignition, imageServer } from '../kit/deployed.js'
import { smallImage } from '../kit/images/rehearsal-image.js'

const account = { username: 'admin', password: 'secret', disableCertificateVerification: true }

const host = (more: Partial<RequestedHost> = {}): RequestedHost => ({
  name: 'worker-0',
  bmc: bmcAccess('redfish-virtualmedia://10.4.0.1:8000/redfish/v1/Systems/1', account),
  bootMac: '52:54:00:b0:00:01',
  ...more,
})

const custom = host({ customDeploy: { method: 'install_coreos' }, userData: JSON.stringify(ignition) })

const opened = async (release: IronicRelease = 'master') => {
  const lab = await createStagedLab({ ironic: { profile: 'metal3', release }, disks: 'described' })
  return { lab, operator: new BareMetalOperator(lab) }
}

const nodeOf = (lab: StagedLab, operator: BareMetalOperator, of: RequestedHost) =>
  lab.client.node(operator.statusOf(of).id!)

/** Through all that comes before an instance. */
async function prepared(operator: BareMetalOperator, of: RequestedHost): Promise<void> {
  for (const phase of ['register', 'inspect', 'prepare'] as const)
    expect([phase, (await operator[phase](of)).errorMessage]).toEqual([phase, undefined])
}

/** The calls without ids, those that only look left out. */
const asked = ({ calls }: BareMetalOperator): string[] =>
  calls.made
    .filter((call) => !call.startsWith('GET'))
    .map((call) => call.replaceAll(/[0-9a-f]{8}-[0-9a-f-]{27}/g, 'ID'))

describe('BareMetal Operator takes a host', () => {
  test.each<[IronicRelease, number]>([
    ['2025.1', 95],
    ['2025.2', 95],
    ['2026.1', 110],
    ['master', 110],
  ])('through its life with an Ironic of %s, at 1.%i', async (release, version) => {
    const { lab, operator } = await opened(release)
    await using _ = lab
    await prepared(operator, custom)
    expect(operator.calls.version).toBe(version)
    expect(operator.statusOf(custom).hardware).toMatchObject({
      inventory: { interfaces: [expect.objectContaining({ mac_address: custom.bootMac })] },
    })
    // The host is available to its users while the node is still manageable.
    expect(await nodeOf(lab, operator, custom)).toMatchObject({ provision_state: 'manageable' })

    expect((await operator.provision(custom)).errorMessage).toBeUndefined()
    expect(await nodeOf(lab, operator, custom)).toMatchObject({ provision_state: 'active', power_state: 'power on' })
    await operator.powerOff(custom)
    await operator.powerOn(custom)
    await operator.deprovision(custom)
    expect(await nodeOf(lab, operator, custom)).toMatchObject({
      provision_state: 'available',
      instance_info: {},
      instance_uuid: null,
    })
    await operator.powerOff(custom)
    await operator.delete(custom)
    expect(await lab.client.nodes()).toEqual([])

    expect(asked(operator)).toEqual([
      'POST /nodes 201',
      'POST /ports 201',
      'PUT /nodes/ID/states/provision 202',
      'PATCH /nodes/ID 200',
      'PUT /nodes/ID/states/provision 202',
      'PUT /nodes/ID/states/provision 202',
      'PATCH /nodes/ID 200',
      'PUT /nodes/ID/states/provision 202',
      ...Array.from({ length: 2 }, () => 'PUT /nodes/ID/states/power 202'),
      'PUT /nodes/ID/states/provision 202',
      'PUT /nodes/ID/states/power 202',
      'DELETE /nodes/ID 204',
    ])
  })

  test.each([89, 93, 95, 109, 110])('at 1.%i, where it knows nothing newer', async (newestVersion) => {
    await using lab = await createStagedLab({ ironic: {}, disks: 'described' })
    const operator = new BareMetalOperator(lab, { newestVersion })
    if (newestVersion < 95) {
      // It sends disable_power_off with every node, which is refused there: such an Ironic looks ready and is not.
      await expect(operator.register(host())).rejects.toThrow(/^POST \/nodes: 406 /)
      return
    }
    await prepared(operator, custom)
    expect((await operator.provision(custom)).errorMessage).toBeUndefined()
  })

  test('not with an Ironic of 2024.2, whose newest is 1.93', async () => {
    const { lab, operator } = await opened('2024.2')
    await using _ = lab
    // An Ironic of before the field does not even know its name.
    await expect(operator.register(host())).rejects.toThrow(/^POST \/nodes: 400 .*disable_power_off/)
    expect(operator.calls.version).toBe(93)
  })

  test.each([
    'redfish://10.4.0.2/redfish/v1/Systems/1',
    'redfish-uefihttp+http://10.4.0.2/redfish/v1',
    'idrac-virtualmedia+https://10.4.0.2/redfish/v1/Systems/System.Embedded.1',
    'idrac-redfish://10.4.0.2',
    'ilo5-virtualmedia://10.4.0.2/redfish/v1/Systems/1',
    'ipmi://10.4.0.2:6230',
    'libvirt://10.4.0.2:16509',
    '10.4.0.2',
  ])('behind a BMC at %s', async (address) => {
    const { lab, operator } = await opened()
    await using _ = lab
    const other = { ...custom, bmc: bmcAccess(address, account) }
    await prepared(operator, other)
    expect((await operator.provision(other)).errorMessage).toBeUndefined()
    await operator.deprovision(other)
    await operator.delete(other)
  })
})

test.each([
  ['as it is written today', 'customDeploy: {method: install_coreos}'],
  ['as the design document writes it', 'image: {url: "", format: coreos}'],
])('a manifest of a CoreOS host, %s, ends with the config on the disk', async (_, deploy) => {
  const text = `
apiVersion: v1
kind: Secret
metadata: {name: config}
stringData: {userData: '${JSON.stringify(ignition)}'}
---
apiVersion: metal3.io/v1alpha1
kind: BareMetalHost
metadata: {name: worker-1}
spec:
  online: true
  bmc: {address: "redfish-virtualmedia://10.4.0.9/redfish/v1/Systems/1", credentialsName: none}
  userData: {name: config}
  ${deploy}`
  const { hosts } = wantedHosts([{ name: 'host.yaml', text }])
  const { lab, operator } = await opened()
  await using _lab = lab
  const reports: unknown[] = []
  lab.events.listen((event) => void (event.kind === 'first-boot' && reports.push(event.report)))
  await prepared(operator, hosts[0]!.host!)
  expect((await operator.provision(hosts[0]!.host!)).errorMessage).toBeUndefined()
  expect(await nodeOf(lab, operator, hosts[0]!.host!)).toMatchObject({ deploy_interface: 'custom-agent' })
  expect(reports).toEqual([expect.objectContaining({ failure: null, ignitionVersion: ignition.ignition.version })])
})

describe('an instance', () => {
  test('of an image, by the interface that Ironic finds for it', async () => {
    const raw = await smallImage()
    await using server = await imageServer({ '/disk.raw': raw })
    const checksum = createHash('sha256').update(raw).digest('hex')
    await using lab = await createStagedLab({ ironic: { profile: 'metal3' }, disks: 'file' })
    const operator = new BareMetalOperator(lab)
    const imaged = host({ image: { url: server.url('/disk.raw'), checksum, checksumType: 'sha256', format: 'raw' } })
    await prepared(operator, imaged)
    expect((await operator.provision(imaged)).errorMessage).toBeUndefined()
    expect(await nodeOf(lab, operator, imaged)).toMatchObject({ provision_state: 'active', deploy_interface: 'direct' })
    await operator.deprovision(imaged)
    expect(await nodeOf(lab, operator, imaged)).toMatchObject({ deploy_interface: 'autodetect', instance_info: {} })

    // The image that is not what it should be is told on the host.
    imaged.image!.checksum = '0'.repeat(64)
    const { errorMessage } = await operator.provision(imaged)
    expect(errorMessage).toMatch(
      /^Image provisioning failed \(url: .*disk\.raw, checksum: 0{64}\): Deploy step deploy\.write_image failed on node/,
    )
  })

  test('of a live ISO', async () => {
    const { lab, operator } = await opened()
    await using _ = lab
    const live = host({ image: { url: 'http://images.invalid/live.iso', format: 'live-iso' } })
    await prepared(operator, live)
    expect((await operator.provision(live)).errorMessage).toBeUndefined()
    expect(await nodeOf(lab, operator, live)).toMatchObject({
      provision_state: 'active',
      deploy_interface: 'ramdisk',
      power_state: 'power on',
      instance_info: { boot_iso: 'http://images.invalid/live.iso' },
    })
    await operator.deprovision(live)
  })

  test('that was there before is adopted', async () => {
    const { lab, operator } = await opened()
    await using _ = lab
    await operator.register(custom)
    await operator.adopt(custom)
    expect(await nodeOf(lab, operator, custom)).toMatchObject({ provision_state: 'active', last_error: null })
    await operator.powerOn(custom)
    await operator.delete(custom)
    expect(await lab.client.nodes()).toEqual([])
  })

  test.each([
    [95, 'deleted'],
    [110, 'abort'],
  ])('that waits for its agent is given up when its host is deleted: at 1.%i by %s', async (newestVersion, verb) => {
    await using lab = await createStagedLab({ ironic: {}, disks: 'described' })
    const operator = new BareMetalOperator(lab, { newestVersion })
    await prepared(operator, custom)
    const { id } = operator.statusOf(custom)
    lab.faults.add({ match: { node: id!, phase: 'deploy' }, effect: { kind: 'agent-silent' } })
    const provisioning = operator.provision(custom)
    await lab.wait(
      (async () => {
        while ((await lab.store.node(id!))!.node.provision_state !== 'wait call-back') await lab.clock.sleep(5_000)
      })(),
    )
    operator.halt()
    await provisioning

    const next = new BareMetalOperator(lab, { newestVersion })
    await next.delete(custom)
    expect(await lab.client.nodes()).toEqual([])
    expect(next.asked).toContain(verb)
  })
})

describe('the hardware of a host', () => {
  test('is configured before it is used and serviced in use: RAID, BIOS settings, firmware', async () => {
    const { lab, operator } = await opened()
    await using _ = lab
    const configured: RequestedHost = {
      ...custom,
      raid: {
        kind: 'hardware',
        logicalDisks: [{ size_gb: 5, raid_level: '1', volume_name: 'root', is_root_volume: true }],
      },
      biosSettings: [{ name: 'ProcVirtualization', value: 'Disabled' }],
      firmwareUpdates: [{ component: 'bios', url: 'http://images.invalid/bios-2.7.1.bin' }],
    }
    await prepared(operator, configured)
    const before = await operator.settings(configured)
    expect(before.bios).toContainEqual(expect.objectContaining({ name: 'ProcVirtualization', value: 'Disabled' }))
    expect(before.firmware).toContainEqual(expect.objectContaining({ component: 'bios', current_version: '2.7.1' }))
    expect(await nodeOf(lab, operator, configured)).toMatchObject({
      raid_config: { logical_disks: [expect.objectContaining({ raid_level: '1' })] },
    })

    expect((await operator.provision(configured)).errorMessage).toBeUndefined()
    configured.biosSettings = [{ name: 'ProcVirtualization', value: 'Enabled' }]
    configured.firmwareUpdates = [{ component: 'bios', url: 'http://images.invalid/bios-2.8.0.bin' }]
    expect((await operator.service(configured)).errorMessage).toBeUndefined()
    const after = await operator.settings(configured)
    expect(after.bios).toContainEqual(expect.objectContaining({ name: 'ProcVirtualization', value: 'Enabled' }))
    expect(after.firmware).toContainEqual(expect.objectContaining({ component: 'bios', current_version: '2.8.0' }))

    configured.biosSettings = [{ name: 'NoSuchSetting', value: 'x' }]
    expect((await operator.service(configured)).errorMessage).toContain('NoSuchSetting')
  })

  test('takes data images, and tells of its events', async () => {
    const { lab, operator } = await opened()
    await using _ = lab
    await prepared(operator, custom)
    const url = 'http://images.invalid/data.iso'
    expect(await operator.dataImage(custom, url)).toContainEqual(
      expect.objectContaining({ image: url, inserted: true }),
    )
    expect(await operator.dataImage(custom, null)).toContainEqual(
      expect.objectContaining({ image: null, inserted: false }),
    )
    const end = await operator.subscribe(custom, 'https://events.invalid/')
    await end()
    await expect(end()).rejects.toThrow(/ 4\d\d /)
  })

  test('is looked for by all of its names before it is registered', async () => {
    const { lab, operator } = await opened()
    await using _ = lab
    const { id } = await operator.register(custom).then(() => operator.statusOf(custom))
    expect(id).toEqual(expect.any(String))
    expect(operator.calls.made.slice(0, 6).map((call) => call.replace(/[0-9a-f]{8}-[0-9a-f-]{27}/, 'ID'))).toEqual([
      'GET / 200',
      'GET /drivers 200',
      'GET /nodes/metal3~worker-0 404',
      'GET /nodes/worker-0 404',
      'GET /ports?address=52%3A54%3A00%3Ab0%3A00%3A01&fields=node_uuid%2Cuuid%2Caddress 200',
      'POST /nodes 201',
    ])
  })
})
