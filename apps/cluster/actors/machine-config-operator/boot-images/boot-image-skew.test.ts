import { describe, expect, test } from 'vitest'
import { skewEnforcement, skewProblem, type SkewFacts } from './boot-image-skew.js'

const facts: SkewFacts = {
  spec: {},
  platform: 'BareMetal',
  topology: 'HighlyAvailable',
  isLegacy: false,
  installed: '4.9.0',
}
const automatic = (ocpVersion: string) => ({ mode: 'Automatic' as const, automatic: { ocpVersion } })
const manual = (ocpVersion: string) => ({ mode: 'Manual', manual: { mode: 'OCPVersion', ocpVersion } })

describe('how skew is enforced', () => {
  test.each<[string, Partial<SkewFacts>, object]>([
    ['bare metal that the release installs', {}, { mode: 'None' }],
    ['bare metal of 4.9 or before', { isLegacy: true }, manual('4.9.0')],
    ['an unknown first version', { isLegacy: true, installed: '0.0.0' }, manual('0.0.0')],
    ['one node', { platform: 'None', topology: 'SingleReplica' }, { mode: 'None' }],
    ['a cloud with managed images', { platform: 'GCP', managesAll: true }, automatic('4.9.0')],
    [
      'the same, once they were updated',
      { platform: 'GCP', managesAll: true, before: automatic('4.22.0') },
      automatic('4.22.0'),
    ],
    ['a cloud whose images are not managed', { platform: 'GCP' }, manual('4.9.0')],
    ['another platform', { platform: 'OpenStack' }, manual('4.9.0')],
    [
      'the settings say none',
      { isLegacy: true, spec: { bootImageSkewEnforcement: { mode: 'None' } } },
      { mode: 'None' },
    ],
    [
      'the settings name a version',
      { spec: { bootImageSkewEnforcement: { mode: 'Manual', manual: { mode: 'OCPVersion', ocpVersion: '4.20.0' } } } },
      manual('4.20.0'),
    ],
  ])('%s', (_, change, expected) => {
    expect(skewEnforcement({ ...facts, ...change })).toEqual(expected)
  })
})

describe('boot images that are too old', () => {
  test.each([
    [{ ocpVersion: '4.9.0' }, 'OCP boot image version 4.9.0, which is below the minimum required version 4.13.0'],
    [{ ocpVersion: '4.12.58' }, 'OCP boot image version 4.12.58, which'],
    [{ ocpVersion: '4.13.0' }, undefined],
    [{ ocpVersion: '5.0.0' }, undefined],
    [{ ocpVersion: '0.0.0' }, 'OCP boot image version 0.0.0'],
    [{ ocpVersion: 'newest' }, undefined],
    [
      { rhcosVersion: '48.84.202208021106-0' },
      'RHCOS boot image version 48.84.202208021106-0(RHEL version: 8.4), which is below the minimum required RHEL version 9.2',
    ],
    [{ rhcosVersion: '413.92.202305021736-0' }, undefined],
    [{ rhcosVersion: '414.810.202305021736-0' }, 'RHEL version: 8.10'],
    [{ rhcosVersion: '9.0.20251023-0' }, 'RHEL version: 9.0'],
    [{ rhcosVersion: '9.6.20251023-0' }, undefined],
    [{ rhcosVersion: '9.6.2025-0' }, undefined],
  ])('%j', (version, expected) => {
    const found = skewProblem({ mode: 'Manual', manual: { mode: 'OCPVersion', ...version } }, '4.22.3')
    if (expected === undefined) return expect(found).toBeUndefined()
    expect(found).toContain(expected)
    expect(found).toContain('/openshift_container_platform/4.22/')
  })

  test('are nothing to a cluster without enforcement', () => {
    expect(skewProblem({ mode: 'None' }, '4.22.0')).toBeUndefined()
    expect(skewProblem(undefined, '4.22.0')).toBeUndefined()
  })
})
