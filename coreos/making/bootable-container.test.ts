import { expect, test } from 'vitest'
import { buildTime } from './bootable-container.js'

test.each([
  ['44.20260707.3.1', '2026-07-07T00:00:00Z'],
  ['9.6.20250826-1', '2025-08-26T00:00:00Z'],
  ['418.94.202501010930-0', '2025-01-01T09:30:00Z'],
  ['4.18.0', '2026-01-01T00:00:00Z'],
  ['9.6.20251399-0', '2026-01-01T00:00:00Z'],
  ['9.6.20250230-0', '2026-01-01T00:00:00Z'],
  ['418.94.202501019930-0', '2026-01-01T00:00:00Z'],
])('a build of %s is of %s', (version, time) => {
  expect(buildTime(version)).toBe(time)
})
