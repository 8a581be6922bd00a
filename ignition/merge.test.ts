import { expect, test } from 'vitest'
import { mergeIgnition } from './merge.js'
import { validateIgnition } from './validate-config.js'
import type { SpecConfig } from './spec/config-types.js'

const VERSION = '3.4.0'
const config = (part: object): SpecConfig => ({ ignition: { version: VERSION }, ...part })
const merged = (parent: object, child: object): SpecConfig => mergeIgnition(config(parent), config(child), VERSION)
const source = (text: string) => ({ source: `data:,${text}` })

test('a field of the child replaces the parent’s, a field that it lacks stays', () => {
  const parent = { storage: { files: [{ path: '/a', mode: 0o600, user: { name: 'x' }, contents: source('a') }] } }
  const child = { storage: { files: [{ path: '/a', mode: 0o644, contents: source('b') }] } }
  expect(merged(parent, child)).toEqual(
    config({ storage: { files: [{ path: '/a', mode: 0o644, user: { name: 'x' }, contents: source('b') }] } }),
  )
})

test('entries with the same key are one, in the order of the parent; new ones follow', () => {
  const users = (...names: string[]) => ({ passwd: { users: names.map((name) => ({ name })) } })
  expect(merged(users('a', 'b'), users('c', 'b', 'd'))).toEqual(config(users('a', 'b', 'c', 'd')))
})

test('keys of users, and groups, are a union', () => {
  const keys = (...sshAuthorizedKeys: string[]) => ({ passwd: { users: [{ name: 'core', sshAuthorizedKeys }] } })
  expect(merged(keys('1', '2'), keys('3', '1'))).toEqual(config(keys('1', '2', '3')))
})

test('appended contents and options of both are concatenated', () => {
  const parts = (text: string) => ({
    storage: {
      files: [{ path: '/a', append: [source(text)] }],
      filesystems: [{ device: '/dev/a', options: [text], mountOptions: [text] }],
    },
  })
  expect(merged(parts('1'), parts('1'))).toEqual(
    config({
      storage: {
        files: [{ path: '/a', append: [source('1'), source('1')] }],
        filesystems: [{ device: '/dev/a', options: ['1', '1'], mountOptions: ['1', '1'] }],
      },
    }),
  )
})

test('a link replaces a file of its path, and shouldNotExist replaces the same argument in shouldExist', () => {
  const { storage, kernelArguments } = merged(
    { storage: { files: [{ path: '/a' }, { path: '/b' }] }, kernelArguments: { shouldExist: ['a', 'b'] } },
    { storage: { links: [{ path: '/a', target: '/c' }] }, kernelArguments: { shouldNotExist: ['a'] } },
  )
  expect(storage).toEqual({ files: [{ path: '/b' }], links: [{ path: '/a', target: '/c' }] })
  expect(kernelArguments).toEqual({ shouldExist: ['b'], shouldNotExist: ['a'] })
})

test('a header without a value removes the parent’s', () => {
  const headers = (...httpHeaders: object[]) => ({
    storage: { files: [{ path: '/a', contents: { source: 'http://a/', httpHeaders } }] },
  })
  const { storage } = merged(headers({ name: 'A', value: '1' }, { name: 'B', value: '2' }), headers({ name: 'A' }))
  expect(storage?.files?.[0]?.contents?.httpHeaders).toEqual([{ name: 'B', value: '2' }])
})

test('partitions are matched by number, else by label', () => {
  const disk = (...partitions: object[]) => ({ storage: { disks: [{ device: '/dev/a', partitions }] } })
  expect(
    merged(
      disk({ number: 1, label: 'x' }, { label: 'y' }),
      disk({ number: 1, sizeMiB: 5 }, { label: 'y', sizeMiB: 6 }),
    ),
  ).toEqual(config(disk({ number: 1, label: 'x', sizeMiB: 5 }, { number: undefined, label: 'y', sizeMiB: 6 })))
})

test('a unit has its own drop-ins and those of the child', () => {
  const unit = (part: object) => ({ systemd: { units: [{ name: 'a.service', ...part }] } })
  expect(
    merged(
      unit({ enabled: true, dropins: [{ name: 'a.conf', contents: '' }] }),
      unit({ enabled: false, dropins: [{ name: 'b.conf' }] }),
    ),
  ).toEqual(config(unit({ enabled: false, dropins: [{ name: 'a.conf', contents: '' }, { name: 'b.conf' }] })))
})

test('merging with an empty config changes nothing', () => {
  const { config: rich } = validateIgnition({
    ...config({
      storage: {
        disks: [{ device: '/dev/a', partitions: [{ number: 1 }] }],
        raid: [{ name: 'r', level: 'raid1', devices: ['/dev/a'] }],
      },
    }),
  })
  expect(mergeIgnition(config({}), rich!, VERSION)).toEqual(rich)
  expect(mergeIgnition(rich!, config({}), VERSION)).toEqual(rich)
  expect(mergeIgnition(rich!, rich!, VERSION)).toEqual(rich)
})
