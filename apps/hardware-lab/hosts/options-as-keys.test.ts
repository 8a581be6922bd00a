import { expect, test } from 'vitest'
import { withKeysOfFile } from './options-as-keys.js'

test.each([
  ['name it with --installer PATH', 'name it with installer PATH (keys of the hosts file)'],
  ['use --allow unguarded, or --device SERIAL', 'use allow unguarded, or disk SERIAL (keys of the hosts file)'],
  ['look at losetup --list', 'look at losetup --list'],
  ['nothing was written', 'nothing was written'],
])('a run says %s in keys of its file', (text, keyed) => {
  expect(withKeysOfFile(text)).toBe(keyed)
})
