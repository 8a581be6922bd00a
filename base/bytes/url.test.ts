import { describe, expect, test } from 'vitest'
import { maskedAddress, maskedAddresses, withoutPasswords, isLoopback } from './url.js'

test.each([
  ['redfish://user:pass@host/x', 'redfish://******@host/x'],
  ['redfish+https://user:p@ss:w/ord@10.0.0.1:443/redfish/v1', 'redfish+https://******@10.0.0.1:443/redfish/v1'],
  ['user:pass@host', '******@host'],
  ['ipmi://user@[::1]', 'ipmi://******@[::1]'],
  ['host', 'host'],
  ['https://host/a:b', 'https://host/a:b'],
])('%s is shown as %s', (address, shown) => {
  expect(maskedAddress(address)).toBe(shown)
})

test.each([
  ['http://me:hush@a:6385,http://b:1', 'http://******@a:6385,http://b:1'],
  ['http://me:hu,sh@a', 'http://******@a'],
  ['a, b', 'a, b'],
])('the list %s is shown as %s', (addresses, shown) => {
  expect(maskedAddresses(addresses)).toBe(shown)
})

describe('a text with URLs', () => {
  test.each([
    [
      'Unable to connect to http://a:b@host/x, and http://c:d@e',
      'Unable to connect to http://a:******@host/x, and http://c:******@e',
    ],
    ['of "https://u:p@ss@host/a@b"', 'of "https://u:******@host/a@b"'],
    ['at http://host:80/x by a@b', 'at http://host:80/x by a@b'],
  ])('%s', (text, shown) => {
    expect(withoutPasswords(text)).toBe(shown)
  })
})

test.each([
  ['127.0.0.1', true],
  ['127.1.2.3', true],
  ['::1', true],
  ['localhost', true],
  ['[::1]', true],
  ['localhost.', true],
  ['0.0.0.0', false],
  ['localhost.example.com', false],
  ['192.0.2.1', false],
])('a server at %s is reached by this host only: %s', (host, alone) => expect(isLoopback(host)).toBe(alone))
