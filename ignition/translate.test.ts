import { describe, expect, test } from 'vitest'
import { UserError } from '../base/runtime/index.js'
import { SPEC_VERSIONS, type SpecVersion } from './spec/spec-versions.js'
import { translateIgnition } from './translate.js'
import { validateIgnition } from './validate-config.js'

const read = (version: SpecVersion, part: object) => {
  const { config, findings } = validateIgnition({
    ...part,
    ignition: { ...(part as { ignition?: object }).ignition, version },
  })
  expect(findings.filter(({ kind }) => kind === 'error')).toEqual([])
  return config!
}
const translated = (from: SpecVersion, to: SpecVersion, part: object) => translateIgnition(read(from, part), from, to)
const loss = (from: SpecVersion, to: SpecVersion, part: object): string => {
  try {
    translated(from, to, part)
  } catch (error) {
    if (error instanceof UserError && error.code === 'ignition-loss') return error.message
    throw error
  }
  return 'nothing'
}

const file = (part: object) => ({ storage: { files: [{ path: '/a', ...part }] } })
const luks = (part: object) => ({ storage: { luks: [{ name: 'l', device: '/dev/a', ...part }] } })

describe('translating up', () => {
  test('a config has the same meaning in every version', () => {
    const part = {
      passwd: { users: [{ name: 'core', sshAuthorizedKeys: ['key'] }] },
      systemd: { units: [{ name: 'a.service', enabled: true, contents: '[Install]\nWantedBy=a.target' }] },
      storage: { files: [{ path: '/a', mode: 0o644, contents: { source: 'data:,a' } }] },
    }
    for (const to of SPEC_VERSIONS)
      expect(translated('3.0.0', to, part)).toEqual({ ...part, ignition: { version: to } })
  })

  test('special bits, which Ignition ignores before 3.6.0, are removed', () => {
    const modes = (mode: number) => ({
      storage: { files: [{ path: '/a', mode }], directories: [{ path: '/d', mode }] },
    })
    expect(translated('3.5.0', '3.6.0', modes(0o4755)).storage).toEqual(modes(0o755).storage)
    expect(translated('3.6.0', '3.7.0-experimental', modes(0o4755)).storage).toEqual(modes(0o4755).storage)
  })

  test('Tang advertisements stay, which Ignition itself loses', () => {
    const tang = (more: object) => luks({ clevis: { tang: [{ url: 'https://t', thumbprint: 'x', ...more }] } })
    const config = read('3.4.0', tang({ advertisement: '{}' }))
    expect(translateIgnition(config, '3.4.0', '3.5.0').storage).toEqual(tang({ advertisement: '{}' }).storage)
    const asIgnition = translateIgnition(config, '3.4.0', '3.5.0', { asIgnitionDoes: true })
    expect(asIgnition.storage).toEqual(tang({}).storage)
  })

  test('text that an old version requires and a new one does not is present, even when empty', () => {
    const links = { storage: { links: [{ path: '/l' }] } }
    expect(translated('3.2.0', '3.3.0', links).storage).toEqual({ links: [{ path: '/l', target: '' }] })
  })
})

describe('translating down', () => {
  test.each<[SpecVersion, SpecVersion, object, string]>([
    ['3.6.0', '3.5.0', file({ mode: 0o4755 }), '$.storage.files.0.mode'],
    ['3.6.0', '3.5.0', luks({ clevis: { custom: { pin: 'own', config: 'c' } } }), '$.storage.luks.0.clevis.custom.pin'],
    ['3.5.0', '3.4.0', luks({ cex: { enabled: true } }), '$.storage.luks.0.cex'],
    [
      '3.4.0',
      '3.3.0',
      luks({ discard: true, openOptions: ['a'] }),
      '$.storage.luks.0.discard, $.storage.luks.0.openOptions',
    ],
    ['3.4.0', '3.3.0', file({ contents: { source: 'arn:aws:s3:::b/k' } }), '$.storage.files.0.contents.source'],
    ['3.3.0', '3.2.0', { kernelArguments: { shouldExist: ['a'] } }, '$.kernelArguments'],
    [
      '3.3.0',
      '3.2.0',
      { storage: { filesystems: [{ device: '/dev/a', format: 'none' }] } },
      '$.storage.filesystems.0.format',
    ],
    ['3.2.0', '3.1.0', luks({}), '$.storage.luks'],
    ['3.2.0', '3.1.0', { passwd: { users: [{ name: 'a', shouldExist: false }] } }, '$.passwd.users.0.shouldExist'],
    ['3.2.0', '3.1.0', file({ contents: { source: 'gs://b/k' } }), '$.storage.files.0.contents.source'],
    ['3.1.0', '3.0.0', { ignition: { proxy: { httpProxy: 'http://p' } } }, '$.ignition.proxy'],
    [
      '3.1.0',
      '3.0.0',
      file({ contents: { source: 'http://a', httpHeaders: [{ name: 'a', value: 'b' }] } }),
      '$.storage.files.0.contents.httpHeaders',
    ],
    [
      '3.1.0',
      '3.0.0',
      file({ contents: { source: 'data:,', verification: { hash: `sha256-${'0'.repeat(64)}` } } }),
      '$.storage.files.0.contents.verification.hash',
    ],
  ])('from %s to %s is refused with %j', (from, to, part, fields) => {
    expect(loss(from, to, part)).toBe(`spec ${to} has no place for ${fields}`)
  })

  test('empty fields are dropped without an error', () => {
    const part = { kernelArguments: { shouldExist: [] }, storage: { luks: [] } }
    expect(translated('3.6.0', '3.0.0', part)).toEqual({ ignition: { version: '3.0.0' }, storage: {} })
  })

  test('and up again gives the same config', () => {
    const part = {
      ignition: { config: { merge: [{ source: 'http://a/b.ign' }] }, timeouts: { httpTotal: 5 } },
      storage: {
        disks: [{ device: '/dev/a', wipeTable: true, partitions: [{ number: 1, label: 'x', sizeMiB: 5 }] }],
        raid: [{ name: 'r', level: 'raid1', devices: ['/dev/a', '/dev/b'] }],
        links: [{ path: '/l', target: '/a', hard: false }],
      },
    }
    for (const to of SPEC_VERSIONS.slice(0, 6)) {
      const config = read('3.6.0', part)
      expect(translateIgnition(translateIgnition(config, '3.6.0', to), to, '3.6.0')).toEqual(config)
    }
  })
})
