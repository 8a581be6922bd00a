import { expect, test } from 'vitest'
import { butaneVariant } from './butane.js'
import { parseIgnition } from './parse.js'

test.each([
  ['variant: fcos\nversion: 1.5.0\n', 'fcos'],
  ['# a comment\n---\nvariant: "openshift"\nversion: 4.14.0\n', 'openshift'],
  ["version: 1.1.0\nvariant: 'flatcar' # newest\n", 'flatcar'],
  ['{"variant": "fcos", "version": "1.5.0"}', 'fcos'],
  ['{\n  "version": "1.5.0",\n  "variant": "r4e"\n}', 'r4e'],
  ['{"ignition": {"version": "3.4.0"}}', null],
  ['variant: unheard-of\n', null],
  ['', null],
])('the Butane variant of %j', (text, variant) => {
  expect(butaneVariant(text)).toBe(variant)
})

test.each(['variant: fcos\nversion: 1.5.0\n', '{"variant": "fcos", "version": "1.5.0"}'])(
  'a Butane file is named as what it is: %j',
  (text) => {
    expect(() => parseIgnition(text)).toThrow(
      expect.objectContaining({
        code: 'ignition-butane',
        message: 'this is a Butane file (variant fcos), not the Ignition config that is made from it',
        remedy: 'butane --strict FILE.bu > FILE.ign, then give FILE.ign.',
      }),
    )
  },
)
