import { describe, expect, test } from 'vitest'
import fc from 'fast-check'
import { UserError } from '../base/runtime/index.js'
import { dataUrl, dataUrlBytes } from './data-url.js'
import { looksLikeCloudConfig } from './cloud-config.js'
import { parseIgnition } from './parse.js'
import { sshKeyFingerprint } from './ssh-key.js'
import { summarizeIgnition } from './summary.js'
import { withHostname } from './hostname.js'

const minimal = { ignition: { version: '3.2.0' } }
const refusal = (input: Uint8Array | string | object): UserError => {
  try {
    parseIgnition(input)
  } catch (error) {
    if (error instanceof UserError) return error
    throw error
  }
  throw new Error('was accepted')
}

describe('reading a config', () => {
  test.each([
    ['an object', minimal],
    ['text', JSON.stringify(minimal)],
    ['bytes', new TextEncoder().encode(JSON.stringify(minimal))],
    ['nulls as absent', { ...minimal, storage: null, passwd: { users: null }, systemd: { units: null } }],
    ['unknown keys', { ...minimal, later: { things: 1 } }],
  ])('accepts %s', (_, input) => {
    expect(parseIgnition(input).ignition.version).toBe('3.2.0')
  })

  test.each([
    ['nothing', '  \n', 'ignition-empty', 'empty'],
    ['text that is not JSON', '{"ignition":\n oops', 'ignition-not-json', 'not JSON'],
    ['bytes that are not text', Uint8Array.of(0xff, 0xfe, 0x00), 'ignition-not-json', 'not UTF-8'],
    ['cloud-init user data', '#cloud-config\nusers: []\n', 'ignition-cloud-config', 'cloud-init'],
    ['JSON that is no config', '{"a":1}', 'ignition-not-a-config', 'no ignition.version'],
    ['a list', '[]', 'ignition-not-a-config', 'no ignition.version'],
    ['a butane config', { variant: 'fcos', version: '1.5.0' }, 'ignition-butane', 'made from'],
    ['spec 2', { ignition: { version: '2.2.0' } }, 'ignition-old-version', '2.2.0'],
    ['an unknown 3.x', { ignition: { version: '3.9.0' } }, 'ignition-unknown-version', '3.9.0'],
    [
      'a mode that is text',
      { ...minimal, storage: { files: [{ path: '/a', mode: '0644' }] } },
      'ignition-invalid',
      '$.storage.files.0.mode must be integer',
    ],
    [
      'a relative path',
      { ...minimal, storage: { files: [{ path: 'a' }] } },
      'ignition-invalid',
      '$.storage.files.0.path must be an absolute path',
    ],
  ])('refuses %s', (_, input, code, sentence) => {
    const error = refusal(input)
    expect(error.code).toBe(code)
    expect(error.message).toContain(sentence)
    expect(error.remedy).toBeTruthy()
  })

  test('never quotes what it could not read', () => {
    for (const input of ['hunter2', '{"hunter2"', { ignition: { version: 'hunter2 hunter2' } }, '#!hunter2'])
      expect(refusal(input).message).not.toContain('hunter2')
  })
})

test.each([
  ['#cloud-config\n', true],
  ['#!/bin/sh\n', true],
  ['Content-Type: multipart/mixed; boundary=x', true],
  ['{"ignition":{}}', false],
  ['', false],
])('looksLikeCloudConfig(%j) is %j', (text, expected) => {
  expect(looksLikeCloudConfig(text)).toBe(expected)
})

describe('the hostname', () => {
  test('is a file of its own in a config that had none', () => {
    expect(withHostname(null, 'node-0')).toEqual({
      ignition: { version: '3.0.0' },
      storage: {
        files: [{ path: '/etc/hostname', mode: 420, overwrite: true, contents: { source: 'data:,node-0' } }],
      },
    })
  })

  test('replaces what the config had at that path and leaves the rest and the original alone', () => {
    const config = parseIgnition({
      ...minimal,
      storage: { files: [{ path: '/etc/hostname' }, { path: '/a' }], links: [{ path: '/etc/hostname' }] },
    })
    const named = withHostname(config, 'n')
    expect(named.storage?.files?.map((file) => file.path)).toEqual(['/a', '/etc/hostname'])
    expect(named.storage?.links).toEqual([])
    expect(config.storage?.files).toHaveLength(2)
    expect(summarizeIgnition(named).hostname).toBe('n')
  })
})

test('a summary has names and fingerprints, no secrets', () => {
  const key = 'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIJdD7y3aLq454yWBdwLWbieU1ebz9/cu7/QEXn9OIeZJ octocat@example'
  const summary = summarizeIgnition(
    parseIgnition({
      ignition: { version: '3.4.0' },
      passwd: { users: [{ name: 'core', passwordHash: 'secret-hash', sshAuthorizedKeys: [key, 'nonsense'] }] },
      storage: { files: [{ path: '/etc/token', contents: { source: 'data:,secret-token' } }] },
      systemd: { units: [{ name: 'a.service', contents: 'secret-unit' }] },
    }),
  )
  expect(summary).toEqual({
    version: '3.4.0',
    hostname: null,
    users: [{ name: 'core', sshKeyFingerprints: [sshKeyFingerprint(key), 'unreadable key'] }],
    files: ['/etc/token'],
    units: ['a.service'],
  })
  expect(JSON.stringify(summary)).not.toMatch(/secret|AAAAC3/)
})

test('a fingerprint is what ssh-keygen -l prints', () => {
  expect(
    sshKeyFingerprint('no-pty ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIOMqqnkVzrm0SdG6UOoqKLsabgH5C9okWi0dh2l9GKJl github'),
  ).toBe('SHA256:+DiY3wvvV6TuJJhbpZisF/zLDA0zPMSvHdkr4UvCOqU')
})

test('any text survives a data URL', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme' }), (text) => {
      expect(Buffer.from(dataUrlBytes(dataUrl(text))!).toString()).toBe(text)
    }),
  )
  expect(Buffer.from(dataUrlBytes('data:text/plain;base64,bm9kZS0w')!).toString()).toBe('node-0')
  expect(dataUrlBytes('data:,%zz')).toBeNull()
  expect(dataUrlBytes('https://a/b')).toBeNull()
})
