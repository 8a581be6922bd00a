import { gunzipSync } from 'node:zlib'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { readIso } from '../../test/kit/images/read-iso.js'
import { completeConfigDrive, configDriveImage } from './config-drive-image.js'
import { writeIso } from '../../base/bytes/iso9660/write-iso9660.js'

const AT = Date.UTC(2026, 1, 3, 4, 5, 6)
const iso = (configdrive: unknown) => gunzipSync(Buffer.from(configDriveImage(configdrive, AT)!, 'base64'))

describe('a config drive from its parts', () => {
  test('holds the files of both versions, by Rock Ridge and by Joliet', () => {
    const image = iso({
      meta_data: { uuid: 'u' },
      network_data: { links: [] },
      vendor_data: { v: 1 },
      user_data: '#cloud-config\n',
    })
    for (const names of ['rock ridge', 'joliet'] as const) {
      const { label, files } = readIso(image, names)
      expect(label).toBe('config-2')
      expect(Object.fromEntries([...files].map(([path, bytes]) => [path, bytes.toString()]))).toEqual(
        Object.fromEntries(
          ['2012-08-10', 'latest'].flatMap((version) =>
            Object.entries({
              'meta_data.json': '{"uuid":"u"}',
              'network_data.json': '{"links":[]}',
              'vendor_data2.json': '{"v":1}',
              user_data: '#cloud-config\n',
            }).map(([name, text]) => [`openstack/${version}/${name}`, text]),
          ),
        ),
      )
    }
  })

  test('absent and empty parts have no file; user data may be an object', () => {
    const { files } = readIso(iso({ network_data: {}, vendor_data: null, user_data: { ignition: {} } }))
    expect([...files.keys()].filter((path) => path.includes('latest')).sort()).toEqual([
      'openstack/latest/meta_data.json',
      'openstack/latest/user_data',
    ])
    expect(files.get('openstack/latest/user_data')!.toString()).toBe('{"ignition":{}}')
  })

  test('gets the uuid and name of its node, unless its metadata has them', () => {
    expect(completeConfigDrive({ uuid: 'u', name: 'n' }, { user_data: 'x' })).toEqual({
      user_data: 'x',
      meta_data: { uuid: 'u', name: 'n' },
    })
    expect(completeConfigDrive({ uuid: 'u', name: null }, { meta_data: { uuid: 'own', k: 1 } })).toEqual({
      meta_data: { uuid: 'own', k: 1 },
    })
  })
})

test.each([
  ['http://x/drive', 'http://x/drive'],
  ['H4sI', 'H4sI'],
  ['', null],
  [null, null],
  [undefined, null],
])('text stays as it is, an empty config drive is null: %s', (configdrive, expected) => {
  expect(configDriveImage(configdrive, AT)).toBe(expected)
})

const name = fc.stringMatching(/^[a-z][a-z0-9-]{0,20}$/)
const path = fc.array(name, { minLength: 1, maxLength: 4 }).map((names) => names.join('/'))

test('a volume holds exactly the written files, under both kinds of names', () => {
  fc.assert(
    fc.property(fc.dictionary(path, fc.uint8Array({ maxLength: 5000 }), { maxKeys: 90 }), (contents) => {
      // No file is also a folder, and no two names are equal in the plain tree.
      const paths = Object.keys(contents).filter(
        (own, index, all) => !all.some((other, at) => at !== index && clashes(own, other)),
      )
      const image = writeIso(Object.fromEntries(paths.map((own) => [own, contents[own]!])), { label: 'x', at: AT })
      for (const names of ['rock ridge', 'joliet'] as const) {
        const { files } = readIso(image, names)
        expect([...files.keys()].sort()).toEqual([...paths].sort())
        for (const own of paths) expect(files.get(own)!.equals(contents[own]!)).toBe(true)
      }
    }),
    { numRuns: 50 },
  )
})

const clashes = (a: string, b: string): boolean => a === b || a.startsWith(`${b}/`) || b.startsWith(`${a}/`)
