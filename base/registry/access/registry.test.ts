import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { parsePlace } from '../places/reference.js'
import { images, putFiles, storeLayers } from '../../../test/kit/registry/images.js'
import { registryServer, type RegistryServerHandle } from '../../../test/kit/registry/registry-server.js'
import type { Images } from '../images/open-images.js'

const FILES = { 'etc/a': 'A', 'etc/b': 'B' }
const users = { me: 'p:ss' }

let folder: string
beforeEach(async () => void (folder = await mkdtemp(join(tmpdir(), 'ironstage-registry-'))))
afterEach(() => rm(folder, { recursive: true, force: true }))

async function authFor(
  host: string,
  entry: unknown = { auth: Buffer.from('me:p:ss').toString('base64') },
): Promise<Images> {
  const file = join(folder, 'auth.json')
  await writeFile(file, JSON.stringify({ auths: { [host]: entry } }))
  return images({ auth: { named: file, usual: [] } })
}
async function read(place: string, client = images()): Promise<Record<string, string>> {
  const opened = await client.open(parsePlace(place))
  const files = await client.files(await opened.image(), { paths: Object.keys(FILES) })
  return Object.fromEntries([...files].map(([path, bytes]) => [path, bytes.toString()]))
}

describe('an image that was pushed', () => {
  test('is pulled by tag and by digest', async () => {
    await using registry = await registryServer()
    const digest = await putFiles(`${registry.host}/a/b:1`, FILES)
    expect(await read(`${registry.host}/a/b:1`)).toEqual(FILES)
    expect(await read(`${registry.host}/a/b@${digest}`)).toEqual(FILES)
    const opened = await images().open(parsePlace(`${registry.host}/a/b:1`))
    expect(opened).toMatchObject({ pullspec: `${registry.host}/a/b@${digest}`, digest, architectures: null })
  })

  test('a blob that is there is not uploaded again', async () => {
    await using registry = await registryServer()
    await putFiles(`${registry.host}/a:1`, FILES)
    registry.seen.length = 0
    await putFiles(`${registry.host}/a:2`, FILES)
    expect(registry.seen.filter(({ method }) => method === 'POST')).toEqual([])
    expect([...registry.repositories.get('a')!.tags.keys()]).toEqual(['1', '2'])
  })

  test('of several architectures has one image for each', async () => {
    await using registry = await registryServer()
    await putFiles(`${registry.host}/a:1`, FILES, { architectures: ['x86_64', 'aarch64'], labels: { it: 'is' } })
    const opened = await images().open(parsePlace(`${registry.host}/a:1`))
    expect(opened.architectures).toEqual(['aarch64', 'x86_64'])
    expect(await opened.image('aarch64')).toMatchObject({ architecture: 'aarch64', labels: { it: 'is' } })
    expect(await opened.image('amd64')).toMatchObject({ architecture: 'x86_64' })
    await expect(opened.image('s390x')).rejects.toMatchObject({
      code: 'image-platform',
      remedy: 'it has images for aarch64, x86_64',
    })
  })

  test('a large blob goes in chunks, and comes back whole', async () => {
    await using registry = await registryServer()
    // Random text, so that gzip leaves it large.
    const text = Array.from({ length: 900_000 }, (_, index) => ((index * 2_654_435_761) % 2 ** 32).toString(36)).join(
      '',
    )
    const many = Array.from({ length: 3 }, (_, index) => [`f${index}`, `${index}${text.slice(index * 997)}${text}`])
    await putFiles(`${registry.host}/a:1`, Object.fromEntries(many) as Record<string, string>)
    expect(registry.seen.filter(({ method }) => method === 'PATCH').length).toBeGreaterThan(1)
    const client = images()
    const opened = await client.open(parsePlace(`${registry.host}/a:1`))
    const files = await client.files(await opened.image(), { paths: ['f2'] })
    expect(files.get('f2')!.toString()).toBe(many[2]![1])
  })
})

describe('access', () => {
  test('with a password', async () => {
    await using registry = await registryServer({ auth: 'basic', users })
    const client = await authFor(registry.host)
    await putFiles(`${registry.host}/a:1`, FILES, { with: client })
    expect(await read(`${registry.host}/a:1`, client)).toEqual(FILES)
    await expect(read(`${registry.host}/a:1`)).rejects.toMatchObject({
      code: 'registry-unauthorized',
      message: `the registry ${registry.host} refuses access to a without credentials`,
    })
  })

  test('with a token, which is requested once for each kind of work', async () => {
    await using registry = await registryServer({ auth: 'bearer', users })
    const client = await authFor(registry.host)
    await putFiles(`${registry.host}/a:1`, FILES, { with: client })
    expect(await read(`${registry.host}/a:1`, client)).toEqual(FILES)
    expect([...registry.tokens.values()]).toEqual(['repository:a:pull,push', 'repository:a:pull'])
    // The password is for the token server alone.
    expect(
      registry.seen.filter(({ url, authorization }) => url.startsWith('/v2/') && authorization?.startsWith('Basic')),
    ).toEqual([])
  })

  test('with a refresh token', async () => {
    await using registry = await registryServer({ auth: 'bearer', users: { me: 'refresh' } })
    const client = await authFor(registry.host, { identitytoken: 'refresh' })
    await putFiles(`${registry.host}/a:1`, FILES, { with: client })
    expect(registry.seen).toContainEqual({ method: 'POST', url: '/token', authorization: undefined })
  })

  test('without credentials where anyone may pull, not push', async () => {
    await using registry = await registryServer({ auth: 'bearer', users, anonymousPull: true })
    await putFiles(`${registry.host}/a:1`, FILES, { with: await authFor(registry.host) })
    expect(await read(`${registry.host}/a:1`)).toEqual(FILES)
    await expect(putFiles(`${registry.host}/a:2`, FILES)).rejects.toMatchObject({ code: 'registry-unauthorized' })
    expect(registry.repositories.get('a')!.tags.has('2')).toBe(false)
  })

  test('a token that has expired is renewed', async () => {
    await using registry = await registryServer({ auth: 'bearer', users })
    const client = await authFor(registry.host)
    await putFiles(`${registry.host}/a:1`, FILES, { with: client })
    await read(`${registry.host}/a:1`, client)
    registry.tokens.clear()
    expect(await read(`${registry.host}/a:1`, client)).toEqual(FILES)
  })

  test('a refused password is heard of, and never shown', async () => {
    for (const auth of ['basic', 'bearer'] as const) {
      await using registry = await registryServer({ auth, users: { me: 'another' } })
      const failure = await read(`${registry.host}/a:1`, await authFor(registry.host)).catch((error: unknown) => error)
      expect(failure).toMatchObject({ code: 'registry-unauthorized' })
      expect(JSON.stringify(failure) + String(failure)).not.toMatch(/p:ss|bWU6cDpzcw/)
    }
  })

  test('credentials that a helper has are missing, and the message says so', async () => {
    await using registry = await registryServer({ auth: 'basic', users })
    const file = join(folder, 'auth.json')
    await writeFile(file, JSON.stringify({ credHelpers: { [registry.host]: 'desktop' } }))
    await expect(read(`${registry.host}/a:1`, images({ auth: { named: file, usual: [] } }))).rejects.toThrow(
      /auth\.json leaves them to the credential helper desktop, which is not run here/,
    )
  })
})

/** A registry with an image of its own, one of whose answers is another. */
async function strange(
  fault: (
    path: string,
  ) => { status?: number; headers?: Record<string, string>; body?: string | Buffer; endless?: boolean } | undefined,
): Promise<RegistryServerHandle> {
  const registry = await registryServer({
    fault: (request, response) => {
      const answer = fault(request.url ?? '')
      if (!answer) return false
      response.writeHead(answer.status ?? 200, answer.headers)
      if (answer.endless) {
        const more = () => {
          while (!response.destroyed && response.write(Buffer.alloc(65_536)));
          if (!response.destroyed) response.once('drain', more)
        }
        more()
      } else response.end(answer.body)
      return true
    },
  })
  storeLayers(registry, 'a', '1', [{ files: FILES }])
  return registry
}

describe('a registry that', () => {
  const isManifest = (path: string) => path.includes('/manifests/')
  const isBlob = (path: string) => path.includes('/blobs/')

  test.each([
    ['sends another blob', (path: string) => (isBlob(path) ? { body: 'other' } : undefined), 'image-altered'],
    ['sends a blob without end', (path: string) => (isBlob(path) ? { endless: true } : undefined), 'image-altered'],
    [
      'sends a manifest without end',
      (path: string) => (isManifest(path) ? { endless: true } : undefined),
      'registry-protocol',
    ],
    [
      'names another digest than that of its manifest',
      (path: string) =>
        isManifest(path) ? { headers: { 'docker-content-digest': `sha256:${'0'.repeat(64)}` }, body: '{}' } : undefined,
      'image-altered',
    ],
    ['sends no JSON', (path: string) => (isManifest(path) ? { body: '<html>' } : undefined), 'image-manifest'],
    [
      'sends a manifest in schema 1',
      (path: string) => (isManifest(path) ? { body: '{"schemaVersion":1}' } : undefined),
      'image-manifest',
    ],
    [
      'sends a manifest without sizes',
      (path: string) =>
        isManifest(path)
          ? {
              body: JSON.stringify({
                schemaVersion: 2,
                config: { mediaType: 'x', digest: `sha256:${'0'.repeat(64)}` },
                layers: [],
              }),
            }
          : undefined,
      'image-manifest',
    ],
    [
      'sends what is an image and an index',
      (path: string) => (isManifest(path) ? { body: '{"schemaVersion":2,"manifests":[],"layers":[]}' } : undefined),
      'image-manifest',
    ],
    ['is none', (path: string) => (path === '/v2/' ? { status: 404 } : undefined), 'registry-protocol'],
    [
      'asks for what is unknown',
      (path: string) => (path === '/v2/' ? { status: 401, headers: { 'www-authenticate': 'Negotiate' } } : undefined),
      'registry-protocol',
    ],
    [
      'answers 401 for ever',
      () => ({ status: 401, headers: { 'www-authenticate': 'Basic' } }),
      'registry-unauthorized',
    ],
    [
      'sends for tokens to a server without https that is not on loopback',
      () => ({ status: 401, headers: { 'www-authenticate': 'Bearer realm="http://tokens.example.org/"' } }),
      'registry-protocol',
    ],
    [
      'names no token server',
      () => ({ status: 401, headers: { 'www-authenticate': 'Bearer realm="x"' } }),
      'registry-protocol',
    ],
    [
      'says when it will answer, and that is too long',
      (path: string) => (isManifest(path) ? { status: 429, headers: { 'retry-after': '3600' } } : undefined),
      'registry-busy',
    ],
    [
      'answers 429 for ever',
      (path: string) => (isManifest(path) ? { status: 429, headers: { 'retry-after': '0' } } : undefined),
      'registry-busy',
    ],
    [
      'redirects without end',
      (path: string) => (isBlob(path) ? { status: 307, headers: { location: path } } : undefined),
      'registry-unreachable',
    ],
    [
      'redirects to http elsewhere',
      (path: string) => (isBlob(path) ? { status: 307, headers: { location: 'http://192.0.2.1/' } } : undefined),
      'registry-protocol',
    ],
    [
      'forbids',
      (path: string) =>
        isManifest(path)
          ? { status: 403, body: '{"errors":[{"code":"DENIED","message":"no\\u001b[31m"}]}' }
          : undefined,
      'registry-refused',
    ],
    ['has no such image', (path: string) => (isManifest(path) ? { status: 404 } : undefined), 'image-not-found'],
  ])('%s, gets an error with its code', async (_, fault, code) => {
    await using registry = await strange(fault as Parameters<typeof strange>[0])
    const client = await authFor(registry.host)
    const failure = (await read(`${registry.host}/a:1`, client).catch((error: unknown) => error)) as Error & {
      code: string
      remedy: string
    }
    expect(failure).toMatchObject({ name: 'UserError', code })
    expect(failure.message + failure.remedy).not.toMatch(/undefined|\[object|p:ss|\u001b/)
    expect(registry.seen.length).toBeLessThan(25)
  })

  test('is busy for a moment is called again', async () => {
    let times = 0
    await using registry = await strange((path) =>
      isManifest(path) && times++ < 2 ? { status: 429, headers: { 'retry-after': '0' } } : undefined,
    )
    expect(await read(`${registry.host}/a:1`)).toEqual(FILES)
  })

  test('fails for a moment is called again', async () => {
    let times = 0
    await using registry = await strange((path) => (isBlob(path) && times++ === 0 ? { status: 503 } : undefined))
    expect(await read(`${registry.host}/a:1`)).toEqual(FILES)
  })

  test('has a token server that redirects elsewhere: the password does not go along', async () => {
    const seen: (string | undefined)[] = []
    const elsewhere = createServer((request, response) => {
      seen.push(request.headers.authorization)
      response.end('{"token":"t"}')
    })
    await new Promise<void>((resolve) => elsewhere.listen(0, '127.0.0.1', resolve))
    try {
      const { port } = elsewhere.address() as AddressInfo
      await using registry = await registryServer({
        auth: 'bearer',
        users,
        fault: (request, response) => {
          if (!request.url?.startsWith('/token')) return false
          response.writeHead(307, { location: `http://localhost:${port}/` }).end()
          return true
        },
      })
      await expect(read(`${registry.host}/a:1`, await authFor(registry.host))).rejects.toMatchObject({
        code: 'registry-unauthorized',
      })
      expect(seen.length).toBeGreaterThan(0)
      expect(seen.every((one) => one === undefined)).toBe(true)
    } finally {
      elsewhere.close()
    }
  })

  test('is not on this host is not spoken to by http, unless that is allowed', async () => {
    await using registry = await registryServer()
    storeLayers(registry, 'a', '1', [{ files: FILES }])
    // The same server by an address that is not known as one of loopback.
    const place = `[::ffff:7f00:1]:${registry.host.split(':')[1]}/a:1`
    await expect(read(place)).rejects.toMatchObject({
      code: 'registry-unreachable',
      remedy: expect.stringContaining('http') as string,
    })
    expect(registry.seen).toEqual([])
    expect(await read(place, images({ insecure: true }))).toEqual(FILES)
  })

  test('does not take what it was sent', async () => {
    await using registry = await strange((path) =>
      path.includes('digest=') ? { status: 400, body: '{"errors":[{"code":"DIGEST_INVALID"}]}' } : undefined,
    )
    await expect(putFiles(`${registry.host}/b:1`, FILES)).rejects.toThrow(/answers 400 \(DIGEST_INVALID\)/)
    expect(registry.repositories.get('b')?.tags.size ?? 0).toBe(0)
  })
})

describe('a registry that never answers', () => {
  const silent = { fault: () => true }

  test('is named after a while, with the time that it has, and given up once', async () => {
    await using registry = await registryServer(silent)
    const heard: string[] = []
    const http = { limits: { connect: 3000, header: 600 } }
    const opened = images({ http, onWait: (sentence) => void heard.push(sentence) }).open(
      parsePlace(`${registry.host}/a/b:1`),
    )
    await expect(opened).rejects.toMatchObject({
      code: 'registry-unreachable',
      message: expect.stringContaining(
        `the registry ${registry.host} cannot be reached: ${registry.host} took the connection, but does not answer`,
      ) as string,
    })
    expect(heard).toEqual([
      `waiting for the registry ${registry.host}, which has not answered for 0.05 s; it has 0.6 s`,
    ])
    expect(registry.seen).toHaveLength(1)
  })

  test('is named after a while too where it stops in the middle of an answer', async () => {
    await using registry = await registryServer({
      fault: (request, response) => {
        if (request.url === '/v2/') return false
        response.writeHead(200, { 'content-type': 'application/vnd.oci.image.manifest.v1+json', 'content-length': 100 })
        response.write('{')
        return true
      },
    })
    const heard: string[] = []
    const http = { limits: { silence: 600 } }
    const opened = images({ http, onWait: (sentence) => void heard.push(sentence) }).open(
      parsePlace(`${registry.host}/a/b:1`),
    )
    await expect(opened).rejects.toThrow(/fell silent in the middle of the body/)
    expect(heard[0]).toBe(
      `waiting for the registry ${registry.host}, which has sent nothing more for 0.05 s; it has 0.6 s`,
    )
  })

  test('is given up at once where it answers no more after its first answer', async () => {
    await using registry = await registryServer({ fault: (request) => request.url !== '/v2/' })
    const http = { limits: { connect: 3000, header: 300 } }
    const opened = images({ http }).open(parsePlace(`${registry.host}/a/b:1`))
    await expect(opened).rejects.toMatchObject({ code: 'registry-unreachable' })
    expect(registry.seen.map(({ url }) => url)).toEqual(['/v2/', '/v2/a/b/manifests/1'])
  })

  test('is not named where it answers in time', async () => {
    await using registry = await registryServer()
    const heard: string[] = []
    await putFiles(`${registry.host}/a/b:1`, FILES)
    await images({ onWait: (sentence) => void heard.push(sentence) }).open(parsePlace(`${registry.host}/a/b:1`))
    expect(heard).toEqual([])
  })
})
