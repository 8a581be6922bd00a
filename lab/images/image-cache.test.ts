import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { readSmallImage } from '../../test/kit/installer.js'
import {
  cutAfter,
  fileServer,
  page,
  sha256,
  silentAfter,
  tooShort,
  type Behaviour,
  type FileServer,
} from '../../test/kit/images/image-files.js'
import type { InstallCoreosArgs } from '../../steps/index.js'
import { createStagedLab, installCoreos } from '../create-lab.js'
import type { ImageCacheRequest } from './image-staging.js'

const ignition = { ignition: { version: '3.4.0' } }
const IMAGE = readSmallImage()

let folder: string
let server: FileServer
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'ironstage-lab-cache-'))
  server = await fileServer({ '/coreos-metal.raw.xz': IMAGE })
})
afterEach(async () => {
  await server[Symbol.asyncDispose]()
  await rm(folder, { recursive: true, force: true })
})

const asked = () => server.asked.filter((line) => !line.includes('.sig'))
const cacheOn = (as: 'fetched' | 'zstd' | 'raw' = 'fetched'): ImageCacheRequest => ({
  folder,
  as,
  limits: { silence: 300 },
  attempts: 1,
})

/** Deploys nodes that install an image from the server at once. Returns their final states. */
async function installed(count: number, args: InstallCoreosArgs, as?: 'fetched' | 'zstd' | 'raw' | null) {
  await using lab = await createStagedLab(as === null ? {} : { imageCache: cacheOn(as) })
  const step = installCoreos({ ignition, image_url: server.url('/coreos-metal.raw.xz'), ...args })
  const nodes = await Promise.all(Array.from({ length: count }, () => lab.enroll({ deploySteps: [step] })))
  await Promise.all(nodes.map((node) => node.deploy()))
  return await Promise.all(nodes.map((node) => node.settled()))
}

test.each([
  [8, 'fetched'],
  [3, 'zstd'],
  [3, 'raw'],
] as const)('%i simulated installations fetch once (%s)', async (count, as) => {
  const ended = await installed(count, {}, as)
  expect(ended.map(({ provision_state }) => provision_state)).toEqual(Array(count).fill('active'))
  expect(asked().filter((line) => !line.endsWith('if changed'))).toHaveLength(1)
})

test('with a digest, the second lab asks no server at all', async () => {
  await installed(1, { image_sha256: sha256(IMAGE) }, 'fetched')
  server.asked.length = 0
  const [node] = await installed(1, { image_sha256: sha256(IMAGE) }, 'fetched')
  expect(node).toMatchObject({ provision_state: 'active' })
  expect(server.asked).toEqual([])
})

test.each<[string, Behaviour, RegExp]>([
  ['resets', cutAfter(1000), /could not be fetched/],
  ['falls silent', silentAfter(1000), /could not be fetched.*fell silent/],
  ['lies about the length', tooShort, /is damaged: .*truncated/],
  ['sends a page', page, /is a web page and no image/],
])('a server that %s: the deployment fails with the cause, and no disk was touched', async (_, behaviour, words) => {
  server.behave('/coreos-metal.raw.xz', behaviour)
  await using lab = await createStagedLab({ imageCache: cacheOn() })
  const step = installCoreos({ ignition, image_url: server.url('/coreos-metal.raw.xz') })
  const node = await lab.enroll({ deploySteps: [step] })
  const programs: string[] = []
  lab.probe.attach((point, next) => {
    if (point.kind === 'command') programs.push(String((point['argv'] as string[])[0]))
    return next()
  })
  await node.deploy()
  expect(await node.settled()).toMatchObject({
    provision_state: 'deploy failed',
    last_error: expect.stringMatching(words),
  })
  expect(programs).not.toContain('coreos-installer')
})

test.each(['fetched', null] as const)(
  'another image than the digest says is never installed whole (cache: %s)',
  async (as) => {
    const [node] = await installed(1, { image_sha256: 'c'.repeat(64) }, as)
    expect(node).toMatchObject({
      provision_state: 'deploy failed',
      last_error: expect.stringMatching(/is not the image that was asked for: its SHA-256 is/),
    })
  },
)

test.each([
  ['image_checksum', { image_checksum: 'c'.repeat(64) }],
  ['image_os_hash_value', { image_os_hash_algo: 'sha256', image_os_hash_value: 'c'.repeat(64) }],
])('another image than %s of the node says is refused', async (_, digest) => {
  await using lab = await createStagedLab()
  const instance_info = { image_source: server.url('/coreos-metal.raw.xz'), ...digest }
  const node = await lab.enroll({ deploySteps: [installCoreos({ ignition })], fields: { instance_info } })
  await node.deploy()
  expect(await node.settled()).toMatchObject({
    provision_state: 'deploy failed',
    last_error: expect.stringMatching(/is not the image that was asked for: its SHA-256 is/) as string,
  })
})

test('without a cache a digest is still checked', async () => {
  const [node] = await installed(1, { image_sha256: sha256(IMAGE) }, null)
  expect(node).toMatchObject({ provision_state: 'active' })
})
