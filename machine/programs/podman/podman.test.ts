import { gzipSync } from 'node:zlib'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { loadZstd } from '../../../base/bytes/index.js'
import { putBootable } from '../../../test/kit/registry/bootable-container.js'
import { digestOf, putDocument } from '../../../test/kit/registry/disk-artifacts.js'
import { archiveOf, storeLayers } from '../../../test/kit/registry/images.js'
import {
  registryServer,
  type RegistryServerHandle,
  type RegistryServerOptions,
} from '../../../test/kit/registry/registry-server.js'
import { runCommand, type FinishedCommand } from '../../../steps/index.js'
import { stepMachine, testDisk } from '../../../test/kit/step-machine.js'

type Scene = Awaited<ReturnType<typeof stepMachine>>

let registry: RegistryServerHandle
let scene: Scene
let answer: RegistryServerOptions['fault']
beforeEach(async () => {
  answer = undefined
  registry = await registryServer({ fault: (request, response) => answer?.(request, response) ?? false })
  scene = await stepMachine([testDisk('sda', 20)])
})
afterEach(async () => {
  await scene[Symbol.asyncDispose]()
  await registry[Symbol.asyncDispose]()
})

const ran = (line: string): Promise<FinishedCommand> =>
  scene.clock.until(
    runCommand(scene.machine.executor, line.split(' ') as [string, ...string[]], {
      effect: 'writes',
      accept: [0, 1, 2, 125, 127],
    }),
  )

const refusedWith = (status: number, code?: string, message = '') => {
  answer = (request, response) => {
    if (!request.url!.includes('/manifests/')) return false
    response.writeHead(status)
    response.end(code === undefined ? 'no JSON' : JSON.stringify({ errors: [{ code, message }] }))
    return true
  }
}

test('an image is pulled, kept until the next boot, and named', async () => {
  const digest = putBootable(registry, 'os', { tag: '1' })
  const pulled = await ran(`podman pull ${registry.host}/os:1`)
  expect(pulled.stderr).toMatch(
    /^Trying to pull \S+\/os:1\.\.\.\nGetting image source signatures\n(?:Copying blob sha256:\S+\n){2}Copying config sha256:\S+\nWriting manifest to image destination\n$/,
  )
  expect(pulled.stdout).toMatch(/^[0-9a-f]{64}\n$/)
  await ran(`podman pull docker://${registry.host}/os@${digest}`)
  expect(await scene.say('podman images')).toBe(`${registry.host}/os:1\n${registry.host}/os@${digest}\n`)
  await scene.reboot()
  expect(await scene.say('podman images')).toBe('')
})

test('an index gives the image of the machine’s architecture, and the index’s digest counts', async () => {
  const amd64 = putBootable(registry, 'os', { tag: 'amd64' })
  const { bytes } = registry.repositories.get('os')!.manifests.get(amd64)!
  const entry = (architecture: string) => ({
    mediaType: 'application/vnd.oci.image.manifest.v1+json',
    digest: amd64,
    size: bytes.length,
    platform: { architecture, os: 'linux' },
  })
  const type = 'application/vnd.oci.image.index.v1+json'
  putDocument(registry, { name: 'os', type, document: { manifests: [entry('arm64'), entry('amd64')] }, tag: 'both' })
  putDocument(registry, { name: 'os', type, document: { manifests: [entry('s390x')] }, tag: 'other' })
  expect((await ran(`podman pull ${registry.host}/os:both`)).stdout).toMatch(/^[0-9a-f]{64}\n/)
  expect((await ran(`podman pull ${registry.host}/os:other`)).stderr).toContain(
    `Error: choosing an image from manifest list docker://${registry.host}/os:other: no image found in image index for architecture "amd64", variant "", OS "linux"\n`,
  )
})

test.each(['gzip', 'zstd', 'plain'])('a layer may be %s', async (form) => {
  const archive = archiveOf({ 'usr/bin/tool': 'x' })
  const { compress } = await loadZstd()
  const bytes = form === 'gzip' ? gzipSync(archive) : form === 'zstd' ? compress(archive) : archive
  storeLayers(registry, 'tool', '1', [{ bytes }])
  const name = `${registry.host}/tool:1`
  expect((await ran(`podman run --rm ${name} tool`)).exit).toMatchObject({ code: 0 })
  const missing = await ran(`podman run --rm ${name} other`)
  expect(missing).toMatchObject({ exit: { code: 127 } })
  expect(missing.stderr).toContain('Error: crun: executable file `other` not found in $PATH')
})

describe('a pull that fails', () => {
  beforeEach(() => void putBootable(registry, 'os'))

  test.each<[string, number, string | undefined, string, string]>([
    ['is not allowed', 401, 'UNAUTHORIZED', 'authentication required', 'authentication required'],
    ['is not allowed, in the registry’s words', 403, 'DENIED', 'not for you', 'denied: not for you'],
    ['has no such image', 404, 'MANIFEST_UNKNOWN', 'manifest unknown', 'manifest unknown'],
    ['meets no registry', 404, undefined, '', 'StatusCode: 404, "no JSON"'],
    ['meets a broken registry', 500, undefined, '', 'received unexpected HTTP status: 500 Internal Server Error'],
  ])('because it %s, ends with podman’s words at once', async (_, status, code, message, words) => {
    refusedWith(status, code, message)
    const begun = scene.clock.elapsed()
    const { stderr, exit } = await ran(`podman pull --retry-delay=5s ${registry.host}/os`)
    expect(exit).toEqual({ kind: 'exited', code: 125 })
    const reading = `reading manifest latest in ${registry.host}/os`
    expect(stderr).toContain(`Error: initializing source docker://${registry.host}/os:latest: ${reading}: ${words}\n`)
    expect(scene.clock.elapsed() - begun).toBeLessThan(1000)
  })

  test('is tried three times more where that may help, with the wait of --retry-delay', async () => {
    refusedWith(503)
    const begun = scene.clock.elapsed()
    const { stderr } = await ran(`podman pull --retry-delay=5s ${registry.host}/os`)
    expect(stderr.match(/Failed, retrying in 5s \.\.\. \(\d\/3\)/g)).toHaveLength(3)
    expect(stderr).toMatch(/Error: .*received unexpected HTTP status: 503 Service Unavailable\n$/)
    expect(scene.clock.elapsed() - begun).toBe(15_000)
  })

  test('because the registry is busy, waits as the registry says', async () => {
    answer = (request, response) => {
      if (!request.url!.includes('/manifests/')) return false
      response.writeHead(429, { 'retry-after': '7' })
      response.end('{"errors": [{"code": "TOOMANYREQUESTS", "message": "You have reached your limit."}]}')
      return true
    }
    const begun = scene.clock.elapsed()
    const { stderr } = await ran(`podman pull --retry=0 ${registry.host}/os`)
    expect(stderr).toContain('toomanyrequests: You have reached your limit.\n')
    expect(scene.clock.elapsed() - begun).toBe(28_000)
  })

  test('because a layer ends early, or is another than its digest says', async () => {
    const { blobs } = registry.repositories.get('os')!
    const layers = [...blobs].filter(([, bytes]) => bytes[0] === 0x1f)
    const [digest, bytes] = layers.at(-1)!
    answer = (request, response) => {
      if (!request.url!.endsWith(digest)) return false
      response.writeHead(200, { 'content-length': bytes.length })
      response.write(bytes.subarray(0, 20), () => response.destroy())
      return true
    }
    expect((await ran(`podman pull ${registry.host}/os`)).stderr).toContain('happened during read: unexpected EOF\n')
    answer = undefined
    const other = gzipSync(archiveOf({ x: 'y' }))
    blobs.set(digest, other)
    expect((await ran(`podman pull ${registry.host}/os`)).stderr).toContain(
      `happened during read: Digest did not match, expected ${digest}, got ${digestOf(other)}\n`,
    )
    blobs.set(digest, Buffer.from('no gzip'))
    expect((await ran(`podman pull ${registry.host}/os`)).stderr).toContain('Digest did not match')
    expect(await scene.say('podman images')).toBe('')
  })

  test('because nothing listens, or no such name is written', async () => {
    const { host } = registry
    await registry[Symbol.asyncDispose]()
    const { stderr } = await ran(`podman pull --retry=0 ${host}/os`)
    expect(stderr).toContain(
      `pinging container registry ${host}: Get "http://${host}/v2/": dial tcp ${host}: connect: connection refused\n`,
    )
    expect((await ran('podman pull docker.io/UPPER')).stderr).toContain('invalid reference format')
    registry = await registryServer()
  })

  test('because its layers are more than half of the memory', async () => {
    await using small = await stepMachine([testDisk('sda', 20)], { memoryMib: 1 })
    storeLayers(registry, 'large', '1', [{ files: { a: 'x'.repeat(2 ** 20) } }])
    await expect(small.say(`podman pull ${registry.host}/large:1`)).rejects.toMatchObject({
      finished: { stderr: expect.stringContaining('write: no space left on device') as string },
    })
  })
})

describe('credentials', () => {
  const withAuth = async (auth: 'basic' | 'bearer', use: (secret: RegistryServerHandle) => Promise<void>) => {
    await using secret = await registryServer({ auth, users: { me: 'secret' } })
    putBootable(secret, 'os')
    await use(secret)
  }
  const authFile = (host: string, auth: string) =>
    scene.write('/tmp/auth.json', JSON.stringify({ auths: { [host]: { auth } } }))
  const base64 = (text: string) => Buffer.from(text).toString('base64')

  test.each(['basic', 'bearer'] as const)('of --authfile open a registry that asks for them by %s', (auth) =>
    withAuth(auth, async ({ host }) => {
      await authFile(host, base64('me:secret'))
      expect((await ran(`podman pull --authfile=/tmp/auth.json ${host}/os`)).exit).toMatchObject({ code: 0 })
      await authFile(host, base64('me:wrong'))
      const { stderr } = await ran(`podman pull --authfile=/tmp/auth.json ${host}/os`)
      const words = auth === 'bearer' ? 'unable to retrieve auth token: invalid username/password: ' : ''
      expect(stderr).toContain(`${words}unauthorized`)
      expect((await ran(`podman pull --authfile=/none ${host}/os`)).stderr).toContain(
        'credential file is not accessible: stat /none: no such file or directory',
      )
    }),
  )

  test('that are the password alone are no base64, or no account', () =>
    withAuth('basic', async ({ host }) => {
      await authFile(host, 'p-ss')
      const refused = await ran(`podman pull --authfile=/tmp/auth.json ${host}/os`)
      expect(refused.stderr).toContain('getting username and password: illegal base64 data at input byte 1\n')
      await authFile(host, 'secr')
      expect((await ran(`podman pull --authfile=/tmp/auth.json ${host}/os`)).stderr).toContain('unauthorized')
    }))
})

describe('registries.conf', () => {
  test('sends a pull to its mirrors, and blocks', async () => {
    putBootable(registry, 'mirror/os')
    const conf = `[[registry]]\nprefix = "quay.example/org"\nlocation = "quay.example/org"\n[[registry.mirror]]\nlocation = "${registry.host}/mirror"\ninsecure = true\n`
    await scene.write(
      '/etc/containers/registries.conf',
      `${conf}[[registry]]\nlocation = "bad.example"\nblocked = true\n`,
    )
    expect((await ran('podman pull quay.example/org/os')).exit).toMatchObject({ code: 0 })
    expect(await scene.say('podman images')).toBe('quay.example/org/os:latest\n')
    expect((await ran('podman pull bad.example/os')).stderr).toContain('registry bad.example is blocked')
    await scene.write('/etc/containers/registries.conf', '[[registry]]\nbroken')
    expect((await ran('podman pull quay.example/org/os')).stderr).toContain('loading registries configuration')
  })
})
