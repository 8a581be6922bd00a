import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { compareVersions, parseVersion } from './coreos-versions.js'

describe('row 29: versions of all four forms', () => {
  test.each([
    ['38.20230718.3.0', 'fedora', [38, 202307180000, 3, 0]],
    ['48.83.202102230316-0', 'openshift', [4, 8, 8, 3, 202102230316, 0]],
    ['418.94.202410090804-0', 'openshift', [4, 18, 9, 4, 202410090804, 0]],
    ['48.810.202102230316-0', 'openshift', [4, 8, 8, 10, 202102230316, 0]],
    ['418.9.202411081211-1', 'openshift', [4, 18, 9, 0, 202411081211, 1]],
    ['9.2.20220510.1', 'rhel', [9, 2, 202205100000, 1]],
    ['10.2.20260715-0', 'rhel', [10, 2, 202607150000, 0]],
  ] as const)('%s is of %s', (text, form, numbers) => {
    expect(parseVersion(text)).toEqual({ text, form, numbers })
  })

  test.each(['', '4.8', '38.20230718', '9.2', 'latest', '48.83.2021-0', '38.20230718.3.0 '])('%j is none', (text) => {
    expect(() => parseVersion(text)).toThrow(/is not a version of CoreOS/)
  })

  const ORDERED = {
    Fedora: ['37.20230401.3.0', '38.20230401.3.0', '38.20230718.3.0', '38.20230718.3.1', '38.20230806.1.0'],
    RHEL: [
      '46.82.202012051820-0',
      '48.83.202102230316-0',
      '48.84.202101010000-0',
      '49.84.202101010000-0',
      '410.84.202101010000-0',
      '9.2.20220510.1',
      '9.2.20220510.2',
      '9.6.20250826-1',
      '10.0.20250101-0',
      '10.2.20260715-0',
      '10.2.20260715-10',
    ],
  }
  test.each(Object.entries(ORDERED))('in their order: %s', (_, versions) => {
    fc.assert(
      fc.property(fc.shuffledSubarray(versions), (some) => {
        const sorted = [...some].sort(compareVersions)
        expect(sorted).toEqual(versions.filter((version) => some.includes(version)))
      }),
    )
  })

  test('a version of Fedora is neither older nor newer than one of RHEL', () => {
    expect(() => compareVersions('38.20230718.3.0', '9.2.20220510.1')).toThrow(/only one of them is Fedora CoreOS/)
  })
})
