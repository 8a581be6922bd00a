import { describe, expect, test } from 'vitest'
import type { MachineProviderSpec } from '../../../../../base/kubernetes/index.js'
import type { StreamArchitecture } from '../../../../../coreos/index.js'
import type { Cloud } from '../../../site/cloud-platforms.js'
import { imageChange, type ImageQuestion } from './cloud-images.js'

const marketplaceImage = (sku: string) => ({
  publisher: 'azureopenshift',
  offer: 'aro4',
  sku,
  version: '422.6.20260701',
})
const PAID = { publisher: 'redhat', offer: 'rh-ocp-worker', sku: 'rh-ocp-worker', version: '422.6.2026070100' }

const OFFERED: StreamArchitecture = {
  artifacts: {},
  images: {
    gcp: { release: '9.6.20260701-0', project: 'rhcos-cloud', name: 'rhcos-new' },
    aws: { regions: { 'us-east-1': { release: '9.6.20260701-0', image: 'ami-new' } } },
  },
  'rhel-coreos-extensions': {
    marketplace: {
      azure: {
        'no-purchase-plan': { hyperVGen1: marketplaceImage('aro_422'), hyperVGen2: marketplaceImage('422-v2') },
        ocp: { hyperVGen2: PAID },
      },
    },
  },
}

const ask = (cloud: Cloud, value: MachineProviderSpec, more: Partial<ImageQuestion> = {}) =>
  imageChange(cloud, {
    name: 'workers',
    value,
    offered: OFFERED,
    architecture: 'x86_64',
    leavesUnknown: true,
    isKnownAmi: (id) => id === 'ami-old' || id === 'ami-new',
    ...more,
  })

const NEW_GCP = 'projects/rhcos-cloud/global/images/rhcos-new'
const disks = (...images: string[]) => ({ disks: images.map((image) => ({ boot: true, image, sizeGb: 128 })) })

describe('GCP', () => {
  test('the boot disk gets the image of the release, and all else stays', () => {
    const data = { boot: false, image: '', sizeGb: 10 }
    const value = { disks: [...disks('projects/rhcos-cloud/global/images/rhcos-old').disks, data], machineType: 'n2' }
    expect(ask('GCP', value)).toEqual({
      kind: 'changed',
      image: NEW_GCP,
      value: { disks: [{ boot: true, image: NEW_GCP, sizeGb: 128 }, data], machineType: 'n2' },
    })
  })

  test('the image of the release stays', () => {
    expect(ask('GCP', disks(NEW_GCP))).toEqual({ kind: 'same' })
  })

  test("an image of another project is the user's own", () => {
    const why = 'current boot image projects/mine/global/images/a is unknown, skipping update of MachineSet workers'
    expect(ask('GCP', disks('projects/mine/global/images/a'))).toEqual({ kind: 'skipped', why, isCounted: true })
  })

  test('metadata without an image is an error', () => {
    expect(() => ask('GCP', disks('a'), { offered: { artifacts: {} } })).toThrow('names no image for gcp')
  })
})

describe('AWS', () => {
  const inRegion = (id: string, region = 'us-east-1') => ({ ami: { id }, placement: { region } })

  test('an AMI of a release becomes the one of the region', () => {
    expect(ask('AWS', inRegion('ami-old'))).toEqual({
      kind: 'changed',
      image: 'ami-new',
      value: inRegion('ami-new'),
    })
    expect(ask('AWS', inRegion('ami-new'))).toEqual({ kind: 'same' })
  })

  test.each([
    ['an AMI that no installer used', inRegion('ami-mine'), 'current AMI ami-mine is unknown'],
    ['no AMI', { placement: { region: 'us-east-1' } }, 'current AMI.ID is undefined'],
    ['a region without an image', inRegion('ami-old', 'mars-1'), 'failed to get AMI for region mars-1'],
  ])('%s is skipped', (_, value, why) => {
    expect(ask('AWS', value)).toMatchObject({
      kind: 'skipped',
      isCounted: true,
      why: expect.stringContaining(why) as string,
    })
  })
})

describe('Azure', () => {
  const unpaid = (sku: string) => ({ ...marketplaceImage(sku), resourceID: '', type: 'MarketplaceNoPlan' })

  test.each<[string, MachineProviderSpec['image'], object]>([
    ['uploaded, of the first generation', { resourceID: '/galleries/a/images/b' }, unpaid('aro_422')],
    ['uploaded, of the second generation', { resourceID: '/galleries/a/images/b-gen2' }, unpaid('422-v2')],
    ['unpaid', { ...unpaid('421-v2'), version: '421.6.20260210' }, unpaid('422-v2')],
    [
      'paid, of its own plan',
      { ...PAID, version: '421.0', type: 'MarketplaceWithPlan' },
      { ...PAID, resourceID: '', type: 'MarketplaceWithPlan' },
    ],
  ])('an image that is %s', (_, image, expected) => {
    expect(ask('Azure', { image: image! })).toMatchObject({ kind: 'changed', value: { image: expected } })
  })

  test('the image of the release stays', () => {
    expect(ask('Azure', { image: unpaid('422-v2') })).toEqual({ kind: 'same' })
  })

  test('an image of no known plan is an error', () => {
    const image = { publisher: 'mine', offer: 'own', sku: 'a', version: '1', type: 'MarketplaceWithPlan' }
    expect(() => ask('Azure', { image })).toThrow('could not determine azure marketplace variant')
  })

  test('a plan without an image of the generation is an error', () => {
    const image = { ...PAID, sku: 'rh-ocp-worker-gen1', type: 'MarketplaceWithPlan' }
    expect(() => ask('Azure', { image })).toThrow('no Gen1 Azure marketplace image available for architecture x86_64')
  })

  test('confidential machines and other architectures are passed over, and do not count', () => {
    const image = unpaid('421-v2')
    const confidential = { image, securityProfile: { settings: { securityType: 'ConfidentialVM' } } }
    expect(ask('Azure', confidential)).toMatchObject({ kind: 'skipped', isCounted: false })
    expect(ask('Azure', { image }, { architecture: 's390x' })).toMatchObject({ kind: 'skipped', isCounted: false })
  })

  test('a stream without a marketplace is skipped', () => {
    expect(ask('Azure', { image: unpaid('421-v2') }, { offered: { artifacts: {} } })).toMatchObject({ isCounted: true })
  })
})
