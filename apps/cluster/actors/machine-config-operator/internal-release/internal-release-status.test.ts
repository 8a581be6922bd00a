import { expect, test } from 'vitest'
import {
  conditionOf,
  type InternalReleaseImage,
  type KubeNode,
  type MachineConfigNode,
} from '../../../../../base/kubernetes/index.js'
import { VirtualClock } from '../../../../../base/runtime/index.js'
import { internalReleaseStatus } from './internal-release-status.js'

// The acceptance criteria of machine-config-operator 7ff337a pkg/controller/internalreleaseimage/testdata/acceptance, and the
// tests beside it.

const BUNDLE = 'ocp-release-bundle-4.22.0-x86_64'
const HOST = 'api-int.lab.example:22625'
const IMAGE = `openshift/release-images@sha256:${'a'.repeat(64)}`
const AT = '2026-08-20T00:00:00Z'

const condition = (type: string, status: 'True' | 'False', reason = 'Any') => ({
  type,
  status,
  reason,
  message: reason,
  lastTransitionTime: AT,
})

const release = (...names: string[]): InternalReleaseImage => ({
  apiVersion: 'machineconfiguration.openshift.io/v1',
  kind: 'InternalReleaseImage',
  metadata: { name: 'cluster', uid: 'a', resourceVersion: '1', generation: 3, creationTimestamp: AT },
  spec: { releases: names.map((name) => ({ name })) },
})

const node = (name: string, ready: 'True' | 'False' = 'True'): KubeNode => ({
  apiVersion: 'v1',
  kind: 'Node',
  metadata: { name, uid: name, resourceVersion: '1', generation: 1, creationTimestamp: AT },
  status: { conditions: [condition('Ready', ready)] },
})

const report = (name: string, degraded: 'True' | 'False' = 'False', bundles = [BUNDLE]): MachineConfigNode => ({
  apiVersion: 'machineconfiguration.openshift.io/v1',
  kind: 'MachineConfigNode',
  metadata: { name, uid: name, resourceVersion: '1', generation: 1, creationTimestamp: AT },
  spec: { node: { name }, pool: { name: 'master' }, configVersion: { desired: 'rendered-master' } },
  status: {
    conditions: [condition('InternalReleaseImageDegraded', degraded)],
    internalReleaseImage: {
      releases: bundles.map((each) => ({
        name: each,
        image: `localhost:22625/${IMAGE}`,
        conditions: [condition('Available', degraded === 'True' ? 'False' : 'True', `of ${name}`)],
      })),
    },
  },
})

const statusOf = (
  names: string[],
  found: { reports: MachineConfigNode[]; nodes?: KubeNode[]; isServed?: boolean; failure?: string },
) => {
  const nodes = found.reports.map(({ metadata }) => node(metadata.name))
  const all = { host: HOST, isServed: true, payload: `quay.io/${IMAGE}`, nodes, ...found }
  const { conditions, releases } = internalReleaseStatus(release(...names), all, new VirtualClock())
  const { status, reason, message, observedGeneration } = conditionOf(conditions, 'Degraded')!
  return { degraded: [status, reason, message], observedGeneration, releases }
}

test('all registries are well: the image is that of the address in front of them', () => {
  const { degraded, observedGeneration, releases } = statusOf([BUNDLE], {
    reports: [report('master-0'), report('master-1')],
  })
  expect(degraded).toEqual(['False', 'AllReleasesAvailable', 'All the release images are available'])
  expect(observedGeneration).toBe(3)
  expect(releases).toMatchObject([{ name: BUNDLE, image: `${HOST}/${IMAGE}` }])
})

test('a node that is not ready, and one whose registry is away', () => {
  const reports = [report('master-0'), report('master-1')]
  const nodes = [node('master-0'), node('master-1', 'False')]
  const notReady = statusOf([BUNDLE], { reports, nodes })
  expect(notReady.degraded).toEqual([
    'True',
    'SomeNodesUnavailable',
    'The following nodes are not ready: [master-1]. See the related Node resource status for more details.',
  ])
  expect(conditionOf(notReady.releases[0]!.conditions, 'Degraded')).toMatchObject({
    message: 'The following nodes are not ready: [master-1].',
  })

  const away = statusOf([BUNDLE], { reports: [report('master-0', 'True'), report('master-1')] })
  expect(away.degraded).toEqual([
    'True',
    'SomeRegistriesUnavailable',
    'The following nodes are degraded: [master-0]. See the related MachineConfigNode resource status for more details.',
  ])
  // The report of the node that is well counts.
  expect(conditionOf(away.releases[0]!.conditions, 'Available')).toMatchObject({
    status: 'True',
    reason: 'of master-1',
  })
})

test('of a degraded node and one that is not ready, the later name decides', () => {
  const reports = [report('master-0', 'True'), report('master-1')]
  const reason = (nodes: KubeNode[], all = reports) => statusOf([BUNDLE], { reports: all, nodes }).degraded[1]
  expect(reason([node('master-0'), node('master-1', 'False')])).toBe('SomeNodesUnavailable')
  const other = [report('master-0'), report('master-1', 'True')]
  expect(reason([node('master-0', 'False'), node('master-1')], other)).toBe('SomeRegistriesUnavailable')
})

test('an address that no node answers makes all releases unavailable, with a digest of zeros', () => {
  const { degraded, releases } = statusOf([BUNDLE], { reports: [report('master-0')], isServed: false })
  expect(degraded).toEqual(['True', 'ApiIntNotAvailable', `Unable to reach any registry via ${HOST}`])
  expect(releases).toMatchObject([{ image: `${HOST}/openshift/release-images@sha256:${'0'.repeat(64)}` }])
  expect(conditionOf(releases[0]!.conditions, 'Available')).toMatchObject({
    status: 'False',
    reason: 'ApiIntNotAvailable',
    message: 'The specified release image is not available',
  })
})

test('a release that no node has', () => {
  const { degraded, releases } = statusOf(['ocp-release-bundle-4.23.0-x86_64'], { reports: [report('master-0')] })
  expect(degraded[0]).toBe('False')
  expect(conditionOf(releases[0]!.conditions, 'Degraded')).toMatchObject({
    status: 'True',
    reason: 'ReleaseImageNotAvailable',
    message: 'The specified release image is not available',
  })
})

test('before the first report the release is that of the cluster; a failure of the controller is said', () => {
  const { degraded, releases } = statusOf([BUNDLE], { reports: [], failure: 'could not get Secret a' })
  expect(degraded).toEqual(['True', 'SyncError', 'Error syncing InternalReleaseImage: could not get Secret a'])
  expect(releases).toMatchObject([{ image: `quay.io/${IMAGE}`, conditions: [{ reason: 'Installed', status: 'True' }] }])
})
