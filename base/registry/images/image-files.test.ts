import { gzipSync } from 'node:zlib'
import { describe, expect, test } from 'vitest'
import { loadZstd } from '../../bytes/index.js'
import { archiveOf, images, storeLayers, type TestLayer } from '../../../test/kit/registry/images.js'
import { registryServer } from '../../../test/kit/registry/registry-server.js'
import { parsePlace } from '../places/reference.js'
import type { FileLimits, WantedFiles } from './image-files.js'

const PATHS = { paths: ['d/a', 'd/b'] }

async function filesOf(
  layers: readonly TestLayer[],
  wanted: WantedFiles = PATHS,
  limits?: Partial<FileLimits>,
): Promise<{ files: Record<string, string>; blobs: number }> {
  await using registry = await registryServer()
  storeLayers(registry, 'a', '1', layers)
  const client = images()
  const opened = await client.open(parsePlace(`${registry.host}/a:1`))
  const files = await client.files(await opened.image(), wanted, limits)
  const entries = [...files].map(([path, bytes]) => [path, bytes.toString()] as const).sort()
  return {
    files: Object.fromEntries(entries),
    blobs: registry.seen.filter(({ url }) => url.includes('/blobs/')).length - 1,
  }
}

describe('layers', () => {
  const below = { files: { 'd/a': 'old', 'd/b': 'below', 'd/c/x': 'x' } }

  test.each([
    ['the upper file counts', [below, { files: { 'd/a': 'new' } }], { 'd/a': 'new', 'd/b': 'below' }],
    ['a whiteout hides a file', [below, { files: { 'd/.wh.a': '' } }], { 'd/b': 'below' }],
    ['a whiteout hides a folder', [below, { files: { '.wh.d': '' } }], {}],
    [
      'a whiteout hides nothing of its own layer',
      [below, { files: { 'd/.wh.a': '', 'd/a': 'again' } }],
      { 'd/a': 'again', 'd/b': 'below' },
    ],
    [
      'an opaque folder hides all below',
      [below, { files: { 'd/.wh..wh..opq': '', 'd/b': 'alone' } }],
      { 'd/b': 'alone' },
    ],
    [
      'a file in the place of the folder hides it',
      [below, { files: { 'd/.wh..wh..opq': '' } }, { files: { 'd/a': 'top' } }],
      { 'd/a': 'top' },
    ],
    ['a whiteout in the middle', [below, { files: { 'd/.wh.a': '' } }, { files: { x: 'y' } }], { 'd/b': 'below' }],
    ['of an opaque root', [below, { files: { '.wh..wh..opq': '' } }], {}],
  ])('%s', async (_, layers, wanted) => expect((await filesOf(layers)).files).toEqual(wanted))

  test('are read from the top, no further than needed', async () => {
    const top = { files: { 'd/a': '1', 'd/b': '2' } }
    expect(await filesOf([below, top])).toMatchObject({ files: top.files, blobs: 1 })
    expect(await filesOf([below, { files: { 'd/a': '1', 'd/.wh.b': '' } }])).toMatchObject({ blobs: 1 })
    expect(await filesOf([below, { files: { 'd/a': '1' } }])).toMatchObject({ blobs: 2 })
  })

  test('a folder has the files of all layers, and none of the folders in it', async () => {
    const layers = [below, { files: { 'd/e': 'e', 'd/.wh.a': '' } }]
    expect((await filesOf(layers, { folders: ['d'] })).files).toEqual({ 'd/b': 'below', 'd/e': 'e' })
  })

  test('may be plain, gzip of several members, or zstd', async () => {
    const { compress } = await loadZstd()
    const archive = archiveOf({ 'd/a': 'A' })
    const members = Buffer.concat([gzipSync(archive.subarray(0, 700)), gzipSync(archive.subarray(700))])
    for (const bytes of [archive, members, compress(archive)])
      expect((await filesOf([{ bytes }], { paths: ['d/a'] })).files).toEqual({ 'd/a': 'A' })
  })

  test('a link in the place of a file is refused, unless a layer above has the file', async () => {
    const link = Buffer.from(archiveOf({ 'd/a': '' }))
    // The second header is that of the file; its type becomes that of a symbolic link.
    link[512 + 156] = 0x32
    link.write(
      link
        .subarray(512, 1024)
        .reduce((sum, byte, at) => sum + (at >= 148 && at < 156 ? 32 : byte), 0)
        .toString(8)
        .padStart(6, '0'),
      512 + 148,
    )
    await expect(filesOf([{ bytes: link }])).rejects.toThrow(/d\/a in .* is a link or a device/)
    expect((await filesOf([{ bytes: link }, { files: { 'd/a': 'A' } }])).files).toEqual({ 'd/a': 'A' })
  })

  test.each([
    ['a file beyond the limit', { files: { 'd/a': 'x'.repeat(101) } }, /d\/a has 101 bytes, more than 100/],
    [
      'files beyond the limit',
      { files: { 'd/a': 'x'.repeat(90), 'd/b': 'x'.repeat(90) } },
      /more than 150 bytes together/,
    ],
    ['a layer beyond the limit', { files: { other: 'x'.repeat(30_000) } }, /a layer has more than 20000 bytes/],
    [
      'bytes behind the archive',
      { bytes: Buffer.concat([gzipSync(archiveOf({})), Buffer.from('behind')]) },
      /something behind/,
    ],
    ['no archive', { bytes: gzipSync(Buffer.alloc(1024, 'x')) }, /not a tar archive/],
    ['cut gzip', { bytes: gzipSync(Buffer.alloc(5000, 'x')).subarray(0, 20) }, /cannot be read/],
  ])('%s', async (_, layer, message) => {
    const limits = { file: 100, all: 150, layer: 20_000 }
    await expect(filesOf([layer], PATHS, limits)).rejects.toThrow(message)
    await expect(filesOf([layer], PATHS, limits)).rejects.toMatchObject({ code: 'image-layers' })
  })
})
