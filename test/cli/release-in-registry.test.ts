import { createHash } from 'node:crypto'
import { readFile, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { selfSigned } from '../../agent/index.js'
import { seededRandom, systemClock } from '../../base/runtime/index.js'
import { putFiles } from '../kit/registry/images.js'
import { registryServer } from '../kit/registry/registry-server.js'
import { releaseParts, RHCOS, type ReleaseParts } from '../kit/registry/release-parts.js'

let parts: ReleaseParts
beforeEach(async () => void (parts = await releaseParts()))
afterEach(() => parts[Symbol.asyncDispose]())

const at: ReleaseParts['at'] = (name) => parts.at(name)
const ran: ReleaseParts['ran'] = (...argv) => parts.ran(...argv)
const json: ReleaseParts['json'] = (...argv) => parts.json(...argv)
const write: ReleaseParts['write'] = (dest, ...argv) => parts.write(dest, ...argv)

describe('a release', () => {
  test('copied elsewhere has its components beside it', async () => {
    await using registry = await registryServer()
    await write(`${registry.host}/a:1`, ...parts.builds)
    const { stdout } = await write(`${registry.host}/a:1`, ...parts.builds)
    const [, digest] = stdout.trim().split('@')
    // As a mirror of another name that holds the same blobs.
    await using mirror = await registryServer()
    mirror.repositories.set('elsewhere', registry.repositories.get('a')!)
    await registry[Symbol.asyncDispose]()
    expect(await json('boot-image', 'info', `${mirror.host}/elsewhere@${digest}`, '--json')).toMatchObject({
      architectures: { x86_64: { release: RHCOS.version } },
    })
  })

  test('that is an ordinary image, or has no boot images, is refused with what to name', async () => {
    await using registry = await registryServer()
    await putFiles(`${registry.host}/plain:1`, { a: 'b' })
    const plain = await ran('stream', 'print', `${registry.host}/plain:1`)
    expect(plain.stderr).toMatch(/is not a release: it has no release-manifests\/image-references/)
    await write(`${registry.host}/empty:1`)
    const empty = await ran('boot-image', 'info', `${registry.host}/empty:1`)
    expect(empty).toMatchObject({ code: 2 })
    expect(empty.stderr).toMatch(/has no boot image metadata/)
  })

  test('--offline asks no registry', async () => {
    expect((await ran('stream', 'print', 'quay.io/a:1', '--offline')).stderr).toMatch(/--offline forbids/)
  })

  test('is pulled through mirrors, with the credentials of an auth file, while its registry is unreachable', async () => {
    await using registry = await registryServer({ auth: 'bearer', users: { me: 'secret' } })
    await writeFile(
      at('auth.json'),
      JSON.stringify({ auths: { [registry.host]: { auth: Buffer.from('me:secret').toString('base64') } } }),
    )
    const auth = ['--authfile', at('auth.json')]
    const { stdout } = await write(`${registry.host}/mirror/ocp:1`, ...parts.stream, ...auth)
    const [, digest] = stdout.trim().split('@')
    await writeFile(
      at('mirrors.yaml'),
      `kind: ImageContentSourcePolicy\nspec:\n  repositoryDigestMirrors: [{source: "release.invalid/ocp", mirrors: ["${registry.host}/mirror/ocp"]}]\n`,
    )
    const found = await json(
      'stream',
      'print',
      `release.invalid/ocp@${digest}`,
      '--mirrors',
      at('mirrors.yaml'),
      ...auth,
    )
    expect(found).toEqual(JSON.parse(await readFile(at('stream.json'), 'utf8')))
  })

  test('a certificate that is not believed is refused, also with --insecure', async () => {
    const identity = await selfSigned({
      hostname: 'registry',
      address: '127.0.0.1',
      random: seededRandom(1),
      clock: systemClock(),
    })
    await using registry = await registryServer({
      tls: { key: identity.key, cert: identity.certificate },
    })
    await writeFile(at('ca.pem'), identity.certificate)
    const dest = `${registry.host}/a:1`
    expect((await write(dest, '--insecure')).stderr).toMatch(
      /certificate of 127\.0\.0\.1:\d+ is signed by an unknown authority/,
    )
    expect(registry.seen).toEqual([])
    expect(await write(dest, '--image-ca', at('ca.pem'))).toMatchObject({ code: 0 })
  })

  test('machine-os build and deploy take the files of its stream', async () => {
    expect(
      await ran(
        'images',
        'make',
        '--version',
        '9.6.20260112-0',
        '-C',
        at('images'),
        '--base-url',
        'http://127.0.0.1:1/',
      ),
    ).toMatchObject({ code: 0 })
    const asked: string[] = []
    const server = createServer((request, response) => {
      asked.push(request.url ?? '')
      void readFile(join(at('images'), request.url ?? '')).then(
        (bytes) => response.end(bytes),
        () => response.writeHead(404).end(),
      )
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    try {
      const { port } = server.address() as AddressInfo
      const text = await readFile(at('images/stream.json'), 'utf8')
      await writeFile(at('images/stream.json'), text.replaceAll('http://127.0.0.1:1/', `http://127.0.0.1:${port}/`))
      expect(await write(`oci:${at('release')}`, '--stream', at('images/stream.json'))).toMatchObject({ code: 0 })
      const built = await ran('machine-os', 'build', at('os'), '-s', `oci:${at('release')}`, '-a', 'x86_64')
      expect(built).toMatchObject({ code: 0 })
      const iso = await readFile(at('os/coreos-x86_64.iso'))
      expect(await readFile(at('os/coreos-x86_64.iso.sha256'), 'utf8')).toBe(
        createHash('sha256').update(iso).digest('hex'),
      )
      const deployed = await ran('deploy', '--image', `stream:oci:${at('release')}`, '--json')
      expect(deployed.code).toBe(0)
      expect(asked).toContain('/rhcos-9.6.20260112-0-metal.x86_64.raw.gz')
    } finally {
      server.close()
    }
  }, 60_000)
})
