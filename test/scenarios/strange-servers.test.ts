import { createHash } from 'node:crypto'
import { mkdtemp, readdir, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { HttpClient } from '../../base/bytes/index.js'
import { IgnitionLog } from '../../machine/ignition/ignition-log.js'
import { Resources } from '../../machine/ignition/ignition-resources.js'
import { errorChain, Probe, sharedAbort, silent, systemClock, userError } from '../../base/runtime/index.js'
import { downloadArtifacts } from '../../apps/runs/index.js'
import { ImageCache } from '../../steps/images/image-cache.js'
import { fetchStreamText } from '../../coreos/metadata/metal-image.js'
import { stageImage } from '../../steps/write-image/image-source.js'
import { contentsOf } from '../kit/images/image-files.js'
import { stepContext } from '../kit/step-context.js'
import { FakeTarget } from '../kit/fake-target.js'
import { STRANGE_BODY, STRANGE_SERVERS, strangeServer } from '../kit/strange-servers.js'

const SCENARIO_HTTP_LIMITS = {
  connect: 5000,
  header: 2500,
  silence: 800,
  slowest: { bytes: 1000, within: 1200 },
  headerBytes: 16_384,
}
const MAX_TEST_FILE_BYTES = 2 ** 20
/** Pauses between attempts pass at once; what a server takes is wall time. */
const clock = Object.assign(systemClock(), { sleep: () => Promise.resolve() })
const { signal } = sharedAbort()
const PEACE = 30_000

let folder: string
let caches = 0
const stray: unknown[] = []
const seen = (error: unknown) => void stray.push(error)
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'ironstage-strange-'))
  process.on('unhandledRejection', seen)
})
afterAll(async () => {
  process.off('unhandledRejection', seen)
  await rm(folder, { recursive: true, force: true })
})

const cacheOf = (): Promise<ImageCache> =>
  ImageCache.open({
    folder: join(folder, String(caches++)),
    limits: SCENARIO_HTTP_LIMITS,
    limit: MAX_TEST_FILE_BYTES,
    attempts: 1,
    clock,
    logger: silent,
    contents: (path) => contentsOf(path, clock),
  })

interface Place {
  name: string
  /** Resolves with what came. */
  fetch: (url: string) => Promise<Uint8Array | string | number>
  /** Codes of the errors that are allowed. */
  codes?: RegExp
  /** 204 is an empty file to Ignition. */
  takes204?: true
}

const PLACES: Place[] = [
  {
    name: 'the image of install_coreos',
    codes: /^image-/,
    fetch: async (url) => {
      const asset = { url, sha256: null, signature: 'where present', of: 'anything' } as const
      await using image = await (await cacheOf()).get(asset, { signal })
      return image.record.size
    },
  },
  {
    name: 'the image of write_image',
    fetch: async (url) => {
      const limits = { http: SCENARIO_HTTP_LIMITS, largest: MAX_TEST_FILE_BYTES, retries: 1 }
      await using image = await stageImage(stepContext(new FakeTarget(clock), { clock, signal }), [url], limits)
      return image.size
    },
  },
  {
    name: 'a file of download',
    codes: /^image-/,
    fetch: async (url) => {
      const to = join(folder, `download-${caches++}`)
      const sha256 = createHash('sha256').update(STRANGE_BODY).digest('hex')
      const cache = { folder: join(to, 'cache'), limits: SCENARIO_HTTP_LIMITS, limit: MAX_TEST_FILE_BYTES, attempts: 1 }
      const files = () => readdir(join(to, 'files')).catch(() => [])
      try {
        const [done] = await downloadArtifacts([{ location: url, sha256 }], {
          folder: join(to, 'files'),
          cache,
          clock,
          logger: silent,
          signal,
          insecure: true,
        })
        expect(done).toMatchObject({ sha256, already: false })
        expect(await files()).toEqual(['file'])
        return (await stat(done!.path)).size
      } catch (error) {
        expect(await files()).toEqual([])
        throw error
      }
    },
  },
  {
    name: 'stream metadata',
    codes: /^stream-unreachable$/,
    fetch: async (url) => {
      const text = await fetchStreamText(new HttpClient({ clock, limits: SCENARIO_HTTP_LIMITS }), url, signal)
      return text.length > 0 ? STRANGE_BODY.length : 0
    },
  },
  {
    name: 'Ignition at first boot',
    takes204: true,
    fetch: async (url) => {
      const log = new IgnitionLog(() => {})
      const wall = systemClock()
      const resources = new Resources({
        machine: 'm',
        clock: wall,
        probe: new Probe(),
        signal,
        log,
        limits: SCENARIO_HTTP_LIMITS,
      })
      await resources.configure({ timeouts: { httpResponseHeaders: 2, httpTotal: 3 } })
      return resources.raw({ source: url })
    },
  },
]

describe.concurrent.each(PLACES)('$name, from a server that', ({ fetch, codes, takes204 }) => {
  test.each(STRANGE_SERVERS.map((each) => [each.name, each] as const))(
    '%s',
    async (_, strange) => {
      await using server = await strangeServer(strange, STRANGE_BODY)
      const got = fetch(server.url).then(
        (value) => ({ value }),
        (error: unknown) => ({ error }),
      )
      const ended = await got
      if (strange.ends === 'whole') {
        const size = 'value' in ended && (typeof ended.value === 'number' ? ended.value : ended.value.length)
        return expect(size, JSON.stringify(ended)).toBe(STRANGE_BODY.length)
      }
      if (takes204 && strange.name === 'answers 204 No Content') return expect(ended).toHaveProperty('value')
      expect(ended).toHaveProperty('error')
      const { error } = ended as { error: unknown }
      const sentence = errorChain(error).join(': ')
      expect(sentence).toMatch(/\w+ \w+ \w+/)
      expect(sentence).not.toMatch(/undefined|\[object|not a function|of null/)
      if (codes) expect(userError(error)?.code).toMatch(codes)
      if (codes) expect(userError(error)?.remedy).toBeTruthy()
    },
    PEACE,
  )
})

describe.concurrent('a signature that must be there, from a server that', () => {
  test.each(STRANGE_SERVERS.map((each) => [each.name, each] as const))(
    '%s',
    async (_, strange) => {
      await using image = await strangeServer(STRANGE_SERVERS[0]!, STRANGE_BODY)
      await using server = await strangeServer(strange, STRANGE_BODY)
      const got = (await cacheOf()).get(
        { url: image.url, sha256: null, signature: 'required', signatureUrl: server.url, of: 'anything' },
        { signal },
      )
      const error: unknown = await got.then(
        () => undefined,
        (thrown: unknown) => thrown,
      )
      expect(userError(error)?.code).toBe('image-signature')
    },
    PEACE,
  )
})

test('none of them leaves an error that nothing caught', () => {
  expect(stray).toEqual([])
})
