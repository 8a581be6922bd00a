import { createHash } from 'node:crypto'
import { mkdir, mkdtemp, rm, writeFile, symlink } from 'node:fs/promises'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { gzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { genericHardwareManager, readPartitions, type ImageRules, type Step } from '../../steps/index.js'
import { qcow2Image } from '../../machine/making/qcow2-image.js'
import { GIB, stepMachine, testDisk } from '../kit/step-machine.js'
import { smallImage } from '../kit/images/rehearsal-image.js'

const step = (name: string): Step => genericHardwareManager.steps.find((candidate) => candidate.name === name)!
/** Taken once of each buffer: nothing changes them. */
const digests = new WeakMap<Buffer, string>()
const sha256 = (bytes: Buffer): string => {
  const digest = digests.get(bytes) ?? createHash('sha256').update(bytes).digest('hex')
  digests.set(bytes, digest)
  return digest
}

/** An image with an MBR of one Linux partition, from the second MiB on. */
function imageWithMbr(): Buffer {
  const image = Buffer.alloc(4 * 2 ** 20)
  const entry = image.subarray(446, 462)
  entry.writeUInt8(0x83, 4)
  entry.writeUInt32LE(2048, 8)
  entry.writeUInt32LE(2048, 12)
  image.writeUInt16LE(0xaa55, 510)
  return image
}

let folder: string
let server: Server
let base: string
let raw: Buffer
const served = new Map<string, Buffer>()

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'ironstage-test-'))
  raw = await smallImage()
  served.set('/disk.raw', raw)
  served.set('/disk.qcow2', qcow2Image(raw, { compressed: true }))
  served.set('/mbr.raw', imageWithMbr())
  served.set('/SUMS', Buffer.from(`${sha256(Buffer.from('x'))}  other\n${sha256(raw)} *disk.raw\n`))
  served.set('/disk.raw.sha256', Buffer.from(`${sha256(raw)}\n`))
  served.set('/SUMS512', Buffer.from(`${createHash('sha512').update(raw).digest('hex')}  disk.raw\n`))
  served.set('/BSD', Buffer.from(`SHA256 (disk.raw) = ${sha256(raw)}\n`))
  server = createServer((request, response) => {
    const bytes = served.get(request.url ?? '')
    response.writeHead(bytes ? 200 : 404).end(bytes)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
})
afterAll(async () => {
  server.close()
  await rm(folder, { recursive: true, force: true })
})

const info = (path: string, more: object = {}) => ({
  id: 'image-1',
  urls: [`${base}${path}`],
  os_hash_algo: 'sha256',
  os_hash_value: sha256(served.get(path)!),
  ...more,
})

type Lab = Awaited<ReturnType<typeof stepMachine>>

/** True if a disk holds the image: the same bytes except the backup table, which moves to the end of the disk. */
async function holdsImage({ machine }: Lab, disk: string): Promise<boolean> {
  const run = await machine.executor.start({
    argv: ['dd', `if=/dev/${disk}`, 'bs=1M', `count=${Math.ceil(raw.length / 2 ** 20)}`, 'status=none'],
    effect: 'reads',
  })
  const parts: Uint8Array[] = []
  for await (const { bytes } of run.output) parts.push(bytes)
  const bytes = Buffer.concat(parts).subarray(0, raw.length)
  // From the end of the table to the copy that the image itself carries.
  return bytes.subarray(34 * 512, -33 * 512).equals(raw.subarray(34 * 512, -33 * 512))
}

describe('write_image', () => {
  test.each([
    ['raw', '/disk.raw', {}],
    ['raw, said to be so', '/disk.raw', { disk_format: 'raw' }],
    ['qcow2', '/disk.qcow2', {}],
    ['qcow2, said to be so', '/disk.qcow2', { disk_format: 'qcow2' }],
  ])('writes an image that is %s', async (_, path, more) => {
    await using lab = await stepMachine([testDisk('sda', 5), testDisk('sdb', 6)])
    await lab.say('dd of=/dev/sda bs=1M seek=30 status=none', Buffer.alloc(20 * 2 ** 20, 'what was there before'))
    const result = await lab.run(step('write_image'), { image_info: info(path, more) })
    expect(result).toBe('image (image-1) written to device /dev/sda root_uuid=0x00000000')
    expect(await holdsImage(lab, 'sda')).toBe(true)
    expect(await lab.say('sgdisk --verify /dev/sda')).toMatch(/No problems found/)
    expect((await readPartitions(lab.machine.target, '/dev/sdb')).type).toBeNull()
  })

  test('takes the disk that the hints name, the first URL that works, and a file of its own host', async () => {
    await using lab = await stepMachine([testDisk('sda', 5), testDisk('sdb', 6)])
    const path = join(folder, 'disk.qcow2')
    await writeFile(path, served.get('/disk.qcow2')!)
    const image_info = info('/disk.qcow2', { urls: [`${base}/missing`, pathToFileURL(path).href] })
    await lab.run(step('write_image'), { image_info }, { instance_info: { root_device: { name: '/dev/sdb' } } })
    expect(await holdsImage(lab, 'sdb')).toBe(true)
  })

  test('reads a file of the host of the agent only where Ironic allows it', async () => {
    const allowed = join(folder, 'allowed')
    await mkdir(allowed, { recursive: true })
    await writeFile(join(folder, 'secret.raw'), raw)
    await writeFile(join(allowed, 'disk.raw'), raw)
    await symlink(join(folder, 'secret.raw'), join(allowed, 'link.raw'))
    const images = { md5: false, formats: null, fileFolders: [allowed] }
    const writing = async (path: string) => {
      await using lab = await stepMachine([testDisk('sda', 5)])
      const image_info = info('/disk.raw', { urls: [pathToFileURL(path).href] })
      await lab.run(step('write_image'), { image_info }, {}, { images })
      expect(await holdsImage(lab, 'sda')).toBe(true)
    }
    await writing(join(allowed, 'disk.raw'))
    for (const path of [join(folder, 'secret.raw'), join(allowed, 'link.raw'), join(allowed, '../secret.raw')])
      await expect(writing(path)).rejects.toThrow(/is not allowed for image source file URLs/)
    await expect(writing('/etc/hostname')).rejects.toThrow(/The path \/etc is not permitted in file URLs/)
  })

  test.each([
    ['sha512', () => ({ os_hash_algo: 'sha512', os_hash_value: createHash('sha512').update(raw).digest('hex') })],
    ['in the field checksum', () => ({ os_hash_value: null, checksum: sha256(raw).toUpperCase() })],
    ['at the URL of os_hash_value', () => ({ os_hash_value: `${base}/disk.raw.sha256` })],
    [
      'of another algorithm at the URL of os_hash_value',
      () => ({ os_hash_algo: 'sha512', os_hash_value: `${base}/SUMS512` }),
    ],
    ['in a list', () => ({ os_hash_value: null, checksum: `${base}/SUMS` })],
    ['in a list in BSD form', () => ({ os_hash_value: null, checksum: `${base}/BSD` })],
  ])('verifies a checksum %s', async (_, checksum) => {
    await using lab = await stepMachine([testDisk('sda', 5)])
    await lab.run(step('write_image'), { image_info: info('/disk.raw', checksum()) })
    expect(await holdsImage(lab, 'sda')).toBe(true)
  })

  test.each<[string, () => object, ImageRules | null]>([
    [
      'an MD5 checksum where Ironic allows it',
      () => ({ os_hash_value: null, checksum: createHash('md5').update(raw).digest('hex') }),
      { md5: true, formats: null },
    ],
    ['the format gpt, as a conductor calls it that looked into it', () => ({ disk_format: 'gpt' }), null],
    ['a raw image where Ironic permits gpt', () => ({}), { md5: false, formats: ['gpt'] }],
  ])('writes an image with %s', async (_, more, images) => {
    await using lab = await stepMachine([testDisk('sda', 5)])
    await lab.run(step('write_image'), { image_info: info('/disk.raw', more()) }, {}, images ? { images } : {})
    expect(await holdsImage(lab, 'sda')).toBe(true)
  })

  test('refuses a format that Ironic does not permit before the disk is touched', async () => {
    await using lab = await stepMachine([testDisk('sda', 5)])
    const images = { md5: false, formats: ['raw', 'gpt'] }
    const writing = lab.run(step('write_image'), { image_info: info('/disk.qcow2') }, {}, { images })
    await expect(writing).rejects.toThrow('the image image-1 is qcow2, and Ironic permits only raw, gpt')
    expect((await readPartitions(lab.machine.target, '/dev/sda')).type).toBeNull()
  })

  test.each<[string, string, () => object, string, RegExp]>([
    [
      'another checksum',
      '/disk.raw',
      () => ({ os_hash_value: '0'.repeat(64) }),
      'ImageChecksumError',
      /location: \S+; image ID: .*; image checksum: 0000.*; verification checksum: /,
    ],
    ['no checksum', '/disk.raw', () => ({ os_hash_value: null }), 'DeploymentError', /no checksum/],
    [
      'an MD5 checksum',
      '/disk.raw',
      () => ({ os_hash_value: null, checksum: '0'.repeat(32) }),
      'DeploymentError',
      /MD5/,
    ],
    [
      'a list without it',
      '/disk.qcow2',
      () => ({ os_hash_value: null, checksum: `${base}/SUMS` }),
      'ImageDownloadError',
      /^Download of image \S+SUMS failed: Checksum file does not contain name disk.qcow2$/,
    ],
    ['no image', '/disk.raw', () => ({ urls: [`${base}/missing`] }), 'ImageDownloadError', /HTTP status 404/],
    ['a disguise', '/disk.qcow2', () => ({ disk_format: 'raw' }), 'ImageWriteError', /declared as raw, but is qcow2/],
    ['a partition', '/disk.raw', () => ({ image_type: 'partition' }), 'DeploymentError', /whole disks/],
    ['another format', '/disk.raw', () => ({ disk_format: 'vmdk' }), 'DeploymentError', /vmdk/],
    ['an odd URL', '/disk.raw', () => ({ urls: ['ftp://x/y'] }), 'DeploymentError', /image_info cannot be used/],
  ])('refuses %s before the disk is touched', async (_, path, more, type, sentence) => {
    await using lab = await stepMachine([testDisk('sda', 5)])
    await lab.say('sgdisk --new=1:2048:+1M /dev/sda')
    const failure: unknown = await lab
      .run(step('write_image'), { image_info: info(path, more()) })
      .catch((error: unknown) => error)
    expect(failure).toMatchObject({ details: expect.stringMatching(sentence) })
    expect((failure as { type?: string }).type ?? 'DeploymentError').toBe(type)
    expect((await readPartitions(lab.machine.target, '/dev/sda')).partitions).toHaveLength(1)
  })

  test('puts a config drive into a partition of its own', async () => {
    await using lab = await stepMachine([testDisk('sda', 5)])
    const drive = Buffer.alloc(400_000, 'config drive')
    const configdrive = gzipSync(drive).toString('base64')
    await lab.run(step('write_image'), { image_info: info('/disk.raw'), configdrive })
    const { partitions } = await readPartitions(lab.machine.target, '/dev/sda')
    expect(partitions.at(-1)).toMatchObject({ name: '/dev/sda5', partitionLabel: 'config-2' })
    expect((await lab.say('dd if=/dev/sda5 bs=400000 count=1 status=none')).startsWith('config driveconfig')).toBe(true)
    expect(Number(await lab.say('lsblk -bno SIZE /dev/sda5'))).toBeGreaterThanOrEqual(64 * 2 ** 20)
    expect(await holdsImage(lab, 'sda')).toBe(true)
  })

  test('puts a config drive into no MBR', async () => {
    await using lab = await stepMachine([testDisk('sda', 5)])
    const configdrive = gzipSync(Buffer.alloc(400_000, 'config drive')).toString('base64')
    const writing = lab.run(step('write_image'), { image_info: info('/mbr.raw'), configdrive })
    await expect(writing).rejects.toThrow('/dev/sda has an MBR: a config drive is only added to a GPT')
    expect(await readPartitions(lab.machine.target, '/dev/sda')).toMatchObject({ type: 'dos', partitions: [{}] })
  })

  test.each([
    [{ meta_data: {} }, /Ironic must make a filesystem of it/],
    ['AAAA', /configdrive cannot be read/],
  ])('refuses the config drive %j', async (configdrive, sentence) => {
    await using lab = await stepMachine([testDisk('sda', 5)])
    const args = { image_info: info('/disk.raw'), configdrive }
    await expect(lab.run(step('write_image'), args)).rejects.toThrow(sentence)
  })

  test('writes to a software RAID volume that is the root', async () => {
    await using lab = await stepMachine([testDisk('sda', 20), testDisk('sdb', 20)])
    const root = { raid_level: '1', size_gb: 10, controller: 'software', volume_name: 'root', is_root_volume: true }
    const node = { target_raid_config: { logical_disks: [root] } }
    await lab.run(step('create_configuration'), {}, node)
    await lab.run(step('write_image'), { image_info: info('/disk.raw') }, node)
    expect(await holdsImage(lab, 'md0')).toBe(true)
    await lab.reboot()
    const { partitions } = await readPartitions(lab.machine.target, '/dev/md127')
    expect(partitions.map(({ name, label }) => [name, label])).toContainEqual(['/dev/md127p3', 'boot'])
  })

  test('does not fit a disk that is too small', async () => {
    await using lab = await stepMachine([testDisk('sda', 1, { size: 2 ** 20 })])
    const hinted = { properties: { root_device: { name: '/dev/sda' } } }
    await expect(lab.run(step('write_image'), { image_info: info('/disk.raw') }, hinted)).rejects.toMatchObject({
      type: 'ImageDownloadError',
      details: expect.stringMatching(
        /Unable to write image to device \/dev\/sda.* No space left on device: the image needs/,
      ),
    })
  })

  test('leaves no file behind', async () => {
    await using lab = await stepMachine([testDisk('sda', 1, { size: 8 * GIB })])
    const bad = info('/disk.qcow2', { os_hash_value: '0'.repeat(64) })
    await expect(lab.run(step('write_image'), { image_info: bad })).rejects.toThrow()
    await lab.run(step('write_image'), { image_info: info('/disk.qcow2') })
    expect(await lab.machine.executor.files.list('/tmp')).toEqual([])
  })
})

describe('inject_files', () => {
  const base64 = (text: string) => Buffer.from(text).toString('base64')
  async function imaged() {
    const lab = await stepMachine([testDisk('sda', 5)])
    await lab.run(step('write_image'), { image_info: info('/disk.raw') })
    const look = async (line: string) => {
      await lab.say('mkdir -p /mnt/look')
      await lab.say('mount -o ro /dev/sda3 /mnt/look')
      const output = await lab.say(line)
      await lab.say('umount /mnt/look')
      return output
    }
    return { ...lab, look }
  }

  test('writes files with their modes into the partition that they name', async () => {
    await using lab = await imaged()
    const node = { properties: { inject_files: [{ path: '/one', partition: 3, content: base64('from the node') }] } }
    const files = [
      { path: '/etc/deep/two', partition: 'boot', content: base64('two'), mode: 0o600, dirmode: '0750' },
      { path: 'three', partition: '/dev/sda3' },
    ]
    expect(await lab.run(step('inject_files'), { files }, node)).toBeNull()
    expect(await lab.look('cat /mnt/look/one')).toBe('from the node')
    expect(await lab.look('cat /mnt/look/etc/deep/two')).toBe('two')
    expect(await lab.look('stat -c %a /mnt/look/etc/deep/two')).toBe('600\n')
    expect(await lab.look('stat -c %a /mnt/look/etc/deep')).toBe('750\n')
    expect(await lab.look('stat -c %a /mnt/look/three')).toBe('644\n')
    expect(await lab.say('mount')).toBe('')
  })

  test('finds the partition by the folder at the beginning of the path, and deletes', async () => {
    await using lab = await imaged()
    await lab.run(step('inject_files'), { files: [{ path: '/loader/added', content: base64('x') }] })
    expect(await lab.look('ls /mnt/look/loader')).toContain('added')
    await lab.run(step('inject_files'), { files: [{ path: '/loader/added', deleted: true }] })
    expect(await lab.look('ls /mnt/look/loader')).not.toContain('added')
  })

  describe('refuses, and the disk stays unchanged:', () => {
    let lab: Awaited<ReturnType<typeof imaged>>
    beforeAll(async () => void (lab = await imaged()))
    afterAll(() => lab[Symbol.asyncDispose]())

    test.each<[object, RegExp]>([
      [{ path: '/x', partition: 9 }, /no partition 9/],
      [{ path: '/x', partition: '/dev/sdb1' }, /no partition \/dev\/sdb1/],
      [{ path: '/nowhere/x' }, /no partition of \/dev\/sda has a folder nowhere/],
      [{ path: '/a/../../x', partition: 3 }, /points outside its partition/],
      [{ path: '/x', partition: 3, mode: 'rwx' }, /cannot be used: \/0\/mode/],
      [{ content: 'x' }, /must have required property 'path'/],
      [{ path: '/x', partition: 1 }, /injecting \/x into \/dev\/sda1/],
    ])('when the file to inject is %j', async (file, sentence) => {
      await expect(lab.run(step('inject_files'), { files: [file] })).rejects.toThrow(sentence)
    })
  })

  test('without files does nothing', async () => {
    await using lab = await stepMachine([testDisk('sda', 5)])
    expect(await lab.run(step('inject_files'))).toBeNull()
  })
})
