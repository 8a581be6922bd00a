import { createHash } from 'node:crypto'
import { mkdtemp, open, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { gunzipSync, gzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createStagedLab, type StagedLab, type StagedNode } from '../../lab/index.js'
import { readPartitions } from '../../steps/index.js'
import { isExchange, type JsonObject } from '../../base/wire/index.js'
import { imageServer, machineOf, readDisk } from '../kit/deployed.js'
import { qcow2Image } from '../../machine/making/qcow2-image.js'
import { readIso } from '../kit/images/read-iso.js'
import { smallImage } from '../kit/images/rehearsal-image.js'

const sha256 = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest('hex')

let server: Awaited<ReturnType<typeof imageServer>>
const files: Record<string, Buffer> = {}

beforeAll(async () => {
  const raw = await smallImage()
  files['/disk.raw'] = raw
  files['/disk.qcow2'] = qcow2Image(raw, { compressed: true })
  files['/SHA256SUMS'] = Buffer.from(`${sha256(raw)}  disk.raw\n${sha256(files['/disk.qcow2'])} *disk.qcow2\n`)
  server = await imageServer(files)
})
afterAll(() => server[Symbol.asyncDispose]())

/** An instance of one of the images, with its checksum. */
const image = (path: string, more: JsonObject = {}): JsonObject => ({
  image_source: server.url(path),
  image_os_hash_algo: 'sha256',
  image_os_hash_value: sha256(files[path]!),
  ...more,
})

async function available(lab: StagedLab, fields: JsonObject): Promise<StagedNode> {
  const node = await lab.enroll({ fields: { automated_clean: false, ...fields } })
  await node.makeAvailable()
  return node
}

/** Asks for a deployment and gives the node as it came to rest. */
async function deployed(node: StagedNode, more: Parameters<StagedNode['provision']>[1] = {}) {
  await node.provision('active', more)
  return node.settled()
}

const ACTIVE = { provision_state: 'active', power_state: 'power on', last_error: null, maintenance: false }

describe('direct', () => {
  test.each([
    ['raw', '/disk.raw'],
    ['qcow2', '/disk.qcow2'],
  ])('writes an image that is %s to the disk, which then boots', async (_, path) => {
    await using lab = await createStagedLab({ disks: 'file' })
    const node = await available(lab, { deploy_interface: 'direct', instance_info: image(path) })
    const active = await deployed(node)
    expect(active).toMatchObject({ ...ACTIVE, deploy_interface: 'direct', deploy_step: {} })
    expect(active.instance_info).toEqual({ ...image(path), image_type: 'whole-disk', image_url: '******' })
    expect(active.driver_internal_info).toMatchObject({ is_whole_disk_image: true, deploy_steps: null })
    expect((await readDisk(lab, node)).partitions.map(({ name }) => name)).toContain('boot')
    expect((await machineOf(node)).boot()).toMatchObject({ outcome: 'disk' })
  })

  test.each<[string, string, () => JsonObject]>([
    ['in image_checksum', '/disk.raw', () => ({ image_checksum: sha256(files['/disk.raw']!) })],
    ['in a list behind a URL', '/disk.qcow2', () => ({ image_checksum: server.url('/SHA256SUMS') })],
    [
      'by another algorithm',
      '/disk.raw',
      () => ({
        image_os_hash_algo: 'sha512',
        image_os_hash_value: createHash('sha512').update(files['/disk.raw']!).digest('hex'),
      }),
    ],
  ])('takes the checksum %s', async (_, path, checksum) => {
    await using lab = await createStagedLab({ disks: 'file' })
    const instance_info = { image_source: server.url(path), ...checksum() }
    const node = await available(lab, { deploy_interface: 'direct', instance_info })
    expect(await deployed(node)).toMatchObject(ACTIVE)
  })

  test('takes a file of this host, and makes the checksum itself', async () => {
    await using folder = await temporaryFolder()
    const path = join(folder.path, 'disk.qcow2')
    await writeFile(path, files['/disk.qcow2']!)
    const conf = { fileUrlAllowedPaths: [folder.path] }
    await using lab = await createStagedLab({ disks: 'file', conf })
    const instance_info = { image_source: pathToFileURL(path).href }
    const node = await available(lab, { deploy_interface: 'direct', instance_info })
    expect(await deployed(node)).toMatchObject({
      ...ACTIVE,
      instance_info: {
        image_disk_format: 'qcow2',
        image_os_hash_algo: 'sha256',
        image_os_hash_value: sha256(files['/disk.qcow2']!),
      },
    })
    expect((await readDisk(lab, node)).table).toBe('gpt')
  })

  test('the conductor compares the checksum of an image that it downloads itself, before anything is booted', async () => {
    await using lab = await createStagedLab()
    const wrong = {
      image_download_source: 'local',
      image_checksum: server.url('/SHA256SUMS'),
      image_source: server.url('/disk.raw'),
    }
    const { image_os_hash_algo, image_os_hash_value } = image('/disk.raw')
    const node = await available(lab, {
      deploy_interface: 'direct',
      instance_info: { ...wrong, image_os_hash_algo, image_os_hash_value: '0'.repeat(64) },
    })
    const failed = await deployed(node)
    expect(failed).toMatchObject({
      provision_state: 'deploy failed',
      last_error: 'Failed to prepare to deploy: The supplied image checksum is invalid or does not match.',
    })
    const right = { ...wrong, image_os_hash_algo, image_os_hash_value }
    await lab.client.patchNode(node.uuid, [{ op: 'add', path: '/instance_info', value: right }])
    expect(await deployed(node)).toMatchObject(ACTIVE)
  })

  test.each<[string, JsonObject, RegExp]>([
    [
      'another checksum',
      { image_os_hash_value: '0'.repeat(64) },
      /^Deploy step deploy.write_image failed on node .* location: \/tmp\/disk.qcow2; image ID: disk.qcow2; image checksum: 0000/,
    ],
    ['a qcow2 that is declared as raw', { image_disk_format: 'raw' }, /declared as raw, but is qcow2/],
  ])('fails in the agent, with the disk untouched: %s', async (_, more, error) => {
    await using lab = await createStagedLab({ disks: 'file' })
    const instance_info = image('/disk.qcow2', more)
    const node = await available(lab, { deploy_interface: 'direct', instance_info })
    const failed = await deployed(node)
    expect(failed).toMatchObject({ provision_state: 'deploy failed', maintenance: false, power_state: 'power on' })
    expect(failed.last_error).toMatch(error)
    expect((await readPartitions((await machineOf(node)).target, '/dev/sda')).type).toBeNull()

    // Correct the setting and deploy again.
    await lab.client.patchNode(node.uuid, [{ op: 'add', path: '/instance_info', value: image('/disk.qcow2') }])
    expect(await deployed(node)).toMatchObject(ACTIVE)
  })

  test('an image that is missing is found before anything is booted', async () => {
    await using lab = await createStagedLab()
    const instance_info = image('/disk.raw', { image_source: server.url('/missing') })
    const node = await available(lab, { deploy_interface: 'direct', instance_info })
    const failed = await deployed(node)
    expect(failed).toMatchObject({
      provision_state: 'deploy failed',
      power_state: 'power off',
      last_error: `Failed to prepare to deploy: Validation of image href ${server.url('/missing')} failed, reason: Got HTTP code 404 instead of 200 in response to HEAD request.`,
    })
    expect(failed.instance_info).not.toHaveProperty('image_url')
  })

  test('rebuild writes the image again, undeploying forgets it', async () => {
    await using lab = await createStagedLab({ disks: 'file' })
    const node = await available(lab, { deploy_interface: 'direct', instance_info: image('/disk.raw') })
    await deployed(node, { configdrive: { meta_data: { name: 'one' } } })
    const first = await readDisk(lab, node)
    await node.provision('rebuild')
    const rebuilt = await node.settled()
    expect(rebuilt).toMatchObject({ ...ACTIVE, instance_info: { configdrive: '******', image_url: '******' } })
    expect((await readDisk(lab, node)).diskGuid).not.toBe(first.diskGuid)
    await node.provision('deleted')
    const gone = await node.settled()
    expect(gone).toMatchObject({ provision_state: 'available', instance_info: {}, power_state: 'power off' })
    expect(gone.driver_internal_info).not.toHaveProperty('is_whole_disk_image')
  })
})

describe('a configdrive becomes a partition config-2', () => {
  const parts = {
    meta_data: { name: 'worker-0' },
    network_data: { links: [] },
    user_data: { ignition: { version: '3.4.0' } },
  }
  const packed = (label: string) => gzipSync(Buffer.alloc(4096, label)).toString('base64')

  /** The bytes of the partition. */
  async function written(lab: StagedLab, node: StagedNode, length: number): Promise<Buffer> {
    const found = (await readDisk(lab, node)).partitions.find(({ name }) => name === 'config-2')
    if (!found) throw new Error('there is no partition config-2')
    const path = await (await machineOf(node)).diskFile('sda')
    await using file = await open(path!)
    return (await file.read(Buffer.alloc(length), 0, length, found.offset)).buffer
  }

  test('given in its parts: a filesystem with who the node is', async () => {
    await using lab = await createStagedLab({ disks: 'file' })
    const node = await available(lab, { deploy_interface: 'direct', instance_info: image('/disk.raw') })
    let sent: string | undefined
    lab.probe.attach((point, next) => {
      const text = isExchange(point) && point.to === 'agent' ? point.request.body : undefined
      if (text?.includes('write_image')) sent = text
      return next()
    })
    expect(await deployed(node, { configdrive: parts })).toMatchObject(ACTIVE)
    const { args } = (
      JSON.parse(sent!) as { params: { step: { args: { configdrive: string; image_info: JsonObject } } } }
    ).params.step
    expect(args.image_info).toEqual({
      id: 'disk.raw',
      urls: [server.url('/disk.raw')],
      disk_format: null,
      container_format: null,
      stream_raw_images: true,
      os_hash_algo: 'sha256',
      os_hash_value: sha256(files['/disk.raw']!),
      node_uuid: node.uuid,
      configdrive: args.configdrive,
    })
    const iso = gunzipSync(Buffer.from(args.configdrive, 'base64'))
    expect((await written(lab, node, iso.length)).equals(iso)).toBe(true)
    const { label, files: found } = readIso(iso)
    expect(label).toBe('config-2')
    expect(JSON.parse(found.get('openstack/latest/meta_data.json')!.toString())).toEqual({
      name: 'worker-0',
      uuid: node.uuid,
    })
    expect(JSON.parse(found.get('openstack/latest/user_data')!.toString())).toEqual(parts.user_data)
    const { node: stored } = (await lab.store.node(node.uuid))!
    expect(stored.instance_info.configdrive).toEqual({ ...parts, meta_data: { name: 'worker-0', uuid: node.uuid } })
  })

  test('given as base64 of a gzipped filesystem, or as the URL of that', async () => {
    files['/drive'] = Buffer.from(packed('by URL '))
    for (const [configdrive, label] of [
      [packed('as text '), 'as text '],
      [server.url('/drive'), 'by URL '],
    ] as const) {
      await using lab = await createStagedLab({ disks: 'file' })
      const node = await available(lab, { deploy_interface: 'direct', instance_info: image('/disk.raw') })
      expect(await deployed(node, { configdrive })).toMatchObject(ACTIVE)
      expect((await written(lab, node, 4096)).equals(Buffer.alloc(4096, label))).toBe(true)
    }
  })
})

describe('ramdisk', () => {
  const live = { driver: 'redfish', deploy_interface: 'ramdisk', boot_interface: 'redfish-virtual-media' }

  test('boots an ISO from memory, the disk is left alone, and undeploying ends it', async () => {
    await using lab = await createStagedLab()
    const boot_iso = 'http://images.invalid/live.iso'
    const node = await available(lab, { ...live, instance_info: { boot_iso } })
    const active = await deployed(node)
    expect(active).toMatchObject({ ...ACTIVE, instance_info: { boot_iso } })
    const machine = await machineOf(node)
    expect(machine.boot()).toMatchObject({ outcome: 'live', source: { kind: 'live', image: { iso: boot_iso } } })
    await node.provision('deleted')
    expect(await node.settled()).toMatchObject({ provision_state: 'available', instance_info: {} })
    expect(machine.power()).toBe('off')
  })

  test.each<[string, JsonObject, string]>([
    ['nothing to boot', {}, 'Image None is missing the following properties: kernel, ramdisk'],
    [
      'an image as well',
      { boot_iso: 'http://x/i', image_source: 'http://x/j' },
      "An 'image_source' and 'boot_iso' parameter may not be specified at the same time.",
    ],
  ])('is refused with %s', async (_, instance_info, problem) => {
    await using lab = await createStagedLab()
    const node = await available(lab, { ...live, instance_info })
    await expect(deployed(node)).rejects.toMatchObject({
      status: 400,
      message: `Failed to validate deploy or power info for node ${node.uuid}: ${problem}`,
    })
  })
})

describe('autodetect', () => {
  test('an image is written by direct; cleaning brings autodetect back', async () => {
    await using lab = await createStagedLab({ disks: 'file' })
    const node = await available(lab, { deploy_interface: 'autodetect', instance_info: image('/disk.raw') })
    expect(await deployed(node)).toMatchObject({
      ...ACTIVE,
      deploy_interface: 'direct',
      driver_internal_info: { original_deploy_interface: 'autodetect' },
    })
    await node.provision('deleted')
    const gone = await node.settled()
    expect(gone).toMatchObject({ provision_state: 'available', deploy_interface: 'autodetect' })
    expect(gone.driver_internal_info).not.toHaveProperty('original_deploy_interface')
  })

  test('an instance that wants nothing on the disk runs from memory', async () => {
    await using lab = await createStagedLab()
    const instance_info = { boot_iso: 'http://images.invalid/live.iso', ironic_ramdisk_deploy: true }
    const fields = { driver: 'redfish', boot_interface: 'redfish-virtual-media', deploy_interface: 'autodetect' }
    const node = await available(lab, { ...fields, instance_info })
    expect(await deployed(node)).toMatchObject({ ...ACTIVE, deploy_interface: 'ramdisk' })
    expect((await machineOf(node)).boot()).toMatchObject({ outcome: 'live' })
  })

  test('without an image it is direct that misses one', async () => {
    await using lab = await createStagedLab()
    const node = await available(lab, { deploy_interface: 'autodetect' })
    await expect(deployed(node)).rejects.toMatchObject({
      status: 400,
      message: `Failed to validate deploy or power info for node ${node.uuid}: Node ${node.uuid} failed to validate deploy image info. Some parameters were missing. Missing are: ['instance_info.image_source']`,
    })
    expect(await node.get()).toMatchObject({ deploy_interface: 'autodetect', provision_state: 'available' })
  })
})

/** A folder that goes when the test ends. */
async function temporaryFolder() {
  const path = await mkdtemp(join(tmpdir(), 'ironstage-test-'))
  return { path, [Symbol.asyncDispose]: () => rm(path, { recursive: true, force: true }) }
}
