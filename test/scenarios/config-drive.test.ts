import { createHash } from 'node:crypto'
import { gzipSync } from 'node:zlib'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { writeIso } from '../../base/bytes/index.js'
import { createStagedLab, type StagedLab } from '../../lab/index.js'
import { metalImage, qcow2Image, type Machine } from '../../machine/index.js'
import { minutes, systemClock, temporaryFolder } from '../../base/runtime/index.js'
import { configdrive, imageServer, machineOf } from '../kit/deployed.js'
import { smallImage } from '../kit/images/rehearsal-image.js'

let server: Awaited<ReturnType<typeof imageServer>>
const files: Record<string, Buffer> = {}

/** QCOW2 images of two platforms: OpenStack's reads a config drive, that for metal does not. */
beforeAll(async () => {
  await using folder = await temporaryFolder()
  for (const platform of ['openstack', 'metal']) {
    const image = { title: 'Red Hat Enterprise Linux CoreOS 414.92.202310170514-0', architecture: 'x86_64', platform }
    const disk = await metalImage({ ...image, base: await smallImage(), folder: folder.path, clock: systemClock() })
    files[`/${platform}.qcow2`] = qcow2Image(disk)
  }
  server = await imageServer(files)
})
afterAll(() => server[Symbol.asyncDispose]())

/** Writes an image to a machine's disk, as a client of Ironic asks for it, and lets five minutes pass. */
async function installed(lab: StagedLab, path: string, drive?: unknown): Promise<Machine> {
  const image_os_hash_value = createHash('sha256').update(files[path]!).digest('hex')
  const instance_info = { image_source: server.url(path), image_os_hash_algo: 'sha256', image_os_hash_value }
  const node = await lab.enroll({ fields: { deploy_interface: 'direct', instance_info } })
  await node.makeAvailable()
  await node.provision('active', drive === undefined ? {} : { configdrive: drive as object })
  expect(await node.settled()).toMatchObject({ provision_state: 'active', last_error: null })
  await lab.wait(lab.clock.sleep(minutes(5)))
  return machineOf(node)
}

const drive = (label: string, userData?: string): string => {
  const data = { 'openstack/latest/meta_data.json': '{}' }
  const all = userData === undefined ? data : { ...data, 'openstack/latest/user_data': userData }
  const bytes = Object.fromEntries(Object.entries(all).map(([path, text]) => [path, Buffer.from(text)]))
  return gzipSync(writeIso(bytes, { label, at: 0 })).toString('base64')
}

test.each([
  ['that Ironic makes of an object', configdrive],
  ['that the client has made', drive('config-2', configdrive.user_data)],
  ['of the other name', drive('CONFIG-2', configdrive.user_data)],
])('an image for OpenStack is configured by the config drive %s', async (_, made) => {
  await using lab = await createStagedLab({ seed: 9, clock: 'auto' })
  const machine = await installed(lab, '/openstack.qcow2', made)
  expect(machine.boot()).toMatchObject({ outcome: 'disk' })
  expect(machine.firstBoot()).toMatchObject({ failure: null, ignitionVersion: '3.4.0', users: [{ name: 'core' }] })
  expect(machine.rootFiles()!.text('/etc/motd')).toBe('hello')
})

test('a config drive without user data is an empty config', async () => {
  await using lab = await createStagedLab({ seed: 9, clock: 'auto' })
  const machine = await installed(lab, '/openstack.qcow2', drive('config-2'))
  expect(machine.firstBoot()).toMatchObject({ failure: null, ignitionVersion: null, users: [] })
})

test('without a config drive the boot waits for one, as a real machine does', async () => {
  await using lab = await createStagedLab({ seed: 9, clock: 'auto' })
  const machine = await installed(lab, '/openstack.qcow2')
  expect(machine.boot()).toBeUndefined()
  expect(machine.journal().map(({ message }) => message)).toContain(
    'config drive ("/dev/disk/by-label/config-2") not found. Waiting...',
  )
  await lab.wait(machine.setPower('off'))
  expect(machine.power()).toBe('off')
})

test('an image for metal reads no config drive', async () => {
  await using lab = await createStagedLab({ seed: 9, clock: 'auto' })
  const machine = await installed(lab, '/metal.qcow2', configdrive)
  expect(machine.firstBoot()).toMatchObject({ failure: null, ignitionVersion: null, users: [] })
})
