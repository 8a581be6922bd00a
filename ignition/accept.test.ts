import { expect, test } from 'vitest'
import { acceptedVersion } from './accept.js'

test.each([
  ['application/vnd.coreos.ignition+json;version=3.6.0, */*;q=0.1', '3.6.0'],
  ['application/vnd.coreos.ignition+json; version=3.2.0', '3.2.0'],
  ['application/vnd.coreos.ignition+json;version="3.1.0"', '3.1.0'],
  [
    'application/vnd.coreos.ignition+json;version=3.0.0, application/vnd.coreos.ignition+json;version=3.3.0;q=0.5',
    '3.3.0',
  ],
  // The header of Ignition 0.x.
  [
    'application/vnd.coreos.ignition+json; version=2.4.0, application/vnd.coreos.ignition+json; version=1; q=0.5, */*; q=0.1',
    null,
  ],
  ['*/*', null],
  [undefined, null],
  ['', null],
  [';;,=', null],
])('%s asks for %s', (header, version) => expect(acceptedVersion(header)).toBe(version))
