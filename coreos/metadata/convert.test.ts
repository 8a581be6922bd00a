import { describe, expect, test } from 'vitest'
import { buildMeta } from '../../test/kit/builds.js'
import { BUILD_META, osImages } from './build-meta.js'
import { metaToRelease } from './meta-to-release.js'
import { RELEASE_KIND, RELEASE_INDEX, withRelease } from './release-metadata.js'
import { releaseToStream, updateStream } from './release-to-stream.js'
import { STREAM_KIND } from './stream-metadata.js'

const NOW = '2023-08-01T10:00:00Z'
const BASE = 'https://builds.example.org/prod/streams'
const ARCHITECTURES = ['x86_64', 'aarch64', 'ppc64le', 's390x']
const RHCOS = { name: 'rhcos', version: '10.2.20260715-0', stream: 'rhel-10.2' }

describe('row 35: meta.json becomes release.json becomes a stream', () => {
  const release = metaToRelease(
    ARCHITECTURES.map((architecture) => buildMeta(architecture)),
    { baseUrl: `${BASE}/` },
  )

  test('every architecture has its place in the release, with location, signature and digests', () => {
    expect(RELEASE_KIND.problems(release)).toEqual([])
    expect(release).toMatchObject({ release: '38.20230718.3.0', stream: 'stable' })
    expect(Object.keys(release.architectures)).toEqual(ARCHITECTURES)
    const { commit, media } = release.architectures['aarch64']!
    expect(commit).toBe(buildMeta('aarch64')['ostree-commit'])
    const folder = `${BASE}/stable/builds/38.20230718.3.0/aarch64`
    const { metal } = buildMeta('aarch64').images!
    expect(media['metal']!.artifacts!['raw.xz']).toEqual({
      disk: {
        location: `${folder}/fedora-coreos-38.20230718.3.0-metal.aarch64.raw.xz`,
        signature: `${folder}/fedora-coreos-38.20230718.3.0-metal.aarch64.raw.xz.sig`,
        sha256: metal!.sha256,
        'uncompressed-sha256': metal!['uncompressed-sha256'],
      },
    })
    expect(Object.keys(media['metal']!.artifacts!)).toEqual(['raw.xz', '4k.raw.xz', 'iso', 'pxe'])
    expect(Object.keys(media['metal']!.artifacts!['pxe']!)).toEqual(['kernel', 'initramfs', 'rootfs'])
    expect(media['aws']!.images).toEqual({ 'us-east-1': { image: 'ami-aar1' }, 'eu-west-1': { image: 'ami-aar2' } })
  })

  test('a stream names the release at every platform and region', () => {
    const stream = releaseToStream(release, { now: NOW, generator: 'test' })
    expect(STREAM_KIND.problems(stream)).toEqual([])
    const { artifacts, images } = stream.architectures['x86_64']!
    expect(stream.metadata).toEqual({ 'last-modified': NOW, generator: 'test' })
    expect(Object.keys(artifacts)).toEqual(['aws', 'metal', 'openstack', 'qemu', 'vmware'])
    expect(artifacts['vmware']!.formats).toHaveProperty('ova.disk.location')
    expect(artifacts['metal']!.release).toBe('38.20230718.3.0')
    expect(images!.aws!.regions!['us-east-1']).toEqual({ release: '38.20230718.3.0', image: 'ami-x861' })
  })

  test('without signatures the stream has no signature fields', () => {
    const unsigned = metaToRelease([buildMeta('x86_64', RHCOS)], { signatures: false })
    expect(unsigned.architectures['x86_64']!.media['metal']!.artifacts!['raw.gz']!.disk!.signature).toBe('')
    const stream = releaseToStream(unsigned, { now: NOW, name: 'rhcos-4.22' })
    expect(stream.stream).toBe('rhcos-4.22')
    expect(JSON.stringify(stream)).not.toContain('signature')
    expect(STREAM_KIND.problems(stream)).toEqual([])
  })

  test('the image of every cloud has the fields of that cloud', () => {
    const object = { region: 'au-syd', object: 'o.ova.gz', bucket: 'b', url: 'https://s3.example.org/o' }
    const more = {
      gcp: { image: 'fcos-1', project: 'p', family: 'f', url: 'https://gcp.example.org/i' },
      aliyun: [{ name: 'cn-1', id: 'm-1' }],
      powervs: [object],
      ibmcloud: [object],
      azure: { url: 'https://azure.example.org/v.vhd' },
      'aws-winli': [{ name: 'us-east-1', hvm: 'ami-win' }],
      kubevirt: { image: 'quay.io/k', digest: 'sha256:ab', tags: ['38.20230718.3.0', 'stable'] },
    }
    const meta = buildMeta('x86_64', { more })
    const azure = { path: 'x-azure.x86_64.vhd.xz', sha256: meta.images!['metal']!.sha256 }
    const whole = metaToRelease([{ ...meta, images: { ...meta.images, azure } }])
    expect(whole.architectures['x86_64']!.media['gcp']!.image).toEqual({ project: 'p', family: 'f', name: 'fcos-1' })
    const { images, 'rhel-coreos-extensions': extensions } = releaseToStream(whole, { now: NOW }).architectures[
      'x86_64'
    ]!
    const release = '38.20230718.3.0'
    const { region: _, ...there } = object
    expect(images).toMatchObject({
      aliyun: { regions: { 'cn-1': { release, image: 'm-1' } } },
      gcp: { release, project: 'p', family: 'f', name: 'fcos-1' },
      powervs: { regions: { 'au-syd': { release, ...there } } },
      ibmcloud: { regions: { 'au-syd': { release, ...there } } },
      kubevirt: { release, image: 'quay.io/k:stable', 'digest-ref': 'quay.io/k@sha256:ab' },
    })
    expect(extensions).toEqual({
      'aws-winli': { regions: { 'us-east-1': { release, image: 'ami-win' } } },
      'azure-disk': { release, url: 'https://azure.example.org/v.vhd' },
    })
  })

  test('--target: a release replaces its architecture, and the others stay', () => {
    const target = releaseToStream(release, { now: NOW })
    const next = metaToRelease([buildMeta('aarch64', { version: '38.20230806.3.0' })])
    const later = '2023-08-07T00:00:00Z'
    const updated = updateStream(target, [next], { now: later })
    expect(updated.metadata['last-modified']).toBe(later)
    expect(updated.architectures['aarch64']!.artifacts['metal']!.release).toBe('38.20230806.3.0')
    expect(updated.architectures['x86_64']).toEqual(target.architectures['x86_64'])
    expect(Object.keys(updated.architectures)).toEqual([...ARCHITECTURES].sort())
  })

  test('two releases of one architecture in a stream are refused', () => {
    const one = metaToRelease([buildMeta('x86_64')])
    expect(() => updateStream(null, [one, one], { now: NOW })).toThrow('Duplicate architecture x86_64')
  })

  test.each([
    ['another build', buildMeta('aarch64', { version: '38.20230806.3.0' }), /same release \(38.20230718.3.0 != 38/],
    ['another stream', buildMeta('aarch64', { stream: 'next' }), /same release \(stable != next\)/],
    ['other files', buildMeta('x86_64', { digests: { metal: 'b'.repeat(64) } }), /differing content.*'metal'/],
  ])('%s cannot be added to a release', (_, build, message) => {
    expect(() => metaToRelease([build], {}, metaToRelease([buildMeta('x86_64')]))).toThrow(message)
  })

  test('the same build may be added twice', () => {
    const once = metaToRelease([buildMeta('x86_64')])
    expect(metaToRelease([buildMeta('x86_64')], {}, once)).toEqual(once)
  })

  test.each([
    ['no architecture', { 'coreos-assembler.basearch': undefined }, /does not say coreos-assembler.basearch/],
    ['no stream', { 'coreos-assembler.container-config-git': undefined }, /does not say .*branch/],
    [
      'a file without format',
      { images: { metal: { path: 'metal.raw', sha256: 'a'.repeat(64) } } },
      /metal\.raw does not name its format/,
    ],
    [
      'two moving tags',
      { kubevirt: { image: 'q/k', digest: 'd', tags: ['a', 'b'] } },
      /multiple floating tags within: a, b/,
    ],
    ['no moving tag', { kubevirt: { image: 'q/k', digest: 'd', tags: [] } }, /failed to find floating tag/],
  ])('a build with %s is refused', (_, more, message) => {
    expect(() => metaToRelease([{ ...buildMeta('x86_64'), ...(more as object) }])).toThrow(message)
  })

  test('the index of a stream gets the release once', () => {
    const url = `${BASE}/stable/builds/38.20230718.3.0/release.json`
    const first = withRelease(null, release, url, NOW)
    expect(RELEASE_INDEX.problems(first)).toEqual([])
    expect(first.releases[0]!.commits).toHaveLength(4)
    expect(withRelease(first, release, url, NOW).releases).toHaveLength(1)
    const next = metaToRelease([buildMeta('x86_64', { version: '38.20230806.3.0' })])
    expect(withRelease(first, next, url, NOW).releases.map(({ version }) => version)).toEqual([
      '38.20230718.3.0',
      '38.20230806.3.0',
    ])
  })
})

describe('row 32: a base image and the image that nodes run', () => {
  const meta = buildMeta('x86_64', {
    more: {
      'base-oscontainer': { image: 'quay.io/os/rhel-coreos-base', digest: 'sha256:ba5e', tags: ['9.2'] },
      oscontainer: { image: 'quay.io/os/rhel-coreos:9', digest: 'sha256:c0de' },
    },
  })

  test('both pull specifications are by digest', () => {
    expect(osImages(meta)).toEqual({
      base: 'quay.io/os/rhel-coreos-base@sha256:ba5e',
      derived: 'quay.io/os/rhel-coreos@sha256:c0de',
    })
    expect(osImages(buildMeta('x86_64'))).toEqual({ base: null, derived: null })
  })

  test('the stream for the installer does not change', () => {
    const options = { now: NOW }
    expect(releaseToStream(metaToRelease([meta]), options)).toEqual(
      releaseToStream(metaToRelease([buildMeta('x86_64')]), options),
    )
  })
})

describe('row 12: build metadata has a schema', () => {
  test.each([
    [{ buildid: undefined }, 'it has no buildid'],
    [{ 'ostree-version': 4 }, 'ostree-version must be string'],
    [{ images: { metal: { path: 'x' } } }, 'images.metal has no sha256'],
    [{ images: { ostree: { path: 'x', sha256: '00' } } }, 'images.ostree.sha256 must match pattern'],
    [{ amis: [{ name: 'us-east-1' }] }, 'amis.0 has no hvm'],
  ])('%j violates the schema', (change, problem) => {
    const changed: unknown = JSON.parse(JSON.stringify({ ...buildMeta('x86_64'), ...change }))
    expect(BUILD_META.problems(changed).join('; ')).toContain(problem)
    expect(() => BUILD_META.check(changed, 'meta.json')).toThrow(/^meta\.json is not valid build metadata: /)
  })
  test('valid metadata is read unchanged', () => {
    const meta = buildMeta('s390x')
    expect(BUILD_META.read(JSON.stringify(meta), 'meta.json')).toEqual(meta)
    expect(() => BUILD_META.read('{', 'meta.json')).toThrow('meta.json is not JSON')
  })
})
