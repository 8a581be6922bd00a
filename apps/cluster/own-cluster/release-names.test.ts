import { expect, test } from 'vitest'
import { coreosOfSystem, madeCoreosVersion, nextMinor, skippedMinors } from './release-names.js'

test('the version of CoreOS is in the name of the system', () => {
  expect(coreosOfSystem('Red Hat Enterprise Linux CoreOS 9.6.20250826-1 (Plow)')).toBe('9.6.20250826-1')
  expect(coreosOfSystem('Red Hat Enterprise Linux CoreOS 418.94.202501221327-0')).toBe('418.94.202501221327-0')
  expect(coreosOfSystem('Ubuntu 24.04.1 LTS')).toBeUndefined()
})

test('a made release has a later CoreOS, with the numbers of the release where the old version has them', () => {
  expect(madeCoreosVersion('418.94.202511221327-0', '4.19.0')).toBe('419.94.202603221327-0')
  expect(madeCoreosVersion('9.6.20250826-1', '4.23.2')).toBe('9.6.20260226-0')
  expect(madeCoreosVersion('unknown', '4.23.0')).toBe('unknown')
})

test('minor releases that are passed over', () => {
  expect(skippedMinors('4.18.3', '4.18.9')).toBe(0)
  expect(skippedMinors('4.18.3', '4.19.0')).toBe(0)
  expect(skippedMinors('4.18.3', '4.21.0')).toBe(2)
  expect(skippedMinors('4.22.3', '5.0.0')).toBe(0)
  expect(nextMinor('4.21.7')).toBe('4.22.0')
})
