import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { systemClock } from '../../base/runtime/index.js'
import { buildMeta } from '../../test/kit/builds.js'
import { fedoraStream } from '../../test/kit/streams.js'
import { BOOT_IMAGE_PLATFORMS, bootImageFor } from '../metadata/boot-image.js'
import { releaseFolder } from './release-folder.js'
import { bootImageInfo, readReleaseImage, streamOfBuilds, writeReleaseImage } from './release-image.js'

const clock = systemClock()
const RHCOS = { name: 'rhcos', version: '10.2.20260715-0', stream: 'rhel-10.2' }
const base = { 'base-oscontainer': { image: 'quay.io/os/base', digest: 'sha256:ba5e' } }
const builds = {
  x86_64: buildMeta('x86_64', { ...RHCOS, more: base }),
  aarch64: buildMeta('aarch64', RHCOS),
}

let folder: string
beforeEach(async () => void (folder = await mkdtemp(join(tmpdir(), 'ironstage-release-'))))
afterEach(() => rm(folder, { recursive: true, force: true }))

describe('row 12: bootimage.json in a release image', () => {
  test('is the build metadata, for each architecture, at its place', async () => {
    await writeReleaseImage(folder, { builds, bootImages: null }, clock)
    const path = join(folder, 'machine-os-content/aarch64/bootimage.json')
    expect(JSON.parse(await readFile(path, 'utf8'))).toEqual(builds.aarch64)
    expect(await readReleaseImage(releaseFolder(folder, clock))).toEqual({ builds, bootImages: null })
  })

  test('a build that does not match the schema is not written, and is refused when it is read', async () => {
    const images = { ostree: builds.x86_64.images!['ostree'], metal: { path: 'x' } }
    const bad = { ...builds.x86_64, images } as unknown as (typeof builds)['x86_64']
    const writing = writeReleaseImage(folder, { builds: { x86_64: bad }, bootImages: null }, clock)
    await expect(writing).rejects.toThrow(/bootimage\.json is not valid build metadata: images\.metal has no sha256/)
    await expect(readReleaseImage(releaseFolder(folder, clock))).rejects.toMatchObject({
      code: 'release-image',
      kind: 'usage',
    })
    await mkdir(join(folder, 'machine-os-content/s390x'), { recursive: true })
    await writeFile(join(folder, 'machine-os-content/s390x/bootimage.json'), JSON.stringify(builds.x86_64))
    await expect(readReleaseImage(releaseFolder(folder, clock))).rejects.toThrow(/s390x\/bootimage\.json is of x86_64/)
  })

  test('the boot image info has versions, container images, platforms and AMIs', async () => {
    const { architectures, drift } = bootImageInfo({ builds, bootImages: null })
    expect(drift).toEqual([])
    expect(architectures['x86_64']).toMatchObject({
      release: '10.2.20260715-0',
      base: 'quay.io/os/base@sha256:ba5e',
      derived: null,
      platforms: { metal: ['4k.raw.gz', 'iso', 'pxe', 'raw.gz'], vmware: ['ova'] },
      amis: { 'us-east-1': 'ami-x861', 'eu-west-1': 'ami-x862' },
    })
  })

  test('row 15: differences between the two sources are listed', () => {
    const stream = streamOfBuilds({ builds, bootImages: null })!
    const of = (change: typeof stream) =>
      bootImageInfo({ builds, bootImages: { releaseVersion: '4.22.0', stream: change, streams: null } })
    expect(of(stream).drift).toEqual([])
    const older = streamOfBuilds({
      bootImages: null,
      builds: { x86_64: buildMeta('x86_64', { ...RHCOS, version: '10.2.20260101-0' }) },
    })!
    expect(of(older).drift).toContainEqual({
      path: 'architectures.x86_64.artifacts.metal.release',
      before: '10.2.20260715-0',
      after: '10.2.20260101-0',
    })
    expect(of(older).drift.some(({ path }) => path.includes('aarch64'))).toBe(false)
  })
})

describe('row 13: sources of a boot image', () => {
  const stream = streamOfBuilds({ builds, bootImages: null }, { baseUrl: 'https://b.example.org' })!

  test.each([
    ['metal', 'raw.gz', ['disk']],
    ['openstack', 'qcow2.gz', ['disk']],
    ['qemu', 'qcow2.gz', ['disk']],
    ['vmware', 'ova', ['disk']],
    ['aws-snapshot', 'vmdk.gz', ['disk']],
    ['baremetal-iso', 'iso', ['disk']],
    ['baremetal-pxe', 'pxe', ['kernel', 'initramfs', 'rootfs']],
  ])('the boot image of %s is %s', (platform, format, files) => {
    const image = bootImageFor(stream, 'x86_64', platform)
    expect(image).toMatchObject({ kind: 'files', format, release: '10.2.20260715-0' })
    if (image.kind !== 'files') throw new Error('it has files')
    expect(Object.keys(image.files)).toEqual(files)
    for (const file of Object.values(image.files)) {
      // The name of the file tells the platform: images of the others have the same formats.
      expect(file.location).toContain(platform.startsWith('baremetal-') ? '-live' : `-${platform.split('-')[0]!}`)
      expect(file.location).toMatch(/^https:\/\/b\.example\.org\/rhel-10\.2\/builds\/10\.2\.20260715-0\/x86_64\/rhcos-/)
      expect(file.signature).toBeUndefined()
    }
  })

  test('aws: the AMIs as the installer’s rhcos.json had them', () => {
    expect(bootImageFor(stream, 'aarch64', 'aws')).toEqual({
      kind: 'amis',
      amis: { 'us-east-1': { hvm: 'ami-aar1' }, 'eu-west-1': { hvm: 'ami-aar2' } },
    })
  })

  test('Fedora CoreOS is compressed with xz and signed', () => {
    const image = bootImageFor(fedoraStream(), 'x86_64', 'openstack')
    expect(image).toMatchObject({
      format: 'qcow2.xz',
      files: { disk: { signature: expect.stringMatching(/\.sig$/) as string } },
    })
  })

  test.each([
    ['azure', 'x86_64', `there is no boot image for azure`],
    ['vmware', 'aarch64', `artifact 'vmware' not found`],
    ['metal', 'riscv64', `does not have architecture 'riscv64'`],
  ])('%s for %s', (platform, architecture, message) => {
    expect(() => bootImageFor(stream, architecture, platform)).toThrow(message)
    expect(BOOT_IMAGE_PLATFORMS).toHaveLength(8)
  })
})
