import { readFile } from 'node:fs/promises'
import { createHash } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { sha256Hex } from '../../base/bytes/index.js'
import { withHostname } from '../../ignition/index.js'
import { createStagedLab, installCoreos, type EnrollOptions, type StagedLab } from '../../lab/index.js'
import { compareWithImage } from '../../machine/index.js'
import { openFileDisk } from '../../machine/disk/file-disk.js'
import { bootArguments, configdrive, ignition, IMAGE, imageServer, machineOf, readDisk } from '../kit/deployed.js'

const ACTIVE = { provision_state: 'active', power_state: 'power on', last_error: null, reservation: null }

async function deployed(lab: StagedLab, options: EnrollOptions) {
  const node = await lab.enroll(options)
  await node.deploy()
  expect(await node.settled()).toMatchObject(ACTIVE)
  const machine = await machineOf(node)
  return { node, machine, firstBoot: machine.firstBoot()! }
}

describe('what an installed system gets', () => {
  test('as BareMetal Operator asks: no arguments, everything in the configdrive', async () => {
    await using lab = await createStagedLab()
    const { firstBoot, machine } = await deployed(lab, { deploySteps: [installCoreos()], configdrive })
    expect(machine.boot()).toMatchObject({ outcome: 'disk' })
    expect(firstBoot).toMatchObject({
      hostname: 'worker-0',
      ignitionVersion: '3.4.0',
      disk: '/dev/sda',
      files: ['/etc/motd', '/etc/hostname'],
      users: [{ name: 'core', sshKeyFingerprints: [expect.stringMatching(/^SHA256:/)] }],
      failure: null,
    })
  })

  test('its Ignition config from the arguments, without a configdrive', async () => {
    await using lab = await createStagedLab()
    const { firstBoot } = await deployed(lab, { deploySteps: [installCoreos({ ignition })] })
    expect(firstBoot).toMatchObject({ files: ['/etc/motd', '/etc/hostname'], hostname: 'machine-1' })
  })

  test('the config of the arguments where both are given, and the name of the configdrive', async () => {
    await using lab = await createStagedLab()
    const other = { ignition: { version: '3.1.0' }, storage: { files: [{ path: '/etc/other' }] } }
    const { firstBoot } = await deployed(lab, { deploySteps: [installCoreos({ ignition: other })], configdrive })
    expect(firstBoot).toMatchObject({ ignitionVersion: '3.1.0', files: ['/etc/other', '/etc/hostname'], users: [] })
    expect(firstBoot.hostname).toBe('worker-0')
  })

  test('exactly the config that was given, when its name is to be left alone', async () => {
    await using lab = await createStagedLab()
    const { firstBoot } = await deployed(lab, { deploySteps: [installCoreos({ ignition, hostname: false })] })
    const digest = createHash('sha256').update(JSON.stringify(ignition)).digest('hex')
    expect(firstBoot).toMatchObject({ configDigest: digest, hostname: null })
  })

  test('no config but its name when nobody gives one', async () => {
    await using lab = await createStagedLab()
    const { firstBoot } = await deployed(lab, { deploySteps: [installCoreos()] })
    expect(firstBoot).toMatchObject({ files: ['/etc/hostname'], users: [], failure: null })
  })

  test('kernel arguments added and removed', async () => {
    await using lab = await createStagedLab()
    const before = await deployed(lab, { deploySteps: [installCoreos()] })
    const image = await bootArguments(before.node)
    const { node } = await deployed(lab, {
      deploySteps: [installCoreos({ append_karg: ['console=ttyS0', 'a,b=c'], delete_karg: [image.at(-1)!] })],
    })
    expect(await bootArguments(node)).toEqual([...image.slice(0, -1), 'console=ttyS0', 'a,b=c'])
  })

  test('kernel arguments from the metadata of the configdrive', async () => {
    await using lab = await createStagedLab()
    const meta_data = { ...configdrive.meta_data, coreos_append_karg: ['nosmt', 'x=1,y=2'] }
    const { node } = await deployed(lab, { deploySteps: [installCoreos()], configdrive: { ...configdrive, meta_data } })
    expect(await bootArguments(node)).toEqual(expect.arrayContaining(['nosmt', 'x=1,y=2']))
  })
})

describe('where it comes from and goes to', () => {
  test('an image by URL', async () => {
    await using server = await imageServer({ '/coreos.raw.xz': await readFile(IMAGE) })
    await using lab = await createStagedLab()
    const image_url = server.url('/coreos.raw.xz')
    const { firstBoot } = await deployed(lab, { deploySteps: [installCoreos({ ignition, image_url })] })
    expect(firstBoot).toMatchObject({ files: ['/etc/motd', '/etc/hostname'] })
    expect(server.requests).toContain('GET /coreos.raw.xz')
  })

  test('an image by URL in instance_info', async () => {
    await using server = await imageServer({ '/coreos.raw.xz': await readFile(IMAGE) })
    await using lab = await createStagedLab()
    const fields = { instance_info: { image_source: server.url('/coreos.raw.xz') } }
    await deployed(lab, { deploySteps: [installCoreos({ ignition })], fields })
    expect(server.requests).toContain('GET /coreos.raw.xz')
  })

  test.each([
    ['its serial', (disk: { serial: string }) => ({ serial: disk.serial })],
    ['being a spinning disk', () => ({ rotational: true })],
    ['its size', () => ({ size: '>= 200' })],
    ['its name', () => ({ name: '/dev/sdb' })],
  ])('the disk that a root device hint names by %s', async (_, hint) => {
    await using lab = await createStagedLab()
    const machine = lab.spec(1)
    const root_device = hint(machine.disks[1]!)
    const fields = { properties: { root_device, capabilities: 'boot_mode:uefi' } }
    const { firstBoot } = await deployed(lab, { deploySteps: [installCoreos({ ignition })], machine, fields })
    expect(firstBoot.disk).toBe('/dev/sdb')
  })

  test('the disk that instance_info names, before the one of the properties', async () => {
    await using lab = await createStagedLab()
    const fields = {
      properties: { root_device: { name: '/dev/sda' } },
      instance_info: { root_device: { name: 's== /dev/sdb' } },
    }
    const { firstBoot } = await deployed(lab, { deploySteps: [installCoreos({ ignition })], fields })
    expect(firstBoot.disk).toBe('/dev/sdb')
  })

  test('a machine with BIOS', async () => {
    await using lab = await createStagedLab()
    const machine = { ...lab.spec(1), firmware: 'bios' as const }
    const { firstBoot } = await deployed(lab, { deploySteps: [installCoreos({ ignition })], machine })
    expect(firstBoot).toMatchObject({ disk: '/dev/sda', failure: null })
  })

  test('a machine with NVMe disks of 4 KiB sectors is told apart from its image', async () => {
    await using lab = await createStagedLab()
    const spec = lab.spec(1)
    const disks = [{ ...spec.disks[0]!, name: 'nvme0n1', transport: 'nvme' as const, sectorSize: 4096 }]
    const node = await lab.enroll({ deploySteps: [installCoreos({ ignition })], machine: { ...spec, disks } })
    await node.deploy()
    const { provision_state, last_error } = await node.settled()
    expect(provision_state).toBe('deploy failed')
    expect(last_error).toMatch(/sector/)
  })
})

test('the bytes on the disk are the image and the arguments that were requested; what Ignition wrote is beside them', async () => {
  await using lab = await createStagedLab({ disks: 'file' })
  const { node, machine } = await deployed(lab, { deploySteps: [installCoreos({ ignition, append_karg: ['foo'] })] })
  const { boot, table, partitions } = await readDisk(lab, node)
  expect(table).toBe('gpt')
  expect(partitions.map(({ name }) => name)).toContain('boot')
  const digest = sha256Hex(Buffer.from(JSON.stringify(withHostname(ignition, 'machine-1', 'duplicate'))))
  expect(boot).toMatchObject({ firstBoot: false, ignition: null })
  expect(machine.firstBoot()).toMatchObject({ configDigest: digest, configMode: 0o600 })
  expect(boot!.entry!.kernelArguments).toContain('foo')
  expect(machine.rootFiles()!.read('/etc/motd')).toEqual(Buffer.from('hello'))

  const path = (await machine.diskFile('sda'))!
  await using disk = await openFileDisk({ path, name: 'sda', sectorSize: 512, clock: lab.clock, readOnly: true })
  expect(await compareWithImage(disk, IMAGE, lab.clock)).toMatchObject({ identical: true, differences: [] })
})

test('a machine is given back, cleaned, and deployed again with another config', async () => {
  await using lab = await createStagedLab({ disks: 'file' })
  const { node, machine } = await deployed(lab, { deploySteps: [installCoreos({ ignition })] })
  const first = machine.firstBoot()!.configDigest
  await node.provision('deleted')
  expect(await node.settled()).toMatchObject({ provision_state: 'available', power_state: 'power off' })
  expect(await readDisk(lab, node)).toMatchObject({ table: null, partitions: [] })
  await node.provision('active', { deploy_steps: [installCoreos({ ignition, append_karg: ['second'] })], configdrive })
  expect(await node.settled()).toMatchObject(ACTIVE)
  expect(machine.firstBoot()).toMatchObject({ hostname: 'worker-0' })
  expect(machine.firstBoot()!.configDigest).not.toBe(first)
})

test.each(['rebuild', 'active'] as const)('%s without deploy steps never installs', async (verb) => {
  await using lab = await createStagedLab()
  // A rebuild is refused where nothing says what to build (docs/fidelity/).
  const fields = { instance_info: { image_source: 'http://images.invalid/a.raw' } }
  const node = await lab.enroll({ fields })
  const ran: unknown[] = []
  lab.probe.attach((point, next) => {
    if (point.kind === 'command') ran.push((point['argv'] as string[])[0])
    return next()
  })
  await node.deploy()
  expect(await node.settled()).toMatchObject(ACTIVE)
  if (verb === 'rebuild') await node.provision('rebuild')
  expect(await node.settled()).toMatchObject(ACTIVE)
  expect(ran).not.toContain('coreos-installer')
})
