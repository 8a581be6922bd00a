import { expect, test } from 'vitest'
import { DURATION_RANGE_PATTERN } from './quantity.js'

test.each([
  ['60s', true],
  ['1m30s', true],
  ['60s..1m30s', true],
  ['1d..2d', true],
  ['60s..', false],
  ['..60s', false],
  ['60s..90s..2m', false],
  ['60', false],
])('%s is a length of time or a range: %s', (text, is) => {
  expect(new RegExp(DURATION_RANGE_PATTERN).test(text)).toBe(is)
})
