import { mkdtemp, readdir, readFile, rm, writeFile, mkdir } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { images, putFiles } from '../../../test/kit/registry/images.js'
import { parsePlace } from './reference.js'

let folder: string
beforeEach(async () => void (folder = await mkdtemp(join(tmpdir(), 'ironstage-layout-'))))
afterEach(() => rm(folder, { recursive: true, force: true }))

const read = async (place: string) => {
  const client = images()
  const opened = await client.open(parsePlace(place))
  return (await client.files(await opened.image(), { paths: ['a'] })).get('a')?.toString()
}

test('an image is read by its tag, by digest, and without either while it is alone', async () => {
  const digest = await putFiles(`oci:${folder}/new:1`, { a: 'A' })
  for (const name of ['', ':1', `@${digest}`]) expect(await read(`oci:${folder}/new${name}`)).toBe('A')
  expect(await readdir(join(folder, 'new'))).toEqual(['blobs', 'index.json', 'oci-layout'])
  await putFiles(`oci:${folder}/new:2`, { a: 'B' })
  expect(await read(`oci:${folder}/new:2`)).toBe('B')
  await expect(read(`oci:${folder}/new`)).rejects.toThrow(/has 2 images, and the tags 1, 2/)
  await expect(read(`oci:${folder}/new:3`)).rejects.toThrow(/has no tag 3; it has the tags 1, 2/)
})

test('a tag moves to the image that was put last', async () => {
  await putFiles(`oci:${folder}:1`, { a: 'A' })
  await putFiles(`oci:${folder}:1`, { a: 'B' })
  expect(await read(`oci:${folder}`)).toBe('B')
  expect(
    (JSON.parse(await readFile(join(folder, 'index.json'), 'utf8')) as { manifests: unknown[] }).manifests,
  ).toHaveLength(1)
})

test('two that are put at one time are both there', async () => {
  await Promise.all([1, 2, 3].map((tag) => putFiles(`oci:${folder}:${tag}`, { a: `${tag}` })))
  for (const tag of [1, 2, 3]) expect(await read(`oci:${folder}:${tag}`)).toBe(`${tag}`)
})

test('the same input has the same digest', async () => {
  const digests = await Promise.all(
    ['x', 'y'].map((name) =>
      putFiles(`oci:${folder}/${name}`, { a: 'A', 'b/c': 'C' }, { architectures: ['x86_64', 's390x'] }),
    ),
  )
  expect(digests[0]).toBe(digests[1])
})

test('a blob with other bytes is refused', async () => {
  await putFiles(`oci:${folder}:1`, { a: 'A' })
  const blobs = join(folder, 'blobs/sha256')
  for (const name of await readdir(blobs)) {
    const before = await readFile(join(blobs, name))
    await writeFile(join(blobs, name), Buffer.concat([before, Buffer.from('x')]))
    await expect(read(`oci:${folder}:1`)).rejects.toMatchObject({ code: 'image-altered' })
    await rm(join(blobs, name))
    await expect(read(`oci:${folder}:1`)).rejects.toMatchObject({ code: 'image-not-found' })
    await writeFile(join(blobs, name), before)
  }
  expect(await read(`oci:${folder}:1`)).toBe('A')
})

test.each([
  [{}, /it has no oci-layout/],
  [{ 'oci-layout': '{"imageLayoutVersion":"2"}', 'index.json': '{}' }, /not of 1\.0\.0/],
  [{ 'oci-layout': '{"imageLayoutVersion":"1.0.0"}' }, /no index\.json/],
  [
    { 'oci-layout': '{"imageLayoutVersion":"1.0.0"}', 'index.json': '{"schemaVersion":2,"manifests":[]}' },
    /has no images/,
  ],
  [{ 'oci-layout': '{"imageLayoutVersion":"1.0.0"}', 'index.json': '[]' }, /not a JSON object/],
])('the folder with %j is refused', async (files, message) => {
  await mkdir(join(folder, 'l'))
  for (const [name, text] of Object.entries(files)) await writeFile(join(folder, 'l', name), text)
  await expect(read(`oci:${folder}/l`)).rejects.toThrow(message)
})
