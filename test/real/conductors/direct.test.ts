import { createHash } from 'node:crypto'
import { mkdtemp, open, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { inspectDisk } from '../../../machine/index.js'
import { systemClock } from '../../../base/runtime/index.js'
import { configdrive } from '../../kit/deployed.js'
import { qcow2Image } from '../../../machine/making/qcow2-image.js'
import { ARTIFACT_CALLS, expectedMembers, artifactMembers, callsOf } from '../../kit/registry/artifact-deployment.js'
import { putDiskImage } from '../../kit/registry/disk-artifacts.js'
import { registryServer } from '../../kit/registry/registry-server.js'
import { folderServer } from '../folder-server.js'
import { realIronic, type RealIronic } from '../ironic.js'
import { debianProgram, tool } from '../peers.js'
import { availableNode, type RealNode } from '../real-node.js'
import { rehearsalImage } from '../../kit/images/rehearsal-image.js'
import { REAL_PEER_TIMEOUT } from '../limits.js'

/** Milliseconds with a cold cache, minutes of which are the installation of peers. */
const INSTALLATION = 900_000

/** Fake management knows no boot device but the network; Ironic leaves the choice to the firmware on Lenovo's by UEFI. */
const DIRECT = { deploy_interface: 'direct', properties: { vendor: 'Lenovo' } }

const images: Record<string, Buffer> = {}
const hash = (algorithm: string, path: string) => createHash(algorithm).update(images[path]!).digest('hex')
let ironic: RealIronic
let server: Awaited<ReturnType<typeof folderServer>>
let published: Awaited<ReturnType<typeof folderServer>>
let folder: string
/** A config drive from another tool. */
let drive: Buffer

beforeAll(async () => {
  const raw = await rehearsalImage()
  Object.assign(images, { '/disk.raw': raw, '/disk.qcow2': qcow2Image(raw, { compressed: true }) })
  images['/SHA256SUMS'] = Buffer.from(`${'0'.repeat(64)}  other.raw\n${hash('sha256', '/disk.raw')}  disk.raw\n`)
  folder = await mkdtemp(join(tmpdir(), 'ironstage-direct-'))
  // With which Ironic makes a filesystem of a configdrive that is JSON.
  await debianProgram('xorrisofs', 'xorriso')
  drive = await isoOf({ 'openstack/latest/meta_data.json': '{"uuid": "made elsewhere"}' })
  images['/drive.b64'] = Buffer.from(gzipSync(drive).toString('base64'))
  server = await folderServer()
  for (const [path, bytes] of Object.entries(images)) await writeFile(join(server.folder, path), bytes)
  published = await folderServer()
  ironic = await realIronic({
    deploy: { http_root: published.folder, http_url: published.url },
    oci: { permit_fallback_to_http_transport: 'True' },
  })
}, INSTALLATION)
afterAll(async () => {
  await ironic?.[Symbol.asyncDispose]()
  await published?.[Symbol.asyncDispose]()
  await server?.[Symbol.asyncDispose]()
  await rm(folder, { recursive: true, force: true })
})

async function isoOf(files: Record<string, string>): Promise<Buffer> {
  const names = Object.keys(files)
  const argv = ['-quiet', '-J', '-r', '-V', 'config-2', '-graft-points', '-o', join(folder, 'drive.iso')]
  for (const name of names) {
    await writeFile(join(folder, String(names.indexOf(name))), files[name]!)
    argv.push(`${name}=${join(folder, String(names.indexOf(name)))}`)
  }
  expect(await tool('xorrisofs', ...argv)).toMatchObject({ code: 0 })
  return readFile(join(folder, 'drive.iso'))
}

const url = (path: string) => server.url + path
const sha256 = (path: string) => ({ image_os_hash_algo: 'sha256', image_os_hash_value: hash('sha256', path) })

async function deployed(node: RealNode, image: Record<string, unknown>, fields: Record<string, unknown> = {}) {
  await give(node, image)
  await node.provision('active', fields)
}

async function give(node: RealNode, image: Record<string, unknown>): Promise<void> {
  const patch = [{ op: 'add', path: '/instance_info', value: image }]
  expect(await node.send('PATCH', `/v1/nodes/${node.uuid}`, patch)).toMatchObject({ status: 200 })
}

/** Reads the disk when the ramdisk is to power off, before anything boots from it. */
function leftBehind(node: RealNode): () => ReturnType<typeof diskOf> {
  let disk: ReturnType<typeof diskOf> | undefined
  node.before.set('systemctl', async () => void (await (disk = diskOf(node))))
  return async () => {
    // Ironic may be through before a busy machine has come to its end.
    const deadline = Date.now() + REAL_PEER_TIMEOUT
    while (!disk && Date.now() < deadline) await new Promise((resolve) => setTimeout(resolve, 50))
    if (!disk) throw new Error('the ramdisk was not asked to power off')
    const taken = disk
    disk = undefined
    return taken
  }
}

async function diskOf({ agent }: RealNode) {
  const path = (await agent.machine.diskFile('sda'))!
  const { partitions } = await inspectDisk({ path }, systemClock())
  await using file = await open(path)
  const read = async (from: number, length: number) =>
    (await file.read({ buffer: Buffer.alloc(length), position: from })).buffer
  const contents = async (name: string) => {
    const found = partitions.find((partition) => partition.name === name)
    return found && read(found.offset, found.length)
  }
  const raw = images['/disk.raw']!
  // The tables differ: their copy moved to the disk's end.
  const first = 34 * 512
  const last = raw.length - 33 * 512
  return {
    image: (await read(first, last - first)).equals(raw.subarray(first, last)),
    labels: partitions.map(({ name }) => name),
    boot: await contents('boot'),
    drive: await contents('config-2'),
  }
}

/** The commands that Ironic gave, in order; questions left out. */
const commands = ({ seen }: RealNode) =>
  seen.flatMap(({ from, method, request }) =>
    from === 'ironic' && method === 'POST' ? [request as { name: string; params: Record<string, unknown> }] : [],
  )
const names = (node: RealNode) => commands(node).map(({ name }) => name)

/** The steps of a whole deployment. */
const WHOLE = [
  'deploy.get_deploy_steps',
  'deploy.execute_deploy_step',
  'standby.get_partition_uuids',
  'image.install_bootloader',
  'standby.power_off',
]

describe.concurrent('a real conductor deploys by its interface direct and our agent', () => {
  test('a raw image with a configdrive that is JSON, and another image by rebuild', async () => {
    await using node = await availableNode(ironic, 'direct-raw', DIRECT)
    const disk = leftBehind(node)
    await deployed(node, { image_source: url('/disk.raw'), ...sha256('/disk.raw') }, { configdrive })
    await node.settled('active')
    expect((await ironic.moves(node.uuid)).slice(-6)).toEqual([
      'deploying',
      'wait call-back',
      'deploying',
      'wait call-back',
      'deploying',
      'active',
    ])
    expect(names(node)).toEqual(WHOLE)
    const [, write, , bootloader] = commands(node)
    expect(write!.params).toMatchObject({
      step: {
        step: 'write_image',
        args: { image_info: { id: 'disk.raw', urls: [url('/disk.raw')], disk_format: null, node_uuid: node.uuid } },
      },
      node: { deploy_step: { step: 'write_image', priority: 80 } },
    })
    expect(bootloader!.params).toEqual({
      root_uuid: null,
      efi_system_part_uuid: null,
      prep_boot_part_uuid: null,
      target_boot_mode: 'uefi',
    })
    const { image, labels, drive } = await disk()
    expect(image).toBe(true)
    expect(labels.at(-1)).toBe('config-2')
    // An ISO 9660 volume descriptor with the partition's name, and the names that the user gave.
    expect(drive!.toString('latin1', 0x8001, 0x8006)).toBe('CD001')
    expect(drive!.toString('latin1', 0x8028, 0x8030)).toBe('config-2')
    expect(drive!.includes('worker-0')).toBe(true)

    await give(node, { image_source: url('/disk.qcow2'), ...sha256('/disk.qcow2') })
    await node.provision('rebuild')
    await node.reached('wait call-back')
    await node.settled('active')
    const rebuilt = await disk()
    expect(rebuilt.image).toBe(true)
    expect(rebuilt.labels).not.toContain('config-2')
    expect(node.log.filter((line) => line.startsWith('error'))).toEqual([])
  })

  test('an artifact of a registry that asks for a password: what it asks the registry, and what the node then has', async () => {
    await using registry = await registryServer({ auth: 'bearer', users: { me: 'secret' } })
    putDiskImage(registry, 'org/disk', 'qcow2', images['/disk.qcow2']!)
    await using node = await availableNode(ironic, 'direct-oci', DIRECT)
    const disk = leftBehind(node)
    await deployed(node, { image_source: `oci://${registry.host}/org/disk`, image_pull_secret: 'me:secret' })
    const active = await node.settled('active')
    expect((await disk()).image).toBe(true)
    expect(callsOf(registry)).toEqual(ARTIFACT_CALLS)
    expect(artifactMembers(active)).toEqual(expectedMembers(registry, images['/disk.qcow2']!))
  })

  test('a qcow2 image by its SHA-512, with a config drive made elsewhere and steps before and after', async () => {
    await using node = await availableNode(ironic, 'direct-qcow2', DIRECT)
    const disk = leftBehind(node)
    const image = { image_source: url('/disk.qcow2'), image_disk_format: 'qcow2' }
    const content = Buffer.from('injected').toString('base64')
    await deployed(
      node,
      { ...image, image_os_hash_algo: 'sha512', image_os_hash_value: hash('sha512', '/disk.qcow2') },
      {
        configdrive: gzipSync(drive).toString('base64'),
        deploy_steps: [
          { interface: 'deploy', step: 'erase_devices_metadata', priority: 90, args: {} },
          {
            interface: 'deploy',
            step: 'inject_files',
            priority: 70,
            args: { files: [{ path: '/added', partition: 'boot', content }] },
          },
        ],
      },
    )
    await node.settled('active')
    expect(names(node)).toEqual([...WHOLE.slice(0, 2), WHOLE[1], WHOLE[1], ...WHOLE.slice(2)])
    const { labels, boot, drive: written } = await disk()
    expect(labels.at(-1)).toBe('config-2')
    expect(written!.subarray(0, drive.length).equals(drive)).toBe(true)
    expect(boot!.includes('injected')).toBe(true)
  })

  test.each<[string, string, () => Record<string, unknown>]>([
    ['a list of checksums', 'list', () => ({ image_checksum: url('/SHA256SUMS') })],
    ['a checksum of 64 digits', 'digits', () => ({ image_checksum: hash('sha256', '/disk.raw') })],
    ['an MD5 checksum, which this Ironic allows', 'md5', () => ({ image_checksum: hash('md5', '/disk.raw') })],
    ['Ironic that downloads it itself', 'local', () => ({ ...sha256('/disk.raw'), image_download_source: 'local' })],
  ])('an image by %s', async (_, name, checksum) => {
    await using node = await availableNode(ironic, `direct-${name}`, DIRECT)
    const disk = leftBehind(node)
    await deployed(node, { image_source: url('/disk.raw'), ...checksum() }, { configdrive: url('/drive.b64') })
    await node.settled('active')
    expect(names(node)).toEqual(WHOLE)
    const { image, drive: written } = await disk()
    expect(image).toBe(true)
    expect(written!.subarray(0, drive.length).equals(drive)).toBe(true)
  })

  test('and tells why an image was not written', async () => {
    await using node = await availableNode(ironic, 'direct-failing', DIRECT)
    const image_source = url('/disk.raw')
    const failed = async (image: Record<string, unknown>, fields: Record<string, unknown> = {}) => {
      await deployed(node, image, fields)
      const { last_error: error } = await node.settled('deploy failed')
      await node.provision('deleted')
      await node.settled('available')
      return error
    }
    const step = `Deploy step deploy.write_image failed on node ${node.uuid}. `
    const wrong = { image_os_hash_algo: 'sha256', image_os_hash_value: '0'.repeat(64) }
    expect(await failed({ image_source, ...wrong })).toBe(
      `${step}Image failed to verify against checksum. location: /tmp/disk.raw; image ID: disk.raw; image checksum: ` +
        `${'0'.repeat(64)}; verification checksum: ${hash('sha256', '/disk.raw')}`,
    )
    expect(names(node).at(-1)).toBe('log.collect_system_logs')
    const disguised = { image_source: url('/disk.qcow2'), image_disk_format: 'raw', ...sha256('/disk.qcow2') }
    expect(await failed(disguised)).toBe(`${step}the image disk.qcow2 is declared as raw, but is qcow2`)
    expect(await failed({ image_source, ...sha256('/disk.raw'), image_type: 'partition', root_gb: 10 })).toBe(
      `${step}image_info has the image_type partition: only images of whole disks are written`,
    )
    expect(await failed({ image_source, ...sha256('/disk.raw') }, { configdrive: 'AAAA' })).toContain(
      `${step}the configdrive cannot be read`,
    )
    expect((await diskOf(node)).labels).toEqual([])

    // Ironic refuses these before it sends anything to an agent.
    const before = node.seen.length
    expect(await failed({ image_source: url('/missing'), ...sha256('/disk.raw') })).toContain(
      'Failed to prepare to deploy: Validation of image href',
    )
    const refused = async (image: Record<string, unknown>) => {
      await give(node, image)
      const { status, body } = await node.send('PUT', `/v1/nodes/${node.uuid}/states/provision`, { target: 'active' })
      return `${status} ${(body as { error_message?: string })?.error_message}`
    }
    expect(await refused({})).toMatch(/^400 .*Missing are: \['instance_info.image_source'\]/)
    expect(await refused({ image_source })).toMatch(/^400 .*must be provided in instance_info/)
    expect(await refused({ image_source, image_os_hash_algo: 'sha256' })).toMatch(/^400 .*must be provided/)
    expect(node.seen.length).toBe(before)
  })
})
