import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises'
import { gunzipSync } from 'node:zlib'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { bootImagesText, type StreamMetadata } from '../../coreos/index.js'
import { putFiles } from '../kit/registry/images.js'
import { registryServer } from '../kit/registry/registry-server.js'
import { DIGEST, releaseParts, RHCOS, type ReleaseParts } from '../kit/registry/release-parts.js'
import { rhelStream } from '../kit/streams.js'

let parts: ReleaseParts
beforeEach(async () => void (parts = await releaseParts()))
afterEach(() => parts[Symbol.asyncDispose]())

const at: ReleaseParts['at'] = (name) => parts.at(name)
const ran: ReleaseParts['ran'] = (...argv) => parts.ran(...argv)
const json: ReleaseParts['json'] = (...argv) => parts.json(...argv)
const write: ReleaseParts['write'] = (dest, ...argv) => parts.write(dest, ...argv)

describe('release write', () => {
  test('makes a release in an OCI layout, with machine-os-content beside it, and the same one again', async () => {
    const manifest = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'n' } }
    await mkdir(at('manifests'))
    await writeFile(at('manifests/0000_10_x.json'), JSON.stringify(manifest))
    const all = [
      ...parts.stream,
      ...parts.builds,
      '--manifest',
      at('manifests'),
      '--component',
      `cli=quay.io/a@${DIGEST}`,
    ]
    const made = await write(`oci:${at('one')}`, ...all)
    expect(made).toMatchObject({ code: 0, stderr: '' })
    const digest = made.stdout.trim().split('@')[1]!
    expect(digest).toMatch(/^sha256:[a-f\d]{64}$/)
    expect((await write(`oci:${at('other')}`, ...all)).stdout).toContain(digest)
    expect(await json('release', 'info', `oci:${at('one')}`, '--json')).toEqual({
      pullspec: `oci:${at('one')}@${digest}`,
      version: '4.22.0',
      created: '2026-07-16T23:16:30Z',
      architectures: ['aarch64', 'x86_64'],
      baseImageDigest: null,
      previous: [],
      components: {
        cli: `quay.io/a@${DIGEST}`,
        'machine-os-content': expect.stringMatching(/^localhost\/release@sha256:/) as string,
      },
      manifests: ['0000_10_x.json', '0000_50_installer_coreos-bootimages.yaml'],
    })
    expect((await ran('release', 'info', `oci:${at('one')}:4.22.0`)).stdout).toMatch(/^release {8}4\.22\.0\n/)
  })

  test('pushes to a registry, where every command finds the stream and the builds', async () => {
    await using registry = await registryServer()
    const { stdout } = await write(
      `${registry.host}/ocp/release`,
      ...parts.stream,
      ...parts.builds,
      '--stream',
      at('older.json'),
    )
    const pullspec = stdout.trim()
    expect([...registry.repositories.get('ocp/release')!.tags.keys()].sort()).toEqual([
      '4.22.0',
      '4.22.0-machine-os-content',
    ])
    for (const named of [
      pullspec,
      `${registry.host}/ocp/release:4.22.0`,
      `docker://${registry.host}/ocp/release:4.22.0`,
    ]) {
      expect(await json('stream', 'print', named)).toEqual(JSON.parse(await readFile(at('stream.json'), 'utf8')))
      expect(await json('stream', 'print', `${named}#rhel-9`)).toMatchObject({ stream: 'rhel-9' })
    }
    expect(await json('boot-image', 'generate', pullspec, 'aws', '-a', 'aarch64')).toEqual({
      amis: { 'us-east-1': { hvm: 'ami-aar1' }, 'eu-west-1': { hvm: 'ami-aar2' } },
    })
    expect(await json('boot-image', 'generate', pullspec, 'metal', '-a', 'x86_64')).toMatchObject({
      release: RHCOS.version,
      format: 'raw.gz',
    })
    expect(await json('boot-image', 'info', pullspec, '--json')).toMatchObject({
      architectures: { x86_64: { release: RHCOS.version }, aarch64: { release: RHCOS.version } },
      drift: [],
    })
    expect(await ran('stream', 'diff', pullspec, at('stream.json'))).toMatchObject({ code: 0 })
    const { stdout: found } = await ran('stream', 'lookup', pullspec, '-f', 'iso', '--field', 'release')
    expect(found).toBe(`${RHCOS.version}\n`)
  })

  test('takes the manifests of components as oc adm release new does: the boot images of the installer', async () => {
    await using registry = await registryServer()
    const older: StreamMetadata = rhelStream({ name: 'rhel-10' })
    const map = bootImagesText({ releaseVersion: '0.0.1-snapshot', stream: older, streams: null })
    const references = {
      kind: 'ImageStream',
      apiVersion: 'image.openshift.io/v1',
      metadata: { name: 'x' },
      spec: { tags: [{ name: 'cli', from: { kind: 'DockerImage', name: 'placeholder/cli:v1' } }] },
    }
    const deployment =
      'kind: Deployment\nmetadata: {name: d}\nspec: {image: placeholder/cli:v1, other: placeholder/cli:v11}\n'
    const digest = await putFiles(
      `${registry.host}/installer:1`,
      {
        'manifests/coreos-bootimages.yaml': map,
        'manifests/image-references': JSON.stringify(references),
        'manifests/0000_30_d.yaml': deployment,
      },
      { labels: { 'io.openshift.release.operator': 'true' } },
    )
    const installer = `${registry.host}/installer@${digest}`
    const dest = `${registry.host}/release:1`
    const cli = ['--component', `cli=quay.io/a@${DIGEST}`]
    expect(await write(dest, '--operator', `installer=${installer}`, ...cli)).toMatchObject({ code: 0 })
    expect(await json('release', 'info', dest, '--json')).toMatchObject({
      components: { cli: `quay.io/a@${DIGEST}`, installer },
      manifests: ['0000_30_d.yaml', '0000_50_installer_coreos-bootimages.yaml'],
    })
    expect(await json('stream', 'print', dest)).toEqual(older)
    const layers = [...registry.repositories.get('release')!.blobs.values()].map((bytes) => archiveText(bytes)).join('')
    expect(layers).toContain(`image: quay.io/a@${DIGEST}, other: placeholder/cli:v11`)
    expect(layers).toContain('releaseVersion: 4.22.0')
    expect((await write(dest, '--operator', `installer=${installer}`)).stderr).toMatch(
      /name the component cli, which the release does not have/,
    )
    const plain = await putFiles(`${registry.host}/plain:1`, { 'manifests/a.yaml': 'kind: A' })
    expect((await write(dest, '--operator', `plain=${registry.host}/plain@${plain}`)).stderr).toMatch(
      /no label io\.openshift\.release\.operator=true/,
    )
  })

  test.each([
    ['no version', ['--version', '4.22'], /4\.22 is not a version of a release/],
    ['a component by tag', ['--component', 'cli=quay.io/a:1'], /named by a tag, which may move/],
    ['a component without a name', ['--component', 'quay.io/a'], /not NAME=PULLSPEC/],
    [
      'a component twice',
      ['--component', `a=quay.io/a@${DIGEST}`, '--component', `a=quay.io/b@${DIGEST}`],
      /component a occurs twice/,
    ],
    [
      'machine-os-content twice',
      ['--build', 'x86_64.json', '--component', `machine-os-content=quay.io/b@${DIGEST}`],
      /leave it out: it is made of --build/,
    ],
    [
      'two builds of an architecture',
      ['--build', 'x86_64.json', '--build', 'x86_64.json'],
      /two builds are for x86_64/,
    ],
    ['a stream twice', ['--stream', 'stream.json', '--stream', 'stream.json'], /two streams are called rhel-10/],
    [
      'builds of another stream',
      ['--build', 'x86_64.json', '--stream', 'older.json'],
      /the builds are not those of the stream: architectures\.x86_64/,
    ],
    [
      'two boot images',
      ['--stream', 'stream.json', '--manifest', 'map.yaml'],
      /has the ConfigMap coreos-bootimages, which --stream also creates/,
    ],
    [
      'boot images of another release',
      ['--manifest', 'map.yaml'],
      /map\.yaml is of the release 4\.21\.0, not of 4\.22\.0/,
    ],
    ['a manifest that is none', ['--manifest', 'x86_64.json'], /an object without a kind/],
    ['a manifest that is not YAML', ['--manifest', 'bad.yaml'], /neither YAML nor JSON/],
    ['a manifest that is missing', ['--manifest', 'none.yaml'], /none\.yaml cannot be read/],
    ['metadata of another kind', ['--build', 'stream.json'], /not valid build metadata/],
  ])('%s is refused before anything is written', async (_, argv, message) => {
    await writeFile(at('bad.yaml'), 'a: [')
    await writeFile(at('map.yaml'), bootImagesText({ releaseVersion: '4.21.0', stream: rhelStream(), streams: null }))
    const refused = await write(
      `oci:${at('new')}`,
      ...argv.map((one) => (/^[\w.]+\.(json|yaml)$/.test(one) ? at(one) : one)),
    )
    // Metadata that is read has the same exit code in every command.
    expect(refused).toMatchObject({ code: /build metadata/.test(message.source) ? 1 : 2, stdout: '' })
    expect(refused.stderr).toMatch(message)
    expect(await readdir(parts.path)).not.toContain('new')
  })

  test('a destination by digest, and one that is invalid, are refused', async () => {
    expect((await write(`quay.io/a@${DIGEST}`)).stderr).toMatch(/names a digest/)
    expect((await write('Upper/Case:1')).stderr).toMatch(/names no image/)
  })

  test('a push that fails leaves no tag', async () => {
    let times = 0
    await using registry = await registryServer({
      fault: (request, response) => {
        if (request.method !== 'PUT' || ++times < 4) return false
        response.writeHead(500).end()
        return true
      },
    })
    const failed = await write(`${registry.host}/r:1`, ...parts.stream, ...parts.builds)
    expect(failed.code).toBe(1)
    expect(failed.stderr).toMatch(/answers 500/)
    expect([...registry.repositories.get('r')!.tags.keys()]).not.toContain('1')
  })
})

const archiveText = (bytes: Buffer): string => (bytes[0] === 0x1f ? gunzipSync(bytes).toString() : '')
