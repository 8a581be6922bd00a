import { createHmac } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { formatFingerprint, judgeHostKey, knownKeyTypes } from './known-hosts.js'

const text = (value: string | Buffer) => {
  const bytes = Buffer.from(value)
  const length = Buffer.alloc(4)
  length.writeUInt32BE(bytes.length)
  return Buffer.concat([length, bytes])
}
const key = (type: string, content: string) => Buffer.concat([text(type), text(content)])
const ED = key('ssh-ed25519', 'one')
const ED2 = key('ssh-ed25519', 'two')
const RSA = key('ssh-rsa', 'three')
const line = (hosts: string, of: Buffer, type = of.subarray(4, 4 + of.readUInt32BE(0)).toString()) =>
  `${hosts} ${type} ${of.toString('base64')} a comment`
const hashed = (name: string) => {
  const salt = Buffer.from('0123456789abcdefghij')
  return `|1|${salt.toString('base64')}|${createHmac('sha1', salt).update(name).digest('base64')}`
}
const at = (host: string, port = 22) => ({ host, port })

describe('a known_hosts file', () => {
  test.each<[string, string[], ReturnType<typeof at>, string]>([
    ['a name', [line('lab-7', ED)], at('lab-7'), 'known'],
    ['letters of either case', [line('Lab-7', ED)], at('lAB-7'), 'known'],
    ['a list', [line('a,lab-7,b', ED)], at('lab-7'), 'known'],
    ['patterns', [line('lab-?', ED)], at('lab-7'), 'known'],
    ['a pattern with a dot, which is literal', [line('lab.7', ED)], at('lab-7'), 'unknown'],
    ['an exception', [line('lab-*,!lab-7', ED)], at('lab-7'), 'unknown'],
    ['a port', [line('[lab-7]:2222', ED)], at('lab-7', 2222), 'known'],
    ['another port', [line('[lab-7]:2222', ED)], at('lab-7', 2223), 'unknown'],
    ['an IPv6 address', [line('fe80::1', ED)], at('FE80::1'), 'known'],
    ['a hashed name', [line(hashed('lab-7'), ED)], at('lab-7'), 'known'],
    ['a hashed name with its port', [line(hashed('[lab-7]:22022'), ED)], at('lab-7', 22022), 'known'],
    ['another hashed name', [line(hashed('lab-8'), ED)], at('lab-7'), 'unknown'],
    ['another key of the type', [line('lab-7', ED2)], at('lab-7'), 'changed'],
    ['another key and this one', [line('lab-7', ED2), line('lab-7', ED)], at('lab-7'), 'known'],
    ['a key of another type', [line('lab-7', RSA)], at('lab-7'), 'unknown'],
    ['a revoked key', [line('lab-7', ED), line('@revoked *', ED)], at('lab-7'), 'revoked'],
    ['another revoked key', [line('lab-7', ED), line('@revoked *', ED2)], at('lab-7'), 'known'],
    ['a key revoked elsewhere', [line('lab-7', ED), line('@revoked other', ED)], at('lab-7'), 'known'],
    ['an authority', [line('@cert-authority lab-7', ED)], at('lab-7'), 'unknown'],
    ['an unknown marker', [line('@future lab-7', ED)], at('lab-7'), 'unknown'],
    ['a type other than that of the key', [line('lab-7', ED, 'ssh-rsa')], at('lab-7'), 'unknown'],
    ['comments, blanks and CRLF', ['', '# x', `  ${line('lab-7', ED)}\r`], at('lab-7'), 'known'],
  ])('judges a host key by %s', (_, lines, name, expected) => {
    expect(judgeHostKey([{ path: 'kh', text: lines.join('\n') }], name, ED).kind).toBe(expected)
  })

  test('yields the line of a key, and the types of keys to ask for', () => {
    const files = [
      { path: 'one', text: '\n' },
      { path: 'two', text: [line('lab-7', RSA), line('lab-7', ED2), line('@cert-authority *', ED)].join('\n') },
    ]
    expect(judgeHostKey(files, at('lab-7'), ED)).toEqual({
      kind: 'changed',
      where: 'two:2',
      known: formatFingerprint(ED2),
    })
    expect(judgeHostKey(files, at('lab-8'), ED)).toEqual({ kind: 'unknown', authority: 'two:3' })
    expect(knownKeyTypes(files, at('lab-7'))).toEqual(['ssh-rsa', 'ssh-ed25519'])
  })
})
