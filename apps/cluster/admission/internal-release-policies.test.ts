import { beforeEach, expect, test } from 'vitest'
import { seededRandom, VirtualClock } from '../../../base/runtime/index.js'
import { apiVersionOf, Behaviours, openKube, type Kube } from '../../../base/kubernetes/index.js'
import { GUARDS_INTERNAL_RELEASE } from '../actors/machine-config-operator/machine-config-behaviours.js'
import { internalReleasePolicies } from './internal-release-policies.js'

const BUNDLE = 'ocp-release-bundle-4.22.0-x86_64'
const DIGEST = `sha256:${'a'.repeat(64)}`

let kube: Kube['client']
beforeEach(() => {
  const behaviours = new Behaviours([GUARDS_INTERNAL_RELEASE], { without: [], as: 'today' })
  const policies = internalReleasePolicies(behaviours)
  kube = openKube({ clock: new VirtualClock(), random: seededRandom(1), policies }).client
})

const create = (metadata: { name: string }, name = BUNDLE) =>
  kube.create<'InternalReleaseImage'>({
    apiVersion: apiVersionOf('InternalReleaseImage'),
    kind: 'InternalReleaseImage',
    metadata,
    spec: { releases: [{ name: BUNDLE.replace('4.22.0', '4.22.1') }, { name }] },
  })

test('there is one, and the names of its releases have a form', async () => {
  await expect(create({ name: 'other' })).rejects.toThrow(
    'InternalReleaseImage.machineconfiguration.openshift.io "other" is invalid: <nil>: Invalid value: "object": ' +
      "internalreleaseimage is a singleton, .metadata.name must be 'cluster'",
  )
  await expect(create({ name: 'cluster' }, '4.22.0')).rejects.toThrow(
    'spec.releases[1].name: Invalid value: "4.22.0": must be ocp-release-bundle-<version>-<arch|stream> and <= 64 chars',
  )
  await create({ name: 'cluster' })
})

test.each([
  ['4.22.3', DIGEST, true],
  ['4.22.3', `sha256:${'b'.repeat(64)}`, false],
  // The policy came with 4.22.
  ['4.21.9', DIGEST, false],
])('of a cluster that runs %s from %s the deletion is refused: %s', async (version, digest, isRefused) => {
  const made = await create({ name: 'cluster' })
  const image = `api-int.lab.example:22625/openshift/release-images@${DIGEST}`
  await kube.updateStatus<'InternalReleaseImage'>({ ...made, status: { releases: [{ name: BUNDLE, image }] } })
  const cluster = await kube.create<'ClusterVersion'>({
    apiVersion: apiVersionOf('ClusterVersion'),
    kind: 'ClusterVersion',
    metadata: { name: 'version' },
    spec: { clusterID: '5e0a3f2c-0a57-4b4b-9a4f-9d8b7c6d5e4f' },
  })
  const desired = { version, image: `quay.io/openshift-release-dev/ocp-release@${digest}` }
  const status = { desired, history: [], observedGeneration: 1, versionHash: 'a', availableUpdates: null }
  await kube.updateStatus<'ClusterVersion'>({ ...cluster, status } as typeof cluster)
  const refusal = await kube.delete('InternalReleaseImage', { name: 'cluster' }).then(
    () => '',
    (error: unknown) => (error as Error).message,
  )
  const denied =
    'internalreleaseimages.machineconfiguration.openshift.io "cluster" is forbidden: ValidatingAdmissionPolicy ' +
    "'internalreleaseimage-deletion-guard' with binding 'internalreleaseimage-deletion-guard-binding' denied request: Cannot delete"
  expect(refusal.slice(0, denied.length)).toBe(isRefused ? denied : '')
})
