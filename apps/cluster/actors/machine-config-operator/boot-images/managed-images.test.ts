import { describe, expect, test } from 'vitest'
import type { MachineConfiguration, MachineManager } from '../../../../../base/kubernetes/index.js'
import { managedPlatforms, platformSupport } from './boot-image-platforms.js'
import { isEnrolled, managedImages } from './managed-images.js'

const manager = (resource: MachineManager['resource'], mode: 'All' | 'None'): MachineManager => ({
  resource,
  apiGroup: 'machine.openshift.io',
  selection: { mode },
})
const sets = (mode: 'All' | 'None') => manager('machinesets', mode)
const controlPlane = (mode: 'All' | 'None') => manager('controlplanemachinesets', mode)

const settings = (wanted?: MachineManager[], known?: MachineManager[]): MachineConfiguration => ({
  apiVersion: 'operator.openshift.io/v1',
  kind: 'MachineConfiguration',
  metadata: { name: 'cluster', uid: '1', resourceVersion: '1', generation: 1, creationTimestamp: '' },
  spec: wanted ? { managedBootImages: { machineManagers: wanted } } : {},
  ...(known && { status: { managedBootImagesStatus: { machineManagers: known } } }),
})

const onGcp = platformSupport('GCP', '4.22.0')

describe('the setting in force', () => {
  test.each<[string, MachineConfiguration, MachineManager[], boolean]>([
    ['a new cluster is managed', settings(), [sets('All'), controlPlane('None')], true],
    ['one that is managed already', settings([], undefined), [], false],
    ['one that was not managed before', settings(undefined, [sets('None')]), [sets('All'), controlPlane('None')], true],
    ['one that is', settings(undefined, [sets('All')]), [sets('All'), controlPlane('None')], false],
    ['an opt-out', settings([sets('None')], [sets('All')]), [sets('None'), controlPlane('None')], false],
    [
      'the control plane alone',
      settings([controlPlane('All')], [sets('All')]),
      [sets('All'), controlPlane('All')],
      false,
    ],
  ])('%s', (_, wanted, machineManagers, isOptedIn) => {
    expect(managedImages(wanted, onGcp)).toEqual({ status: { machineManagers }, isOptedIn })
  })

  test('a platform that is not managed by default is left out', () => {
    const { status } = managedImages(settings(), platformSupport('Azure', '4.21.0'))
    expect(status).toEqual({ machineManagers: [sets('None')] })
  })
})

test('a part of the machine sets is chosen by labels', () => {
  const partial: MachineManager = {
    ...sets('All'),
    selection: { mode: 'Partial', partial: { machineResourceSelector: { matchLabels: { update: 'yes' } } } },
  }
  const status = { machineManagers: [partial] }
  expect(isEnrolled(status, 'machinesets', { update: 'yes' })).toBe(true)
  expect(isEnrolled(status, 'machinesets', { update: 'no' })).toBe(false)
  expect(isEnrolled(status, 'controlplanemachinesets', { update: 'yes' })).toBe(false)
})

test('platforms by release', () => {
  expect(managedPlatforms('4.15.9')).toEqual([])
  expect(managedPlatforms('4.18.0')).toEqual(['GCP', 'AWS'])
  expect(platformSupport('BareMetal', '5.0.0').isManaged).toBe(false)
  expect(platformSupport('GCP', '4.18.0')).toMatchObject({ isManaged: true, isManagedByDefault: false })
  expect(platformSupport('VSphere', '5.0.0')).toMatchObject({ isManagedByDefault: true, managesControlPlane: false })
})
