import { createHash } from 'node:crypto'
import { gzipSync } from 'node:zlib'
import { describe, expect, test } from 'vitest'
import { defined } from '../base/runtime/index.js'
import { dataUrl } from './data-url.js'
import { MAX_RESOURCE_BYTES, type FetchResource } from './resource-bytes.js'
import { mergeAll, renderIgnition } from './render-config.js'
import { readIgnition } from './read-spec.js'

const file = (path: string, text: string) => ({ path, contents: { source: dataUrl(text) } })
const config = (version: string, references: object, ...files: object[]) => ({
  ignition: { version, config: references },
  ...defined({ storage: files.length > 0 ? { files } : undefined }),
})
const merge = (...sources: string[]) => ({ merge: sources.map((source) => ({ source })) })

/** A fetch that answers from a table of configs. */
const server =
  (pages: Record<string, object | string | Uint8Array>): FetchResource =>
  async ({ source = '' }) => {
    const page = pages[source]
    if (page === undefined) throw new Error(`${source} is not there`)
    return page instanceof Uint8Array ? page : Buffer.from(typeof page === 'string' ? page : JSON.stringify(page))
  }
const nothing = server({})

const paths = async (input: object, fetch: FetchResource = nothing) =>
  (await renderIgnition(input, fetch)).config.storage?.files?.map(({ path, contents }) => [path, contents?.source])

describe('rendering a config', () => {
  test('a config without references stays as it is', async () => {
    expect(await paths(config('3.4.0', {}, file('/a', '1')))).toEqual([['/a', 'data:,1']])
  })

  test('merges others in order, each after its own references', async () => {
    const pages = server({
      'http://s/1': config('3.4.0', merge('http://s/1a'), file('/a', '1'), file('/b', '1')),
      'http://s/1a': config('3.0.0', {}, file('/b', '1a'), file('/c', '1a')),
      'http://s/2': config('3.1.0', {}, file('/c', '2')),
    })
    expect(
      await paths(config('3.4.0', merge('http://s/1', 'http://s/2'), file('/a', '0'), file('/z', '0')), pages),
    ).toEqual([
      ['/a', 'data:,1'],
      ['/z', 'data:,0'],
      ['/b', 'data:,1a'],
      ['/c', 'data:,2'],
    ])
  })

  test('replaces it by another', async () => {
    const replace = { replace: { source: dataUrl(JSON.stringify(config('3.2.0', {}, file('/b', '1')))) } }
    expect(await renderIgnition(config('3.4.0', replace, file('/a', '0')), nothing)).toMatchObject({
      version: '3.2.0',
      config: { storage: { files: [{ path: '/b' }] } },
      fetched: [],
    })
  })

  test('verifies the hash of the decompressed config', async () => {
    const text = JSON.stringify(config('3.4.0', {}, file('/b', '1')))
    const hash = `sha256-${createHash('sha256').update(text).digest('hex')}`
    const reference = { source: 'http://s/b', compression: 'gzip', verification: { hash } }
    const pages = server({ 'http://s/b': gzipSync(text) })
    expect(await paths(config('3.4.0', { merge: [reference] }), pages)).toEqual([['/b', 'data:,1']])
    const capitals = { hash: `sha256-${hash.slice('sha256-'.length).toUpperCase()}` }
    expect(await paths(config('3.4.0', { merge: [{ ...reference, verification: capitals }] }), pages)).toHaveLength(1)
    const other = server({ 'http://s/b': gzipSync(`${text} `) })
    await expect(paths(config('3.4.0', { merge: [reference] }), other)).rejects.toThrow(
      /^http:\/\/s\/b failed verification: .*expected/,
    )
  })

  test('merges several versions in the newest', () => {
    const reads = ['3.1.0', '3.4.0', '3.0.0'].map((version) => readIgnition(config(version, {})))
    expect(mergeAll(reads)).toEqual({ version: '3.4.0', config: { ignition: { version: '3.4.0', config: {} } } })
  })
})

describe('rendering is refused when', () => {
  test.each<[string, object, Record<string, object | string | Uint8Array>, RegExp]>([
    ['a reference cannot be fetched', config('3.4.0', merge('http://s/gone')), {}, /is not there/],
    [
      'references form a circle',
      config('3.4.0', merge('http://s/1')),
      {
        'http://s/1': config('3.4.0', merge('http://s/2')),
        'http://s/2': config('3.4.0', { replace: { source: 'http://s/1' } }),
      },
      /^http:\/\/s\/1 refers to itself, in 2 steps$/,
    ],
    [
      'references fan out without end',
      config('3.4.0', merge(...Array.from({ length: 11 }, (_, i) => `http://s/${i}`))),
      Object.fromEntries(
        Array.from({ length: 11 }, (_, i) => [
          `http://s/${i}`,
          config(
            '3.4.0',
            merge(
              ...Array.from({ length: 11 }, (_, j) =>
                j > i
                  ? `http://s/${j}`
                  : `data:,%7B%22ignition%22:%7B%22version%22:%223.0.${j % 1}%22%7D,%22x%22:${j}%7D`,
              ),
            ),
          ),
        ]),
      ),
      /leads to more than 1000 others/,
    ],
    [
      'a referenced config is not valid',
      config('3.4.0', merge('http://s/1')),
      { 'http://s/1': { ignition: { version: '3.4.0' }, storage: { files: [{ path: 'a' }] } } },
      /^http:\/\/s\/1 is one that Ignition refuses: error at \$\.storage\.files\.0\.path/,
    ],
    [
      'a referenced config is of spec 2',
      config('3.4.0', merge('http://s/1')),
      { 'http://s/1': { ignition: { version: '2.2.0' } } },
      /version 2\.2\.0/,
    ],
    ['a referenced config is empty', config('3.4.0', merge('data:,')), {}, /empty/],
    [
      'the merged config is not valid',
      config('3.4.0', merge('http://s/1'), file('/l/a', '1')),
      { 'http://s/1': { ignition: { version: '3.4.0' }, storage: { links: [{ path: '/l', target: '/x' }] } } },
      /^merging configs resulted in an invalid config: error at \$\.storage\.files\.0: file path includes link in config$/,
    ],
    [
      'a config with compression gzip is not gzip',
      config('3.4.0', { merge: [{ source: 'http://s/1', compression: 'gzip' }] }),
      { 'http://s/1': 'plain' },
      /^http:\/\/s\/1 is not gzip$/,
    ],
  ])('%s', async (_, input, pages, message) => {
    await expect(renderIgnition(input, server(pages))).rejects.toThrow(message)
  })

  test('a config decompresses to more than the limit', async () => {
    const bomb = gzipSync(Buffer.alloc(MAX_RESOURCE_BYTES + 1))
    expect(bomb.length).toBeLessThan(100_000)
    const input = config('3.4.0', { merge: [{ source: 'http://s/1', compression: 'gzip' }] })
    await expect(renderIgnition(input, server({ 'http://s/1': bomb }))).rejects.toThrow(/decompresses to more than/)
  })

  test('a data URL is not valid, without quoting its content', async () => {
    const input = config('3.4.0', merge(dataUrl('{"hunter2"')))
    await expect(renderIgnition(input, nothing)).rejects.toThrow(/^(?!.*hunter2)the content of a data URL is one/)
  })
})
