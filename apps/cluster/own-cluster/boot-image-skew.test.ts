import { describe, expect, test } from 'vitest'
import { skewEnforcement, skewMessage, type SkewFacts } from './boot-image-skew.js'
import type { OwnProvisioning, SkewEnforcement } from './own-objects.js'

const provisioning = (url: string): OwnProvisioning => ({
  apiVersion: 'metal3.io/v1alpha1',
  kind: 'Provisioning',
  metadata: { name: 'provisioning-configuration' },
  spec: { provisioningOSDownloadURL: url },
})
const facts = (more: Partial<SkewFacts>): SkewFacts => ({
  platform: 'BareMetal',
  isSingleNode: false,
  installed: '4.9.17',
  provisioning: provisioning('https://images.example/rhcos-49.qcow2.gz'),
  configuration: undefined,
  ...more,
})
const manual = (ocpVersion: string): SkewEnforcement => ({
  mode: 'Manual',
  manual: { mode: 'OCPVersion', ocpVersion },
})

describe('the mode', () => {
  test.each<[string, Partial<SkewFacts>, SkewEnforcement]>([
    ['None on bare metal', { provisioning: provisioning('') }, { mode: 'None' }],
    ['Manual on bare metal with an old image', {}, manual('4.9.17')],
    ['Manual where the Provisioning cannot be read', { provisioning: undefined }, manual('4.9.17')],
    ['None on a single node', { isSingleNode: true }, { mode: 'None' }],
    ['Manual on other platforms', { platform: 'None', provisioning: provisioning('') }, manual('4.9.17')],
    ['Automatic where the operator keeps them new', { platform: 'AWS' }, { mode: 'Automatic', automatic: {} }],
    ['Manual of version 0.0.0 where no version is known', { installed: '' }, manual('0.0.0')],
  ])('is %s', (_, more, mode) => {
    expect(skewEnforcement(facts(more))).toEqual(mode)
  })
})

describe('boot images', () => {
  test.each<[SkewEnforcement, string | undefined]>([
    [{ mode: 'None' }, undefined],
    [manual('4.13.0'), undefined],
    [manual('4.12.40'), 'version 4.12.40, which is below the minimum required version 4.13.0'],
    [{ mode: 'Automatic', automatic: { ocpVersion: '4.12.0' } }, 'version 4.12.0'],
    [{ mode: 'Manual', manual: { rhcosVersion: '9.6.20250826-1' } }, undefined],
    [{ mode: 'Manual', manual: { rhcosVersion: '9.0.20230101-0' } }, '(RHEL version: 9.0)'],
    [{ mode: 'Manual', manual: { rhcosVersion: '412.86.202301010000-0' } }, '(RHEL version: 8.6)'],
    [{ mode: 'Manual', manual: { rhcosVersion: '413.92.202305021736-0' } }, undefined],
    [{ mode: 'Manual', manual: { rhcosVersion: 'other' } }, undefined],
  ])('%j: %s', (mode, message) => {
    const found = skewMessage(mode)
    if (message === undefined) expect(found).toBeUndefined()
    else expect(found).toContain(message)
  })
})
