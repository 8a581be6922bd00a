import { createHash, randomBytes } from 'node:crypto'
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { documentText } from '../../../../coreos/index.js'
import { parsePlace } from '../../../../base/registry/index.js'
import { buildMeta } from '../../../kit/builds.js'
import { IRONSTAGE } from '../../../kit/commands/up-process.js'
import { images, putFiles } from '../../../kit/registry/images.js'
import { rhelStream } from '../../../kit/streams.js'
import { dockerRegistry } from '../../docker-registry.js'
import { debianProgram, succeeds, tool } from '../../peers.js'

const RHCOS = { name: 'rhcos', version: '10.2.20260715-0', stream: 'rhel-10.2' }
const USERS = { me: 'p:ss' }
/** Nothing listens there. */
const UNREACHABLE = '127.0.0.1:1'

let folder: string
const at = (name: string): string => join(folder, name)
beforeAll(async () => {
  await debianProgram('skopeo', 'skopeo')
  folder = await mkdtemp(join(tmpdir(), 'ironstage-skopeo-'))
  await writeFile(at('stream.json'), documentText(rhelStream({ name: 'rhel-10' })))
  for (const architecture of ['x86_64', 'aarch64'])
    await writeFile(at(`${architecture}.json`), documentText(buildMeta(architecture, RHCOS)))
  // Debian's containers-common has a policy; without recommended packages it may be missing.
  await writeFile(at('policy.json'), '{"default":[{"type":"insecureAcceptAnything"}]}')
})
afterAll(() => rm(folder, { recursive: true, force: true }))

const ironstage = (...argv: string[]) => succeeds(process.execPath, IRONSTAGE, ...argv)
const refused = (...argv: string[]) => tool(process.execPath, IRONSTAGE, ...argv)
const skopeo = (...argv: string[]) => succeeds('skopeo', '--policy', at('policy.json'), ...argv)
const json = async (...argv: string[]): Promise<unknown> => JSON.parse(await ironstage(...argv)) as unknown
const stream = async (): Promise<unknown> => JSON.parse(await readFile(at('stream.json'), 'utf8')) as unknown

/** Writes a release, and returns its digest. */
async function release(dest: string, architectures: readonly string[], ...argv: string[]): Promise<string> {
  const builds = architectures.flatMap((architecture) => ['--build', at(`${architecture}.json`)])
  const made = await ironstage(
    'release',
    'write',
    dest,
    '--version',
    '4.22.0',
    '--stream',
    at('stream.json'),
    ...builds,
    ...argv,
  )
  return made.trim().split('@')[1]!
}
const digestOf = (bytes: string) => `sha256:${createHash('sha256').update(bytes).digest('hex')}`

describe('a real registry without TLS', () => {
  test('takes a release for two architectures; skopeo reads it and copies it with its digests, and it is whole there', async () => {
    await using registry = await dockerRegistry()
    const { host } = registry
    const digest = await release(`${host}/ocp/release:1`, ['x86_64', 'aarch64'])
    const plain = ['--tls-verify=false']
    expect(digestOf(await skopeo('inspect', '--raw', ...plain, `docker://${host}/ocp/release:1`))).toBe(digest)
    for (const [go, name] of [
      ['arm64', 'linux/arm64'],
      ['amd64', 'linux/amd64'],
    ] as const) {
      const found = JSON.parse(
        await skopeo('--override-arch', go, 'inspect', ...plain, `docker://${host}/ocp/release:1`),
      ) as Record<string, unknown>
      expect(found).toMatchObject({
        Architecture: name.split('/')[1],
        Os: 'linux',
        Labels: { 'io.openshift.release': '4.22.0' },
      })
    }
    const keep = ['--all', '--preserve-digests', '--src-tls-verify=false']
    for (const tag of ['1', '1-machine-os-content']) {
      await skopeo(
        'copy',
        ...keep,
        '--dest-tls-verify=false',
        `docker://${host}/ocp/release:${tag}`,
        `docker://${host}/copied:${tag}`,
      )
      await skopeo('copy', ...keep, `docker://${host}/ocp/release:${tag}`, `oci:${at('copied')}:${tag}`)
    }
    for (const copy of [`${host}/copied:1`, `oci:${at('copied')}`, `oci:${at('copied')}:1`]) {
      expect(await json('release', 'info', copy, '--json')).toMatchObject({
        version: '4.22.0',
        architectures: ['aarch64', 'x86_64'],
      })
      expect(await json('stream', 'print', copy)).toEqual(await stream())
      expect(await json('boot-image', 'info', copy, '--json')).toMatchObject({
        architectures: { x86_64: { release: RHCOS.version }, aarch64: { release: RHCOS.version } },
      })
    }
    expect((await ironstage('release', 'info', `oci:${at('copied')}:1`, '--json')).includes(digest)).toBe(true)
  })

  test('takes what we wrote into an OCI layout by skopeo, under the digest that we said', async () => {
    await using registry = await dockerRegistry()
    const digest = await release(`oci:${at('layout')}:1`, ['x86_64', 'aarch64'])
    await skopeo(
      'copy',
      '--all',
      '--preserve-digests',
      '--dest-tls-verify=false',
      `oci:${at('layout')}:1`,
      `docker://${registry.host}/a:1`,
    )
    expect(await json('stream', 'print', `${registry.host}/a@${digest}`)).toEqual(await stream())
    expect(
      await release(`${registry.host}/b:1`, ['x86_64', 'aarch64'], '--component', `x=quay.io/x@${digest}`),
    ).not.toBe(digest)
  })

  test.each([
    ['docker-archive', (path: string) => `docker-archive:${path}.tar:release:1`, []],
    ['dir', (path: string) => `dir:${path}`, []],
    ['dir, packed with zstd', (path: string) => `dir:${path}`, ['--dest-compress', '--dest-compress-format', 'zstd']],
    ['dir, in Docker’s schema 2', (path: string) => `dir:${path}`, ['--format', 'v2s2']],
  ])('what skopeo pushes from a %s is read', async (name, place, options) => {
    await using registry = await dockerRegistry()
    const path = at(name.replaceAll(/\W+/g, '-'))
    await release(`oci:${path}-layout:1`, ['x86_64'])
    await skopeo('copy', ...options, `oci:${path}-layout:1`, place(path))
    await skopeo('copy', '--dest-tls-verify=false', place(path), `docker://${registry.host}/r:1`)
    expect(await json('stream', 'print', `${registry.host}/r:1`)).toEqual(await stream())
    const raw = JSON.parse(await skopeo('inspect', '--raw', '--tls-verify=false', `docker://${registry.host}/r:1`)) as {
      mediaType?: string
      layers: { mediaType: string }[]
    }
    if (/docker-archive|schema 2/.test(name))
      expect(raw.mediaType).toBe('application/vnd.docker.distribution.manifest.v2+json')
    if (name.includes('zstd')) expect(raw.layers[0]!.mediaType).toMatch(/zstd$/)
  })

  test('takes a large layer in chunks, and gives it back', async () => {
    await using registry = await dockerRegistry()
    const text = randomBytes(20 * 2 ** 20).toString('base64')
    const digest = await putFiles(`${registry.host}/large:1`, { 'a/large': text })
    await skopeo(
      'copy',
      '--preserve-digests',
      '--src-tls-verify=false',
      `docker://${registry.host}/large:1`,
      `oci:${at('large')}:1`,
    )
    const client = images()
    for (const place of [`${registry.host}/large@${digest}`, `oci:${at('large')}@${digest}`]) {
      const opened = await client.open(parsePlace(place))
      const files = await client.files(await opened.image(), { paths: ['a/large'] })
      expect(files.get('a/large')!.equals(Buffer.from(text))).toBe(true)
    }
    expect((await readdir(at('large/blobs/sha256'))).length).toBe(3)
  })

  test('an image that is not there', async () => {
    await using registry = await dockerRegistry()
    const { code, stderr } = await refused('release', 'info', `${registry.host}/none:1`)
    expect(code).toBe(1)
    expect(stderr).toMatch(/has no 127\.0\.0\.1:\d+\/none:1/)
  })
})

describe('a real registry with TLS and users', () => {
  test('takes the credentials that skopeo login wrote; others and none are refused', async () => {
    await using registry = await dockerRegistry({ users: USERS, tls: true })
    const { host, ca } = registry
    const authfile = at('auth.json')
    await skopeo('login', '--authfile', authfile, '--cert-dir', ca!.folder, '-u', 'me', '-p', USERS.me, host)
    const access = ['--authfile', authfile, '--image-ca', ca!.file]
    const digest = await release(`${host}/ocp/release:1`, ['x86_64'], ...access)
    const raw = await skopeo(
      'inspect',
      '--raw',
      '--authfile',
      authfile,
      '--cert-dir',
      ca!.folder,
      `docker://${host}/ocp/release:1`,
    )
    expect(digestOf(raw)).toBe(digest)
    expect(await json('stream', 'print', `${host}/ocp/release:1`, ...access)).toEqual(await stream())
    expect(
      await json('boot-image', 'generate', `${host}/ocp/release:1`, 'metal', '-a', 'x86_64', ...access),
    ).toMatchObject({ release: RHCOS.version })

    const empty = at('empty.json')
    await writeFile(empty, '{}')
    const without = await refused(
      'release',
      'info',
      `${host}/ocp/release:1`,
      '--authfile',
      empty,
      '--image-ca',
      ca!.file,
    )
    expect(without).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/refuses access to ocp\/release without credentials/) as string,
    })
    const wrong = at('wrong.json')
    await writeFile(
      wrong,
      JSON.stringify({ auths: { [host]: { auth: Buffer.from('me:wrong-one').toString('base64') } } }),
    )
    const other = await refused('release', 'info', `${host}/ocp/release:1`, '--authfile', wrong, '--image-ca', ca!.file)
    expect(other.stderr).toMatch(/refuses access to ocp\/release with the credentials of the auth file/)
    expect(other.stderr).not.toContain('wrong-one')
    const untrusted = await refused('release', 'info', `${host}/ocp/release:1`, '--authfile', authfile)
    expect(untrusted.stderr).toMatch(/certificate .* is signed by an unknown authority/)
  })
})

test.each([
  [
    'an ImageContentSourcePolicy',
    (mirror: string) =>
      `kind: ImageContentSourcePolicy\nspec: {repositoryDigestMirrors: [{source: "${UNREACHABLE}/ocp", mirrors: ["${mirror}/ocp"]}]}\n`,
  ],
  [
    'an ImageDigestMirrorSet',
    (mirror: string) =>
      `kind: ImageDigestMirrorSet\nspec: {imageDigestMirrors: [{source: "${UNREACHABLE}", mirrors: ["${UNREACHABLE}/none", "${mirror}"], mirrorSourcePolicy: NeverContactSource}]}\n`,
  ],
  [
    'a registries.conf that skopeo takes too',
    (mirror: string) =>
      `[[registry]]\nlocation = "${UNREACHABLE}/ocp"\ninsecure = true\nmirror-by-digest-only = true\n[[registry.mirror]]\nlocation = "${mirror}/ocp"\ninsecure = true\n`,
  ],
])('with %s a release is pulled from the mirror while its source cannot be reached', async (name, text) => {
  await using mirror = await dockerRegistry()
  await release(`oci:${at('named')}:1`, ['x86_64'], '--repository', `${UNREACHABLE}/ocp`)
  for (const tag of ['1', '1-machine-os-content'])
    await skopeo(
      'copy',
      '--all',
      '--preserve-digests',
      '--dest-tls-verify=false',
      `oci:${at('named')}:${tag}`,
      `docker://${mirror.host}/ocp:${tag}`,
    )
  const digest = digestOf(await skopeo('inspect', '--raw', '--tls-verify=false', `docker://${mirror.host}/ocp:1`))
  const path = at('mirrors')
  await writeFile(path, text(mirror.host))
  const named = `${UNREACHABLE}/ocp@${digest}`
  expect(await json('boot-image', 'info', named, '--json', '--mirrors', path)).toMatchObject({
    architectures: { x86_64: { release: RHCOS.version } },
  })
  expect(await json('release', 'info', named, '--json', '--mirrors', path)).toMatchObject({ pullspec: named })
  expect((await refused('release', 'info', named)).stderr).toMatch(/127\.0\.0\.1:1 cannot be reached/)
  if (!name.includes('skopeo')) return
  const raw = await skopeo('--registries-conf', path, 'inspect', '--raw', '--tls-verify=false', `docker://${named}`)
  expect(digestOf(raw)).toBe(digest)
})
