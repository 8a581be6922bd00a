import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { command } from '../kit/commands/command.js'
import { fileServer, sha256, type FileServer } from '../kit/images/image-files.js'
import { readSmallImage } from '../kit/installer.js'

/** Images that `ironstage` keeps, and the commands to look after them. */

const IMAGE = readSmallImage()

let home: string
let server: FileServer
beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), 'ironstage-home-'))
  server = await fileServer({ '/coreos.raw.xz': IMAGE })
})
afterEach(async () => {
  await server[Symbol.asyncDispose]()
  await rm(home, { recursive: true, force: true })
})

async function ran(...argv: string[]) {
  const run = command(argv, { variables: { HOME: home } })
  const code = await run.ended
  return { code, stdout: run.stdout, stderr: run.stderr }
}

const args = (more: object = {}) => JSON.stringify({ image_url: server.url('/coreos.raw.xz'), ...more })
const install = (...more: string[]) => ran('step', 'run', 'install_coreos', '--args', args(), ...more)

test('a step’s image is kept as zstd below the user’s cache folder, listed, verified and deleted', async () => {
  const first = await install('--cache-as', 'zstd')
  expect(first).toMatchObject({ code: 0, stderr: '' })
  expect(first.stdout).toMatch(/Copying image from \/run\/ironstage\/images\/[0-9a-f]{64}\/image\.raw\.zst/)
  expect(await readdir(join(home, '.cache/ironstage/images/images'))).toEqual([sha256(IMAGE)])

  const list = await ran('cache', 'list')
  expect(list.stdout).toMatch(
    new RegExp(`^${sha256(IMAGE).slice(0, 16)}  xz as zst +\\S+ KiB  used \\S+Z  unsigned\n    from http://127\\S+\n$`),
  )
  expect(JSON.parse((await ran('cache', 'list', '--json')).stdout)).toMatchObject({ sha256: sha256(IMAGE), kind: 'xz' })

  expect(await ran('cache', 'verify')).toMatchObject({ code: 0, stdout: expect.stringMatching(/^good /) })
  const { path } = JSON.parse((await ran('cache', 'list', '--json')).stdout) as { path: string }
  await writeFile(path, 'something else')
  expect(await ran('cache', 'verify')).toMatchObject({ code: 1, stdout: expect.stringMatching(/^DAMAGED .*deleted$/m) })
  expect((await ran('cache', 'list')).stdout).toBe('no images are kept\n')

  await install('--cache-as', 'zstd')
  expect((await ran('cache', 'prune')).stdout).toBe('0 images deleted, 0 B freed\n')
  expect((await ran('cache', 'prune', '--all')).stdout).toMatch(/^1 image deleted, \S+ KiB freed\n$/)
})

test('a step’s image is kept decompressed with --cache-as raw', async () => {
  for (let time = 0; time < 2; time++) {
    const installed = await install('--cache-as', 'raw')
    expect(installed).toMatchObject({ code: 0, stderr: '' })
    expect(installed.stdout).toMatch(/Copying image from \S+\/image\.raw\n/)
  }
  expect((await ran('cache', 'list')).stdout).toMatch(/ {2}xz as raw /)
  expect(await ran('cache', 'verify')).toMatchObject({ code: 0, stdout: expect.stringMatching(/^good /) })
})

test('a lab that is served keeps the images of its machines, fetched once', async () => {
  const up = command(['up', '--port', '0', '--cache-as', 'zstd'], { variables: { HOME: home } })
  const [, url] = await up.printed(/ready at (\S+)/)
  for (let n = 0; n < 2; n++) {
    const deployed = await ran('deploy', '--ironic-url', url!, '--image', server.url('/coreos.raw.xz'))
    expect(deployed, deployed.stdout).toMatchObject({ code: 0 })
  }
  up.stop()
  expect(await up.ended).toBe(0)
  expect(server.asked.filter((line) => line.startsWith('GET /coreos.raw.xz') && !line.includes('.sig'))).toEqual([
    'GET /coreos.raw.xz',
    'GET /coreos.raw.xz if changed',
  ])
  expect((await ran('cache', 'list')).stdout).toMatch(/ {2}xz as zst /)
})

test('--cache-dir names another folder, --no-cache keeps nothing', async () => {
  expect((await install('--cache-dir', join(home, 'here'))).code).toBe(0)
  expect(await readdir(join(home, 'here/images'))).toEqual([sha256(IMAGE)])
  await rm(join(home, 'here'), { recursive: true })
  const without = await install('--no-cache')
  expect(without.code).toBe(0)
  expect(without.stdout).toContain(`Downloading image from ${server.url('/coreos.raw.xz')}`)
  expect(await readdir(home)).toEqual([])
})

test('--no-cache and what it makes pointless exclude each other', async () => {
  expect(await install('--no-cache', '--cache-as', 'zstd')).toMatchObject({
    code: 2,
    stderr: expect.stringMatching(/--no-cache and --cache-as exclude each other/),
  })
})

test('a plan fetches nothing', async () => {
  const planned = await install('--plan')
  expect(planned).toMatchObject({ code: 0, stdout: expect.stringMatching(/would run .*--image-url http/) })
  expect(server.asked).toEqual([])
  expect(await readdir(home)).toEqual([])
})

test('ironstage deploy takes the image from the cache the second time', async () => {
  const disk = join(home, 'sda.img')
  const deploy = () =>
    ran('deploy', '--image', server.url('/coreos.raw.xz'), '--disk-file', disk, '--disk-size', '1GiB')
  expect((await deploy()).code).toBe(0)
  expect(server.asked.filter((line) => !line.includes('.sig'))).toEqual(['GET /coreos.raw.xz'])
  expect((await deploy()).code).toBe(0)
  expect(server.asked.at(-1)).toBe('GET /coreos.raw.xz if changed')
})

test('the image of a stream is held against the digest in its metadata', async () => {
  const metadata = (digest: string) =>
    Buffer.from(
      JSON.stringify({
        stream: 'stable',
        metadata: { 'last-modified': '2026-01-02T03:04:05Z' },
        architectures: {
          x86_64: {
            artifacts: {
              metal: { release: '1', formats: { 'raw.xz': { disk: { location: '/coreos.raw.xz', sha256: digest } } } },
            },
          },
        },
      }),
    )
  server.files['/good.json'] = metadata(sha256(IMAGE))
  server.files['/bad.json'] = metadata('e'.repeat(64))
  const deploy = (stream: string) =>
    ran(
      'deploy',
      '--image',
      `stream:${server.url(stream)}`,
      '--disk-file',
      join(home, 'sda.img'),
      '--disk-size',
      '1GiB',
    )
  expect(await deploy('/bad.json')).toMatchObject({
    code: 1,
    stderr: expect.stringMatching(/is not the image that was asked for: its SHA-256 is/),
  })
  expect((await deploy('/good.json')).code).toBe(0)
})
