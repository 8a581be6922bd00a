import { expect, test } from 'vitest'
import { VirtualClock } from '../../../base/runtime/index.js'
import { digestOf, hexOf, layer, MANIFEST, putDocument, putIndex } from '../../../test/kit/registry/disk-artifacts.js'
import {
  registryServer,
  type RegistryServerHandle,
  type RegistryServerOptions,
} from '../../../test/kit/registry/registry-server.js'
import { identifyImage } from './container-image.js'

interface Asking {
  reference: string
  downloadSource?: string
  architecture?: string
  account?: { username: string; password: string }
  permitsHttp?: boolean
}

const ask = ({ reference, downloadSource = 'http', architecture, account, permitsHttp = true }: Asking) => {
  const clock = new VirtualClock()
  return identifyImage(
    { href: `oci://${reference}`, account, downloadSource, architecture },
    { clock, http: { clock }, permitsHttp, authenticationFile: null, signal: new AbortController().signal },
  )
}

async function withRegistry(options: RegistryServerOptions, use: (registry: RegistryServerHandle) => Promise<void>) {
  await using registry = await registryServer(options)
  await use(registry)
}

test('the best format of the node’s architecture is chosen, another one where the conductor downloads it', () =>
  withRegistry({}, async (registry) => {
    const title = { annotations: { 'org.opencontainers.image.title': 'disk.raw.zst' } }
    const digests = putIndex(registry, 'org/disk', [
      { disktype: 'raw', architecture: 'arm64' },
      { disktype: 'qcow2', architecture: 'amd64', layers: [layer('of qcow2')] },
      { disktype: 'hyperv', architecture: 'amd64' },
      { disktype: 'applehv', architecture: 'x86_64', layers: [layer('of raw', 'application/zstd', title)] },
    ])
    const reference = `${registry.host}/org/disk:latest`
    expect(await ask({ reference, architecture: 'x86_64' })).toEqual({
      image_url: `http://${registry.host}/v2/org/disk/blobs/${digestOf('of raw')}`,
      image_size: 6,
      image_filename: 'disk.raw.zst',
      image_checksum: hexOf('of raw'),
      image_container_manifest_digest: digests[3],
      image_media_type: 'application/zstd',
      image_compression_type: 'zstd',
      image_disk_format: 'raw',
      image_request_authorization_secret: null,
      oci_image_manifest_url: `oci://${registry.host}/org/disk@${digests[3]}`,
    })
    expect(await ask({ reference, architecture: 'x86_64', downloadSource: 'local' })).toMatchObject({
      image_disk_format: 'qcow2',
      image_checksum: hexOf('of qcow2'),
      image_filename: null,
      image_compression_type: null,
    })
    expect(await ask({ reference, architecture: 's390x' })).toEqual({})
    await expect(ask({ reference, downloadSource: 'swift' })).rejects.toThrow(
      'An image_download_source of swift is incompatible with retrieval of artifacts from an OCI container registry.',
    )
  }))

test('an index without kinds of disks, and a container of its own, can be booted', () =>
  withRegistry({}, async (registry) => {
    const layers = [layer('a'), layer('bc')]
    const digests = putIndex(registry, 'os', [{ architecture: 'amd64', layers }], 'both')
    const config = { mediaType: 'application/vnd.oci.image.config.v1+json', digest: 'sha256:1', size: 7 }
    const alone = putDocument(registry, { name: 'os', type: MANIFEST, document: { config, layers }, tag: 'alone' })
    const reference = `${registry.host}/os`
    expect(await ask({ reference: `${reference}:both` })).toMatchObject({
      image_disk_format: 'bootc',
      image_url: `oci://${reference}:both`,
      image_size: 3,
      oci_image_manifest_url: `oci://${reference}@${digests[0]}`,
    })
    expect(await ask({ reference: `${reference}:alone` })).toMatchObject({ image_disk_format: 'bootc', image_size: 10 })
    expect(await ask({ reference: `${reference}@${alone}` })).toMatchObject({
      image_disk_format: 'bootc',
      image_checksum: alone.slice(7),
    })
  }))

test('an artifact by its digest has a format that nobody says', () =>
  withRegistry({}, async (registry) => {
    const digest = putDocument(registry, {
      name: 'disk',
      type: MANIFEST,
      document: { artifactType: 'application/x-disk', layers: [layer('bytes')] },
    })
    expect(await ask({ reference: `${registry.host}/disk@${digest}` })).toEqual({
      oci_image_manifest_url: `oci://${registry.host}/disk@${digest}`,
      image_checksum: hexOf('bytes'),
      image_url: `http://${registry.host}/v2/disk/blobs/${digestOf('bytes')}`,
      image_disk_format: 'unknown',
      image_request_authorization_secret: null,
    })
  }))

test('an artifact of several layers is none for a disk', () =>
  withRegistry({}, async (registry) => {
    putIndex(registry, 'two', [{ disktype: 'raw', layers: [layer('a'), layer('b')] }])
    expect(await ask({ reference: `${registry.host}/two` })).toEqual({})
  }))

test('the tags are read page by page, and a tag that is missing is told with those that are there', () =>
  withRegistry({}, async (registry) => {
    for (const tag of ['1', '2', '3', '4', '5']) putIndex(registry, 'many', [{ disktype: 'raw' }], tag)
    expect(await ask({ reference: `${registry.host}/many:5` })).toMatchObject({ image_disk_format: 'raw' })
    await expect(ask({ reference: `${registry.host}/many:6` })).rejects.toThrow(
      `Image tag oci://${registry.host}/many:6 could not be found, available tags are 1, 2, 3, 4, 5`,
    )
    await expect(ask({ reference: `${registry.host}/other` })).rejects.toThrow(
      `404 Client Error: Not Found for url: http://${registry.host}/v2/other/tags/list`,
    )
  }))

test.each(['basic', 'bearer'] as const)('a registry that asks for a password by %s', (auth) =>
  withRegistry({ auth, users: { me: 'p:ss' } }, async (registry) => {
    putIndex(registry, 'secret', [{ disktype: 'raw' }])
    const reference = `${registry.host}/secret:latest`
    const found = await ask({ reference, account: { username: 'me', password: 'p:ss' } })
    expect(found['image_request_authorization_secret']).toMatch(auth === 'basic' ? /^Basic \S+$/ : /^Bearer \S+$/)
    await expect(ask({ reference })).rejects.toThrow(
      `The requested image http://${registry.host}/v2/secret/tags/list requires authentication which has not been provided. Unable to proceed.`,
    )
    expect(registry.seen.filter(({ url }) => url.startsWith('/v2/secret/tags')).length).toBe(3)
  }),
)

test('a registry without TLS is asked only where the operator permits it', () =>
  withRegistry({}, async (registry) => {
    putIndex(registry, 'plain', [{ disktype: 'raw' }])
    await expect(ask({ reference: `${registry.host}/plain`, permitsHttp: false })).rejects.toThrow('does not speak TLS')
    expect(registry.seen).toEqual([])
  }))

test('a busy registry is asked five times, one that fails once', () =>
  withRegistry(
    {
      fault: (request, response) => {
        const status = request.url!.includes('/busy/') ? 429 : 503
        response.writeHead(status).end()
        return true
      },
    },
    async (registry) => {
      const clock = new VirtualClock()
      const asked = (name: string) => registry.seen.filter(({ url }) => url.includes(`/${name}/`)).length
      const request = (name: string) =>
        identifyImage(
          {
            href: `oci://${registry.host}/${name}/x`,
            account: undefined,
            downloadSource: 'http',
            architecture: undefined,
          },
          { clock, http: { clock }, permitsHttp: true, authenticationFile: null, signal: new AbortController().signal },
        )
      await expect(clock.until(request('busy'))).rejects.toThrow('the rate limit has been exceeded')
      expect(asked('busy')).toBe(5)
      await expect(request('broken')).rejects.toThrow('Resource temporarily unavailable, please retry.')
      expect(asked('broken')).toBe(1)
    },
  ))

test.each([
  ['sha256', 'Lacking required digest value'],
  ['sha256:12', 'Manifest digest length incorrect and does not match the expected lenngth of the algorithm.'],
  ['md5:12', 'was not specific'],
])('the digest %s is refused before the registry is asked', (digest, sentence) =>
  withRegistry({}, async (registry) => {
    await expect(ask({ reference: `${registry.host}/a@${digest}` })).rejects.toThrow(sentence)
    expect(registry.seen).toEqual([])
  }),
)

test('a manifest that is another than its digest says is refused', () =>
  withRegistry({}, async (registry) => {
    const digest = putDocument(registry, { name: 'a', type: MANIFEST, document: { layers: [layer('a')] } })
    registry.repositories.get('a')!.manifests.get(digest)!.bytes = Buffer.from('{}')
    await expect(ask({ reference: `${registry.host}/a@${digest}` })).rejects.toThrow(
      'The supplied image checksum is invalid or does not match.',
    )
  }))

test('a list of tags that does not end is an error, which does not show the password of a reference', () => {
  const endless: RegistryServerOptions['fault'] = (request, response) => {
    if (!request.url!.includes('/tags/list')) return false
    response.setHeader('link', `<${request.url!}>; rel="next"`)
    response.end('{"tags": ["1"]}')
    return true
  }
  return withRegistry({ fault: endless }, async (registry) => {
    await expect(ask({ reference: `me:secret@${registry.host}/a` })).rejects.toThrow(
      /^The list of tags of oci:\/\/(?!.*secret).*\/a does not end\.$/,
    )
  })
})

test.each([
  ['cut off', '{"tags": ['],
  ['of another kind', '[1, 2]'],
])('an answer that is %s is an error', (_, text) =>
  withRegistry(
    {
      fault: (_request, response) => {
        response.end(text)
        return true
      },
    },
    async (registry) => {
      await expect(ask({ reference: `${registry.host}/a` })).rejects.toThrow(/JSON|no object/)
    },
  ),
)
