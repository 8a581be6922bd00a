import { mkdir, mkdtemp, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { zipSync, type Zippable } from 'fflate'
import { describe, expect, test } from 'vitest'
import { dumpedSystem } from './dumped-system.js'
import { readDump } from './read-dump.js'

const ROOT = {
  '@odata.id': '/redfish/v1/',
  '@odata.type': '#ServiceRoot.v1_5_0.ServiceRoot',
  Systems: { '@odata.id': '/redfish/v1/Systems' },
}
const SYSTEMS = { '@odata.id': '/redfish/v1/Systems', Members: [{ '@odata.id': '/redfish/v1/Systems/1' }] }
const SYSTEM = { '@odata.id': '/redfish/v1/Systems/1', '@odata.type': '#ComputerSystem.v1_5_0.ComputerSystem' }

const WHOLE: Readonly<Record<string, unknown>> = {
  'redfish/v1/index.json': ROOT,
  'redfish/v1/Systems/index.json': SYSTEMS,
  'redfish/v1/Systems/1/index.json': SYSTEM,
}

/** A folder with files: documents, or texts. */
async function folderOf(files: Readonly<Record<string, unknown>>): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'ironstage-read-dump-'))
  for (const [path, value] of Object.entries(files)) {
    await mkdir(join(folder, path, '..'), { recursive: true })
    await writeFile(join(folder, path), typeof value === 'string' ? value : JSON.stringify(value))
  }
  return folder
}

async function zipOf(files: Zippable): Promise<string> {
  const file = join(await mkdtemp(join(tmpdir(), 'ironstage-read-dump-')), 'dump.zip')
  await writeFile(file, zipSync(files))
  return file
}

const bytesOf = (value: unknown): Uint8Array => Buffer.from(JSON.stringify(value))

/** The sentence by which a dump is refused, as it is read and its machine is looked for. */
async function refusal(name: string, system?: string): Promise<string> {
  try {
    dumpedSystem(await readDump(name), system)
  } catch (error) {
    expect(error).toMatchObject({ code: 'bmc-dump', kind: 'usage' })
    return (error as Error).message.replaceAll(name, 'DUMP')
  }
  return 'it was read'
}

describe('the forms of a dump', () => {
  test.each<[string, Readonly<Record<string, unknown>>]>([
    ['a tree from redfish/v1', WHOLE],
    ['a tree in a folder', Object.fromEntries(Object.entries(WHOLE).map(([path, each]) => [`a/b/${path}`, each]))],
    ['the short form', { 'index.json': ROOT, 'Systems/index.json': SYSTEMS, 'Systems/1/index.json': SYSTEM }],
    ['names in other cases', { 'index.json': ROOT, 'systems/INDEX.JSON': SYSTEMS, 'systems/1/index.json': SYSTEM }],
    [
      'flat files',
      {
        '_redfish_v1.json': ROOT,
        '_redfish_v1_Systems.json': SYSTEMS,
        '_redfish_v1_Systems_1.json': { ...SYSTEM, '@odata.id': undefined },
      },
    ],
    ['a comma too many', { ...WHOLE, 'redfish/v1/Extra/index.json': '{"Text": "a,]", "List": [1,],}' }],
    ['other files beside it', { ...WHOLE, README: 'text', 'redfish/v1/time.json': 'no JSON' }],
  ])('%s is read', async (_, files) => {
    const dump = await readDump(await folderOf(files))
    expect(dumpedSystem(dump).system.document['@odata.type']).toContain('ComputerSystem')
    expect(dump.find('/redfish/V1/SYSTEMS/1/')?.path.toLowerCase()).toBe('/redfish/v1/systems/1')
  })

  test('headers are those of the answer to a GET', async () => {
    const headers = { GET: { Allow: 'GET, PATCH', ETag: '"1"' } }
    const dump = await readDump(await folderOf({ ...WHOLE, 'redfish/v1/Systems/1/headers.json': headers }))
    expect(dump.find('/redfish/v1/Systems/1')?.headers).toEqual({ allow: 'GET, PATCH', etag: '"1"' })
  })

  test('a body of an error is no resource', async () => {
    const body = { error: { code: 'Base.1.0.GeneralError' } }
    const dump = await readDump(await folderOf({ ...WHOLE, 'redfish/v1/Systems/1/Bios/index.json': body }))
    expect(dump.find('/redfish/v1/Systems/1/Bios')).toBeUndefined()
  })
})

describe('a dump that cannot be used is told in one sentence', () => {
  test.each<[string, Readonly<Record<string, unknown>>, string]>([
    [
      'nothing in it',
      {},
      'DUMP is no dump of a Redfish service: it has neither an index.json nor a file _redfish_v1_....json',
    ],
    ['other JSON', { 'index.json': { a: 1 } }, 'DUMP has no service root: its files are no resources of Redfish'],
    [
      'another schema',
      { 'index.json': { '@odata.type': '#StorageSystem.v1_0_0.StorageSystem' } },
      'DUMP has no service root: it begins with a StorageSystem, and may be cut off',
    ],
    [
      'cut off after the root',
      { 'redfish/v1/index.json': ROOT },
      'DUMP lacks /redfish/v1/Systems, to which its service root links: it may be cut off',
    ],
    [
      'cut off before the system',
      { 'redfish/v1/index.json': ROOT, 'redfish/v1/Systems/index.json': SYSTEMS },
      'DUMP lacks /redfish/v1/Systems/1, a member of its Systems: it may be cut off',
    ],
    [
      'a system of another schema',
      { ...WHOLE, 'redfish/v1/Systems/1/index.json': { '@odata.type': '#Chassis.v1_0_0.Chassis' } },
      '/redfish/v1/Systems/1 of DUMP is a Chassis, and no ComputerSystem',
    ],
    [
      'broken JSON',
      { ...WHOLE, 'redfish/v1/Chassis/index.json': '{"Members": [' },
      'redfish/v1/Chassis/index.json of DUMP is no JSON, or is cut off',
    ],
    [
      'an empty file',
      { ...WHOLE, 'redfish/v1/Chassis/index.json': '' },
      'redfish/v1/Chassis/index.json of DUMP is empty',
    ],
    [
      'a list in the place of a resource',
      { ...WHOLE, 'redfish/v1/Chassis/index.json': [1] },
      'redfish/v1/Chassis/index.json of DUMP holds no JSON object',
    ],
    [
      'two dumps in it',
      { 'a/redfish/v1/index.json': ROOT, 'b/redfish/v1/index.json': ROOT },
      'DUMP has 2 service roots: in a/redfish/v1, b/redfish/v1',
    ],
  ])('%s', async (_, files, sentence) => {
    expect(await refusal(await folderOf(files))).toBe(sentence)
  })

  test('two systems that can be reset: one must be chosen', async () => {
    const reset = { ...SYSTEM, Actions: { '#ComputerSystem.Reset': { target: '/redfish/v1/Systems/1/Reset' } } }
    const files = {
      ...WHOLE,
      'redfish/v1/Systems/index.json': { Members: ['/redfish/v1/Systems/1', { '@odata.id': '/redfish/v1/Systems/2' }] },
      'redfish/v1/Systems/1/index.json': reset,
      'redfish/v1/Systems/2/index.json': reset,
    }
    const dump = await folderOf(files)
    expect(await refusal(dump)).toBe('DUMP has 2 systems: 1, 2')
    expect(await refusal(dump, '3')).toBe('DUMP has no system 3')
    expect(dumpedSystem(await readDump(dump), '2').system.path).toBe('/redfish/v1/Systems/2')
  })

  test('what is not there, and more files than a BMC has resources', async () => {
    expect(await refusal('/nowhere/at-all')).toBe('DUMP cannot be read')
    const crowd = Object.fromEntries(Array.from({ length: 20_001 }, (_, n) => [`${n}.txt`, new Uint8Array()]))
    expect(await refusal(await zipOf(crowd))).toBe(
      'DUMP has more than 20000 files, which is more than any BMC has resources',
    )
  })

  test('a link out of the folder, to a folder, and to nothing', async () => {
    const out = await folderOf(WHOLE)
    await symlink('/etc/hostname', join(out, 'redfish/v1/Systems/1/headers.json'))
    expect(await refusal(out)).toBe('redfish/v1/Systems/1/headers.json of DUMP is a link to a file outside of the dump')
    const circle = await folderOf(WHOLE)
    await symlink('..', join(circle, 'redfish/v1/Systems/1/up'))
    expect(await refusal(circle)).toBe('redfish/v1/Systems/1/up of DUMP is a link to a folder')
    const nowhere = await folderOf(WHOLE)
    await symlink('gone', join(nowhere, 'redfish/v1/Systems/1/gone'))
    expect(await refusal(nowhere)).toBe('redfish/v1/Systems/1/gone of DUMP is a link to a file that there is not')
  })

  test.each<[string, Zippable, string]>([
    [
      'a path out of it',
      { '../index.json': bytesOf(ROOT) },
      'DUMP has a file ../index.json, whose path leads out of the dump',
    ],
    [
      'an absolute path',
      { '/etc/index.json': bytesOf(ROOT) },
      'DUMP has a file /etc/index.json, whose path leads out of the dump',
    ],
    [
      'a path of Windows',
      { 'C:\\index.json': bytesOf(ROOT) },
      'DUMP has a file C:\\index.json, whose path leads out of the dump',
    ],
    [
      'a bomb',
      { 'index.json': new Uint8Array(17 * 2 ** 20) },
      'index.json of DUMP has more than 16 MiB, as no resource has',
    ],
    [
      'a bomb of many files',
      Object.fromEntries(Array.from({ length: 20 }, (_, n) => [`${n}/index.json`, new Uint8Array(15 * 2 ** 20)])),
      'the files of DUMP have more than 256 MiB',
    ],
  ])('a zip with %s', async (_, files, sentence) => {
    expect(await refusal(await zipOf(files))).toBe(sentence)
  })

  test('a zip that is cut off, and what is none', async () => {
    const files = Object.fromEntries(Object.entries(WHOLE).map(([path, value]) => [path, bytesOf(value)]))
    const whole = zipSync(files)
    const folder = await mkdtemp(join(tmpdir(), 'ironstage-read-dump-'))
    await writeFile(join(folder, 'cut.zip'), whole.subarray(0, whole.length - 30))
    expect(await refusal(join(folder, 'cut.zip'))).toBe('DUMP is no zip that can be read: it may be cut off')
    await writeFile(join(folder, 'text.zip'), 'hello')
    expect(await refusal(join(folder, 'text.zip'))).toBe('DUMP is no zip that can be read: it may be cut off')
  })
})
