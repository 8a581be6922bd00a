import { readdirSync, readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { parse } from 'yaml'
import { bootImageFor } from './boot-image.js'
import { bootImagesText, readBootImages, streamNamed } from './config-map.js'
import { documentText } from './metadata-document.js'
import { metaToRelease } from './meta-to-release.js'
import { metalImageOf } from './metal-image.js'
import { readMetadata, schemaProblems, type MetadataDocument } from './read-metadata.js'
import { releaseToStream } from './release-to-stream.js'
import { checkStream } from './stream-check.js'
import { liveFiles } from './stream-lookup.js'
import { diffStreams } from './stream-diff.js'
import type { StreamMetadata } from './stream-metadata.js'
import { compareVersions } from './coreos-versions.js'

/** Documents as they are published (test/fixtures/published), and not as ours are made. */

const text = (name: string): string =>
  readFileSync(new URL(`../../test/fixtures/published/${name}`, import.meta.url), 'utf8')
type Documents = { [M in MetadataDocument as M['kind']]: M['value'] }
function read<K extends keyof Documents>(name: string, kind: K): Documents[K] {
  const found: MetadataDocument = readMetadata(text(name), name)
  if (found.kind !== kind) throw new Error(`${name} is taken for ${found.kind}`)
  return found.value as Documents[K]
}
const stream = (name: string): StreamMetadata => read(name, 'stream')

test.each([
  ['fcos-stable.json', 'stream'],
  ['fcos-33-stream.json', 'stream'],
  ['fcos-33-release.json', 'release'],
  ['fcos-releases.json', 'index'],
  ['fcos-meta.json', 'build'],
  ['rhcos-meta.json', 'build'],
  ['rhcos-4.11.json', 'stream'],
  ['rhel-9.json', 'stream'],
  ['rhel-10.json', 'stream'],
  ['scos.json', 'stream'],
])('%s is known for a valid %s', (name, kind) => {
  expect(schemaProblems(text(name), name)).toEqual({ kind, problems: [] })
})

test.each(['fcos-stable.json', 'fcos-33-stream.json', 'rhel-9.json', 'rhel-10.json', 'scos.json'])(
  'nothing is found wrong with the stream %s',
  (name) => {
    expect(checkStream(stream(name))).toEqual([])
  },
)

test('a stream whose architectures are of two releases, as RHEL CoreOS has had, is warned of and not refused', () => {
  expect(checkStream(stream('rhcos-4.11.json'))).toEqual([
    {
      kind: 'warning',
      path: 'architectures.ppc64le',
      message: 'is release 411.85.202203181612-0, while aarch64 is 410.84.202201251203-0',
    },
  ])
})

test('a published release becomes the stream that was published of it', () => {
  const published = stream('fcos-33-stream.json')
  const { 'last-modified': now, generator } = published.metadata
  const ours = releaseToStream(read('fcos-33-release.json', 'release'), { now, generator: generator! })
  expect(ours).toEqual(published)
})

test('a published build becomes a release of the published form, with the build’s digests', () => {
  const build = read('fcos-meta.json', 'build')
  const release = metaToRelease([build], { streamName: 'stable' })
  const published = read('fcos-33-release.json', 'release')
  const named = (one: typeof release): unknown => {
    const { artifacts } = one.architectures['x86_64']!.media['metal']!
    // Releases of 2020 also have disks with sectors of 4096 bytes, and builds of before have not.
    const { '4k.raw.xz': _, ...formats } = artifacts!
    const words = JSON.stringify(formats).replaceAll(one.release, 'VERSION')
    return JSON.parse(words, (key, value: unknown) =>
      key === 'sha256' ? 'DIGEST' : key === 'uncompressed-sha256' ? undefined : value,
    )
  }
  expect(named(release)).toEqual(named(published))
  const { media, commit } = release.architectures['x86_64']!
  expect(commit).toBe(build['ostree-commit'])
  expect(media['metal']!.artifacts!['raw.xz']!.disk!.sha256).toBe(build.images!['metal']!.sha256)
  expect(media['aws']!.images).toEqual({ [build.amis![0]!.name]: { image: build.amis![0]!.hvm } })
})

test('a build of RHEL CoreOS of 2020 has an installer’s ISO and unsigned files', () => {
  const release = metaToRelease([read('rhcos-meta.json', 'build')], { streamName: 'rhcos-4.4', signatures: false })
  const { artifacts, images } = releaseToStream(release, { now: '2020-01-15T19:32:19Z' }).architectures['x86_64']!
  expect(Object.keys(artifacts['metal']!.formats)).toEqual(['installer-pxe', 'installer.iso', 'raw.gz'])
  expect(artifacts['metal']!.formats['raw.gz']!.disk).not.toHaveProperty('signature')
  expect(images!.gcp).toMatchObject({ name: 'rhcos-44devel-81-202001151926-0' })
})

const NOW = '2026-01-01T00:00:00Z'
/** All of the fixtures but the index, which has no files. */
const WITH_FILES = readdirSync(new URL('../../test/fixtures/published', import.meta.url)).filter(
  (name) => name.endsWith('.json') && readMetadata(text(name), name).kind !== 'index',
)

/** Streams that follow from a document: of a build and a release the converted one, of a stream itself. */
function streamsOf(name: string): StreamMetadata[] {
  const found = readMetadata(text(name), name)
  if (found.kind === 'stream') return [found.value]
  if (found.kind === 'release') return [releaseToStream(found.value, { now: NOW })]
  if (found.kind !== 'build') return []
  return [true, false].map((signatures) =>
    releaseToStream(metaToRelease([found.value], { streamName: 'stable', signatures }), { now: NOW }),
  )
}

describe.each(WITH_FILES)('%s', (name) => {
  test('becomes a stream that is valid, and equal to itself once it is read again', () => {
    for (const made of streamsOf(name)) {
      const written = documentText(made)
      expect(schemaProblems(written, name)).toEqual({ kind: 'stream', problems: [] })
      expect(checkStream(made).filter(({ kind }) => kind === 'error')).toEqual([])
      const again = readMetadata(written, name)
      expect(again.kind).toBe('stream')
      expect(diffStreams(made, again.value as StreamMetadata)).toEqual([])
    }
  })
})

test('a build of RHEL CoreOS of 2020 has the boot images of its installer', () => {
  const release = metaToRelease([read('rhcos-meta.json', 'build')], { streamName: 'rhcos-4.4', signatures: false })
  const old = releaseToStream(release, { now: NOW })
  expect(bootImageFor(old, 'x86_64', 'baremetal-iso')).toMatchObject({ format: 'installer.iso' })
  const pxe = bootImageFor(old, 'x86_64', 'baremetal-pxe')
  expect(pxe).toMatchObject({ format: 'installer-pxe' })
  expect(Object.keys((pxe as { files: object }).files)).toEqual(['kernel', 'initramfs'])
})

test.each([
  [{ rollout: { start_epoch: 1783500000, start_percentage: 0, duration_minutes: 2880 } }],
  [{ barrier: { reason: 'https://example.com/1' } }],
  [{ deadend: { reason: 'https://example.com/2' } }],
])('rollout metadata is named as what it is: %j', (metadata) => {
  const updates = {
    stream: 'stable',
    metadata: { 'last-modified': '2026-07-28T00:00:00Z' },
    releases: [{ version: '44.20260707.3.1', metadata }],
  }
  for (const reading of [readMetadata, schemaProblems])
    expect(() => reading(JSON.stringify(updates), 'stable.json')).toThrow(
      expect.objectContaining({ code: 'metadata-rollout', message: expect.stringMatching(/^stable\.json is rollout/) }),
    )
})

describe('versions', () => {
  const releaseOf = (name: string, architecture: string): string => liveFiles(stream(name), architecture).release

  test('an index of releases is in the order of versions, and the current stream comes after it', () => {
    const { releases } = read('fcos-releases.json', 'index')
    const versions = [...releases.map(({ version }) => version), releaseOf('fcos-stable.json', 'x86_64')]
    expect(versions).toHaveLength(5)
    expect([...versions].reverse().sort(compareVersions)).toEqual(versions)
  })

  test('those of OpenShift come before those of RHEL, and both of CentOS among these', () => {
    const versions = [
      releaseOf('rhcos-4.11.json', 'aarch64'),
      releaseOf('rhcos-4.11.json', 'ppc64le'),
      ...['rhel-9.json', 'scos.json', 'rhel-10.json'].map((name) => releaseOf(name, 'aarch64')),
    ]
    expect([...versions].reverse().sort(compareVersions)).toEqual(versions)
  })
})

describe('the coreos-bootimages ConfigMap of the installer', () => {
  const nine = stream('rhel-9.json')
  const ten = stream('rhel-10.json')

  test('has the names and annotations of the installer, and every stream as published', () => {
    const boot = { releaseVersion: '0.0.1-snapshot', stream: nine, streams: { 'rhel-10': ten, 'rhel-9': nine } }
    const map = parse(bootImagesText(boot)) as { metadata: object; data: Record<string, string> }
    expect(map).toMatchObject({
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: {
        namespace: 'openshift-machine-config-operator',
        name: 'coreos-bootimages',
        annotations: {
          'include.release.openshift.io/ibm-cloud-managed': 'true',
          'include.release.openshift.io/self-managed-high-availability': 'true',
          'include.release.openshift.io/single-node-developer': 'true',
        },
      },
    })
    expect(Object.keys(map.data).sort()).toEqual(['releaseVersion', 'stream', 'streams'])
    expect(JSON.parse(map.data['streams']!)).toEqual({ 'rhel-9': nine, 'rhel-10': ten })
  })

  test('is read as Go writes it, without a line end behind the documents', () => {
    const data = {
      releaseVersion: '4.22.0',
      stream: JSON.stringify(nine, null, 2),
      streams: JSON.stringify({ 'rhel-10': ten, 'rhel-9': nine }, null, 2),
    }
    const map = readBootImages(JSON.stringify({ apiVersion: 'v1', kind: 'ConfigMap', data }), 'map')
    expect(map.releaseVersion).toBe('4.22.0')
    expect(streamNamed(map)).toEqual(nine)
    expect(streamNamed(map, 'rhel-10')).toEqual(ten)
    expect(streamNamed(map, 'rhcos-4.22')).toEqual(ten)
  })

  test('of OKD has one stream without a name, which is found by the name in its document', () => {
    const scos = stream('scos.json')
    const data = { releaseVersion: '4.20.0', stream: JSON.stringify(scos), streams: JSON.stringify({ '': scos }) }
    const map = readBootImages(JSON.stringify({ apiVersion: 'v1', kind: 'ConfigMap', data }), 'map')
    expect(streamNamed(map)).toEqual(scos)
    expect(streamNamed(map, 'c10s')).toEqual(scos)
    expect(() => streamNamed(map, 'c9s')).toThrow(expect.objectContaining({ remedy: 'there is c10s' }))
  })
})

test('boot images for platforms are those of the published stream', () => {
  const nine = stream('rhel-9.json')
  const base = 'https://rhcos.mirror.openshift.com/art/storage/prod/streams/rhel-9.8/builds/9.8.20260428-0/aarch64'
  const release = '9.8.20260428-0'
  const image = (platform: string) => bootImageFor(nine, 'aarch64', platform)
  expect(image('metal')).toMatchObject({ release, format: 'raw.gz' })
  const iso = { disk: { location: `${base}/rhcos-${release}-live-iso.aarch64.iso` } }
  expect(image('baremetal-iso')).toMatchObject({ release, format: 'iso', files: iso })
  const kernel = { location: `${base}/rhcos-${release}-live-kernel.aarch64` }
  expect(image('baremetal-pxe')).toMatchObject({ release, format: 'pxe', files: { kernel } })
  expect(image('aws-snapshot')).toMatchObject({ format: 'vmdk.gz' })
  const amis = { 'af-south-1': { hvm: 'ami-0d4a956f16e671c23' }, 'us-east-1': { hvm: 'ami-01fdfbdd638f16b5f' } }
  expect(image('aws')).toEqual({ kind: 'amis', amis })
})

test('the metal image of a stream is signed for Fedora CoreOS and not for RHEL CoreOS', () => {
  const url =
    'https://builds.coreos.fedoraproject.org/prod/streams/stable/builds/44.20260707.3.1/x86_64/fedora-coreos-44.20260707.3.1'
  const fedora = (sectorSize: number) =>
    metalImageOf(stream('fcos-stable.json'), { architecture: 'x86_64', sectorSize }, 'stable')
  expect(fedora(512)).toEqual({
    url: `${url}-metal.x86_64.raw.xz`,
    signatureUrl: `${url}-metal.x86_64.raw.xz.sig`,
    signature: 'where present',
    sha256: 'ca1ef085991998a7d33d3d64b55323eea7a1b563ff1b36c363dbb415eeb4b47f',
  })
  expect(fedora(4096)).toMatchObject({ url: `${url}-metal4k.x86_64.raw.xz` })
  const rhel = metalImageOf(stream('rhel-10.json'), { architecture: 'aarch64', sectorSize: 512 }, 'rhel-10')
  expect(rhel).not.toHaveProperty('signatureUrl')
  expect(rhel.url).toMatch(/-metal\.aarch64\.raw\.gz$/)
})
