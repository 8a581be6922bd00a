import { expect, test } from 'vitest'
import { Behaviours, openKube, type ActorParts } from '../../../../base/kubernetes/index.js'
import { seededRandom, silent, VirtualClock } from '../../../../base/runtime/index.js'
import type { ManifestObject } from '../../site/site-releases.js'
import { applyRelease } from './apply-release.js'

const AT = { name: 'coreos-bootimages', namespace: 'openshift-machine-config-operator' }
const STAMPS = { MCOVersionHash: 'c0ffee', MCOReleaseImageVersion: '4.21.0' }

function openScene() {
  const clock = new VirtualClock()
  const random = seededRandom(3)
  const { client: kube } = openKube({ clock, random })
  const parts: ActorParts = { kube, clock, random, logger: silent, behaviours: new Behaviours([]), announce: () => {} }
  const apply = (version: string, object: ManifestObject) =>
    applyRelease({ version, manifests: [{ name: '0000_50_installer_coreos-bootimages.yaml', object }] }, parts)
  return { kube, apply }
}

const bootImages = (data: Record<string, string>): ManifestObject => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { ...AT },
  data,
})

test('a ConfigMap keeps the entries that others have added, in each sync and in an upgrade', async () => {
  const { kube, apply } = openScene()
  await apply('4.21.0', bootImages({ releaseVersion: '4.21.0', stream: 'a' }))
  await kube.patch('ConfigMap', AT, { data: STAMPS })

  await apply('4.21.0', bootImages({ releaseVersion: '4.21.0', stream: 'a' }))
  expect((await kube.get('ConfigMap', AT)).data).toEqual({ releaseVersion: '4.21.0', stream: 'a', ...STAMPS })

  await apply('4.22.0', bootImages({ releaseVersion: '4.22.0', stream: 'b' }))
  expect((await kube.get('ConfigMap', AT)).data).toEqual({ releaseVersion: '4.22.0', stream: 'b', ...STAMPS })
})

test('an entry of the manifest that another has changed is put back', async () => {
  const { kube, apply } = openScene()
  await apply('4.21.0', bootImages({ stream: 'a' }))
  await kube.patch('ConfigMap', AT, { data: { stream: 'b' } })

  await apply('4.21.0', bootImages({ stream: 'a' }))

  expect((await kube.get('ConfigMap', AT)).data).toEqual({ stream: 'a' })
})

test('another kind is as the manifest has it', async () => {
  const { kube, apply } = openScene()
  const pool = (spec: object) =>
    ({
      apiVersion: 'machineconfiguration.openshift.io/v1',
      kind: 'MachineConfigPool',
      metadata: { name: 'worker' },
      spec,
    }) as ManifestObject
  await apply('4.21.0', pool({ nodeSelector: { matchLabels: { a: '' } } }))
  await kube.patch('MachineConfigPool', { name: 'worker' }, { spec: { nodeSelector: { matchLabels: { b: '' } } } })

  await apply('4.21.0', pool({ nodeSelector: { matchLabels: { a: '' } } }))

  expect((await kube.get('MachineConfigPool', { name: 'worker' })).spec.nodeSelector).toEqual({
    matchLabels: { a: '' },
  })
})
