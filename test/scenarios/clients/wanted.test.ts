import { expect, test } from 'vitest'
import { LabClient, type HostObject, type WantedItem } from '../../../control/index.js'
import { createStagedLab, installCoreos, type StagedLab } from '../../../lab/index.js'
import { ignition, machineOf } from '../../kit/deployed.js'

const BASE = 'https://ironic.test'

type ItemsByName = Readonly<Record<string, WantedItem | undefined>>

const byName = (items: readonly WantedItem[]): ItemsByName => Object.fromEntries(items.map((item) => [item.what, item]))

function looksAt(lab: StagedLab, uuid: string) {
  const client = new LabClient(BASE, { fetch: lab.fetchAt(BASE) })
  return async () => byName((await client.wanted(uuid)).items)
}

test('what Ironic wants of a node stands beside what its machine has, before and after a deployment', async () => {
  await using lab = await createStagedLab()
  const node = await lab.enroll({
    deploySteps: [installCoreos({ ignition })],
    fields: { properties: { root_device: { serial: 'SSD000001A' }, capabilities: 'boot_mode:uefi' } },
  })
  const look = looksAt(lab, node.uuid)
  expect((await look())['provision state']).toMatchObject({ wanted: 'enroll', actual: 'enroll', verdict: 'same' })
  await node.deploy()
  const during = await look()
  expect(during['provision state']).toMatchObject({ wanted: 'active', verdict: 'pending' })
  await node.settled()
  const after = await look()
  expect(after['provision state']).toMatchObject({ wanted: 'active', actual: 'active', verdict: 'same' })
  expect(after['power']).toMatchObject({ wanted: 'power on', actual: 'power on', verdict: 'same' })
  expect(after['root device']).toMatchObject({ wanted: '{"serial":"SSD000001A"}', actual: 'sda', verdict: 'same' })
  expect(after['disk contents']!.actual).toMatch(/^sda: gpt with .*root/)
  expect(after['booted system']).toMatchObject({ wanted: 'the system on its disk', verdict: 'same' })
  expect(Object.values(after).filter((item) => item!.verdict !== 'same')).toEqual([])
})

test('a machine that lost its power, its disk and its boot mode differs; BIOS settings wait for a boot', async () => {
  await using lab = await createStagedLab()
  const node = await lab.enroll({
    deploySteps: [installCoreos({ ignition })],
    fields: { properties: { root_device: { serial: 'SSD000001A' }, capabilities: 'boot_mode:bios,secure_boot:true' } },
  })
  const look = looksAt(lab, node.uuid)
  await node.deploy()
  await node.settled()
  const machine = await machineOf(node)
  await machine.setPower('off')
  await machine.swapDisk('sda', {})
  const [setting] = machine.firmware.report().bios
  await machine.firmware.setBios({ [setting!.name]: setting!.value })
  const seen = await look()
  expect(seen['power']).toMatchObject({ wanted: 'power on', actual: 'power off', verdict: 'different' })
  expect(seen['root device']).toMatchObject({ actual: 'no disk matches', verdict: 'different' })
  expect(seen['disk contents']).toMatchObject({ actual: 'no partitions on any disk', verdict: 'different' })
  expect(seen['booted system']).toMatchObject({ actual: 'nothing: it is off', verdict: 'different' })
  expect(seen['secure boot']).toMatchObject({ wanted: 'on', actual: 'off', verdict: 'different' })
  expect(seen[`BIOS ${setting!.name}`]).toMatchObject({ verdict: 'pending' })
})

test('a failed deployment differs from what was asked, and a node without a machine is shown as far as it is known', async () => {
  await using lab = await createStagedLab()
  const node = await lab.enroll({ deploySteps: [installCoreos({ ignition })] })
  const { id } = lab.faults.add({
    match: { program: 'coreos-installer' },
    effect: { kind: 'exit-code', code: 1, stderr: 'Error' },
  })
  await node.deploy()
  await node.settled()
  const seen = await looksAt(lab, node.uuid)()
  expect(seen['provision state']).toMatchObject({ wanted: 'active', actual: 'deploy failed', verdict: 'different' })
  lab.faults.lift(id)
  const bare = await lab.client.createNode({ driver: 'redfish', name: 'bare' })
  const items = await looksAt(lab, bare.uuid)()
  expect(items['power']).toMatchObject({ actual: null, verdict: 'unknown' })
  expect(items['disk contents']).toBeUndefined()
})

test('the spec of a BareMetalHost stands beside its status, without secrets', async () => {
  const host: HostObject = {
    metadata: { namespace: 'metal3', name: 'worker-0' },
    spec: {
      online: true,
      bootMode: 'UEFI',
      image: { url: 'http://me:hunter22@images/a.raw', checksum: 'abc' },
      rootDeviceHints: { serialNumber: 'x', deviceName: '/dev/sda' },
      bmc: { credentialsName: 'new' },
    },
    status: {
      poweredOn: false,
      errorMessage: 'it failed',
      goodCredentials: { credentials: { name: 'old' } },
      provisioning: {
        state: 'provisioned',
        bootMode: 'UEFI',
        image: { url: '' },
        rootDeviceHints: { deviceName: '/dev/sda', serialNumber: 'x' },
        raid: { softwareRAIDVolumes: [] },
      },
    },
  }
  await using lab = await createStagedLab({ hostOf: (name) => (name === 'metal3~worker-0' ? host : undefined) })
  const node = await lab.client.createNode({ driver: 'redfish', name: 'metal3~worker-0' })
  const client = new LabClient(BASE, { fetch: lab.fetchAt(BASE) })
  const report = await client.wanted(node.uuid)
  expect(JSON.stringify(report)).not.toContain('hunter22')
  expect(report.host).toMatchObject({ namespace: 'metal3', name: 'worker-0', state: 'provisioned', error: 'it failed' })
  const items = byName(report.host!.items)
  expect(items['powered on']).toMatchObject({ wanted: 'true', actual: 'false', verdict: 'different' })
  expect(items['boot mode']).toMatchObject({ verdict: 'same' })
  expect(items['image']).toMatchObject({ actual: null, verdict: 'different' })
  expect(items['root device hints']).toMatchObject({ verdict: 'same' })
  expect(items['RAID']).toMatchObject({ wanted: null, verdict: 'same' })
  expect(items['BMC credentials']).toMatchObject({ wanted: 'new', actual: 'old', verdict: 'different' })
  const other = await lab.client.createNode({ driver: 'redfish', name: 'alone' })
  expect((await client.wanted(other.uuid)).host).toBeNull()
})

test('an unknown node is refused as everywhere', async () => {
  await using lab = await createStagedLab()
  const client = new LabClient(BASE, { fetch: lab.fetchAt(BASE) })
  await expect(client.wanted('nobody')).rejects.toMatchObject({ code: 'no-such-node', status: 404 })
})
