import { expect, test } from 'vitest'
import { retryAfter } from './retry-after.js'

const NOW = Date.UTC(2026, 0, 1)

test.each([
  [undefined, undefined],
  ['0', 0],
  ['30', 30_000],
  ['Thu, 01 Jan 2026 00:01:00 GMT', 60_000],
  ['Wed, 31 Dec 2025 00:01:00 GMT', 0],
  ['soon', undefined],
])('Retry-After: %s is a wait of %s ms', (header, wait) => {
  expect(retryAfter(header, NOW)).toBe(wait)
})
