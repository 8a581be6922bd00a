import { mkdtemp, readFile, rm, utimes, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { collectGarbage, seededRandom, silent, systemClock } from '../../base/runtime/index.js'
import { isoImage, liveFiles } from '../../test/kit/images/live-iso.js'
import { bytesSource } from '../../base/bytes/byte-source.js'
import { openLiveIso } from '../live/live-iso.js'
import { IGNITION_FILE } from '../live/contents.js'
import { readInitramfs } from '../live/initramfs.js'
import { openImageService, type ImageServiceOptions } from './image-service.js'
import { findLiveImages } from './live-files.js'

const clock = systemClock()
const COMMON = JSON.stringify({ ignition: { version: '3.2.0' }, storage: { files: [{ path: '/etc/all' }] } })
const own = (name: string) =>
  JSON.stringify({ ignition: { version: '3.2.0' }, storage: { files: [{ path: `/${name}` }] } })

let folder: string
let iso: string
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'ironstage-test-'))
  iso = join(folder, 'live.iso')
  await writeFile(iso, isoImage(liveFiles()))
})
afterAll(() => rm(folder, { recursive: true, force: true }))

const service = (more: Partial<ImageServiceOptions> = {}) =>
  openImageService({
    files: [{ architecture: 'x86_64', iso }],
    config: COMMON,
    secret: 's',
    host: '127.0.0.1',
    port: 0,
    clock,
    random: seededRandom(1),
    logger: silent,
    ...more,
  })

const got = async (url: string, headers: Record<string, string> = {}) => {
  const response = await fetch(url, { headers })
  return { status: response.status, headers: response.headers, bytes: Buffer.from(await response.arrayBuffer()) }
}

const configIn = async (bytes: Buffer): Promise<string> =>
  Buffer.from((await openLiveIso(bytesSource(bytes), clock)).files.get(IGNITION_FILE)!).toString()

describe('the common images', () => {
  test.each([
    ['192.0.2.7', 'http://192.0.2.7:'],
    ['2001:db8::7', 'http://[2001:db8::7]:'],
  ])('have URLs with the public host %s', async (publicHost, start) => {
    await using images = await service({ publicHost })
    expect(images.url).toBe(`${start}${images.port}`)
    expect(images.urls()!.iso).toContain(`${start}${images.port}/live/`)
  })

  test('the ISO has the config, and is otherwise as published', async () => {
    await using images = await service()
    const { bytes } = await got(images.urls()!.iso!)
    expect(await configIn(bytes)).toBe(COMMON)
    const published = await readFile(iso)
    expect(bytes.length).toBe(published.length)
    const { area } = await openLiveIso(bytesSource(published), clock)
    for (const side of [
      [0, area.offset],
      [area.offset + area.size, bytes.length],
    ] as const)
      expect(bytes.subarray(...side).equals(published.subarray(...side))).toBe(true)
  })

  test('kernel, initramfs and root filesystem are those of the ISO', async () => {
    await using images = await service()
    const { kernel, ramdisk, rootfs } = images.urls()!.pxe!
    const files = liveFiles()
    expect((await got(kernel)).bytes.equals(files['images/pxeboot/vmlinuz']!)).toBe(true)
    expect((await got(ramdisk)).bytes.equals(files['images/pxeboot/initrd.img']!)).toBe(true)
    expect((await got(rootfs)).bytes.equals(files['images/pxeboot/rootfs.img']!)).toBe(true)
  })

  test('the config is served in a version that the client accepts, or refused', async () => {
    await using images = await service({ config: JSON.stringify({ ignition: { version: '3.4.0' } }) })
    const { ignition, append } = images.urls()!.pxe!
    expect(append).toContain(`ignition.config.url=${ignition} ignition.firstboot ignition.platform.id=metal`)
    const asks = (version: string) =>
      got(ignition, { accept: `application/vnd.coreos.ignition+json;version=${version}, */*;q=0.1` })
    const old = await asks('3.1.0')
    expect(old.headers.get('content-type')).toBe('application/vnd.coreos.ignition+json; version=3.1.0')
    expect(old.headers.get('vary')).toBe('accept')
    expect(JSON.parse(old.bytes.toString())).toMatchObject({ ignition: { version: '3.1.0' } })
    expect(JSON.parse((await asks('3.5.0')).bytes.toString())).toMatchObject({ ignition: { version: '3.4.0' } })
    expect((await asks('2.4.0')).status).toBe(406)
  })

  test('a config that does not fit is refused before anything is served', async () => {
    const big = Array.from(seededRandom(3).bytes(300_000), (byte) => byte.toString(16)).join('')
    const config = JSON.stringify({
      ignition: { version: '3.2.0' },
      storage: { files: [{ path: '/big', contents: { source: `data:,${big}` } }] },
    })
    await expect(service({ config })).rejects.toThrow(/Compressed initramfs is too large: \d+ > 262144/)
  })

  test.each<[string, Partial<ImageServiceOptions>, RegExp]>([
    ['a config that Ignition refuses', { config: '{"ignition":{"version":"9.0.0"}}' }, /unsupported Ignition version/],
    ['a missing file', { files: [{ architecture: 'x86_64', iso: '/nowhere/live.iso' }] }, /nowhere/],
    [
      'a kernel alone',
      { files: [{ architecture: 'x86_64', kernel: '/k' }] },
      /only some of kernel, initramfs and rootfs/,
    ],
  ])('%s is refused', async (_, options, why) => {
    await expect(service(options)).rejects.toThrow(why)
  })
})

describe('the images of a node', () => {
  test('a node has its config in its own ISO and initramfs, under unguessable names, until it is withdrawn', async () => {
    const configs = new Map([['n1', own('one')]])
    await using images = await service({ configOf: (node) => configs.get(node) })
    const one = images.publish('n1')!
    const two = images.publish('n2')!
    expect(new URL(one.iso!).pathname).toMatch(/^\/nodes\/[\w-]{43}\/ironic-python-agent\.iso$/)
    expect(await configIn((await got(one.iso!)).bytes)).toBe(own('one'))
    expect(await configIn((await got(two.iso!)).bytes)).toBe(COMMON)
    const initramfs = await readInitramfs((await got(one.pxe!.ramdisk)).bytes, clock)
    expect(Buffer.from(initramfs.get(IGNITION_FILE)!).toString()).toBe(own('one'))
    expect(one.pxe!.append).not.toContain('ignition.config.url')

    const { etag } = Object.fromEntries((await got(one.iso!, { range: 'bytes=0-0' })).headers)
    configs.set('n1', own('other'))
    const changed = await got(one.iso!, { range: 'bytes=0-0', 'if-range': etag! })
    expect(changed.status).toBe(200)
    expect(await configIn(changed.bytes)).toBe(own('other'))

    images.withdraw('n1')
    expect((await got(one.iso!)).status).toBe(404)
    expect((await got(two.iso!)).status).toBe(200)
  })

  test('names depend on the secret, so they outlive the service', async () => {
    const path = async (secret: string) => {
      await using images = await service({ secret })
      return new URL(images.publish('n1')!.iso!).pathname
    }
    expect(await path('a')).toBe(await path('a'))
    expect(await path('a')).not.toBe(await path('b'))
  })

  test('a hundred nodes take memory for their archives, not for copies of the ISO', async () => {
    await using images = await service({ configOf: own })
    const urls = Array.from({ length: 100 }, (_, n) => images.publish(`node-${n}`)!.iso!)
    const held = () => {
      collectGarbage()
      return process.memoryUsage().arrayBuffers
    }
    const before = held()
    for (const url of urls) await (await fetch(url, { headers: { range: 'bytes=0-0' } })).arrayBuffer()
    // Buffers of closed connections are released some turns later; copies that are kept would stay.
    await expect.poll(() => held() - before, { timeout: 10_000 }).toBeLessThan(100 * 64 * 1024)
  })
})

describe('the server', () => {
  test('many readers of ranges read the same bytes', async () => {
    await using images = await service()
    const url = images.urls()!.iso!
    const { bytes } = await got(url)
    const random = seededRandom(5)
    await Promise.all(
      Array.from({ length: 200 }, async () => {
        const start = Math.floor(random.next() * bytes.length)
        const end = Math.min(bytes.length - 1, start + Math.floor(random.next() * 70_000))
        const part = await got(url, { range: `bytes=${start}-${end}` })
        expect(part.status).toBe(206)
        expect(part.bytes.equals(bytes.subarray(start, end + 1))).toBe(true)
      }),
    )
  })

  test.each([
    ['a missing file', 'GET', '/live/x86_64/other.iso', 404],
    ['another architecture', 'GET', '/live/riscv/ironic-python-agent.iso', 404],
    ['an unknown name of a node', 'GET', '/nodes/x/ironic-python-agent.iso', 404],
    ['a path out of the folder', 'GET', '/live/../../etc/passwd', 404],
    ['an encoded path out of the folder', 'GET', '/live/%2e%2e/ironic-python-agent.iso', 404],
    ['another method', 'POST', '/live/x86_64/ironic-python-agent.iso', 405],
  ])('%s', async (_, method, path, status) => {
    await using images = await service()
    const response = await fetch(`${images.url}${path}`, { method })
    expect(response.status).toBe(status)
    await response.arrayBuffer()
  })

  test('HEAD answers with the size, without a body', async () => {
    await using images = await service()
    const response = await fetch(images.urls()!.iso!, { method: 'HEAD' })
    expect(response.headers.get('content-length')).toBe(String((await readFile(iso)).length))
    expect((await response.arrayBuffer()).byteLength).toBe(0)
  })

  test('a file that was published again has another ETag', async () => {
    const etag = async () => {
      await using images = await service()
      return (await got(images.urls()!.pxe!.kernel)).headers.get('etag')
    }
    const before = await etag()
    expect(await etag()).toBe(before)
    await utimes(iso, new Date(), new Date(Date.UTC(2027, 0, 1)))
    expect(await etag()).not.toBe(before)
  })
})

test('live images are found by their names', async () => {
  const here = await mkdtemp(join(folder, 'found-'))
  const stem = 'fedora-coreos-40.20240416.3.1-live'
  for (const name of [
    `${stem}.x86_64.iso`,
    `${stem}.x86_64.iso.sig`,
    `${stem}-kernel-x86_64`,
    `${stem}-initramfs.x86_64.img`,
    `${stem}-rootfs.x86_64.img`,
    `${stem}.aarch64.iso`,
    'README',
  ])
    await writeFile(join(here, name), '')
  expect(await findLiveImages(here, clock)).toEqual(
    [
      { architecture: 'aarch64', iso: join(here, `${stem}.aarch64.iso`) },
      {
        architecture: 'x86_64',
        iso: join(here, `${stem}.x86_64.iso`),
        kernel: join(here, `${stem}-kernel-x86_64`),
        initramfs: join(here, `${stem}-initramfs.x86_64.img`),
        rootfs: join(here, `${stem}-rootfs.x86_64.img`),
      },
    ].sort((a, b) => (a.architecture < b.architecture ? 1 : -1)),
  )
  await writeFile(join(here, 'other.aarch64.iso'), '')
  await expect(findLiveImages(here, clock)).rejects.toThrow('two files that may be the iso of aarch64')
  await expect(findLiveImages(join(here, 'none'), clock)).rejects.toThrow('cannot be listed')
})
