import { afterEach, expect, test } from 'vitest'
import {
  apiVersionOf,
  conditionOf,
  runController,
  type InternalReleaseImage,
} from '../../../../../base/kubernetes/index.js'
import { clusterScene } from '../../../../../test/kit/cluster/cluster-scene.js'
import * as behaviours from '../machine-config-behaviours.js'
import { GENERATED_BY, nodeRoleLabel, OS_IMAGE } from '../machine-config-names.js'
import { InternalReleaseController } from './internal-release-controller.js'
import { REGISTRY_ACCOUNT, REGISTRY_TLS } from './internal-release-names.js'

let running: AsyncDisposable | undefined
afterEach(() => running?.[Symbol.asyncDispose]())

/** The controller in a cluster that was installed with other registries. */
async function begun(release: string) {
  const scene = clusterScene({ all: Object.values(behaviours), as: 'today' })
  const { kube, parts } = scene
  const registry = { pull: () => Promise.reject(new Error('no registry')) }
  await kube.create<'ConfigMap'>({
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: OS_IMAGE,
    data: { releaseVersion: release },
  })
  const labels = { [nodeRoleLabel('master')]: '' }
  await kube.create<'Node'>({ apiVersion: 'v1', kind: 'Node', metadata: { name: 'node-0', labels } })
  await kube.create<'InternalReleaseImage'>({
    apiVersion: apiVersionOf('InternalReleaseImage'),
    kind: 'InternalReleaseImage',
    metadata: { name: 'cluster' },
    spec: { releases: [{ name: 'ocp-release-bundle-4.22.0-x86_64' }] },
  })
  running = runController(new InternalReleaseController({ ...parts, registry, isKnownAmi: () => false }), parts)
  return scene
}

const degraded = ({ status }: InternalReleaseImage) => conditionOf(status?.conditions, 'Degraded')
const secret = (metadata: { name: string; namespace: string }, stringData: Record<string, string>) =>
  ({ apiVersion: 'v1', kind: 'Secret', type: 'Opaque', metadata, stringData }) as const

test('without the Secrets of the installation the status says which is missing', async () => {
  const { kube, until } = await begun('4.22.0')
  const missing = (name: string) => (object: InternalReleaseImage) =>
    degraded(object)?.message ===
    `Error syncing InternalReleaseImage: could not get Secret ${name}: secret "${name}" not found`
  await until('InternalReleaseImage', 'cluster', missing(REGISTRY_TLS.name))
  await kube.create<'Secret'>(secret(REGISTRY_TLS, { 'tls.crt': 'PEM' }))
  await until('InternalReleaseImage', 'cluster', missing(REGISTRY_ACCOUNT.name))
  await kube.create<'Secret'>(secret(REGISTRY_ACCOUNT, { htpasswd: 'openshift:x' }))
  await until('InternalReleaseImage', 'cluster', (object) =>
    (degraded(object)?.message ?? '').endsWith(`cannot find tls.key in secret ${REGISTRY_TLS.name}`),
  )
  expect((await kube.list('MachineConfig')).items).toEqual([])
})

test('nodes without the storage of such an installation serve nothing; the MachineConfigs and the finalizer are there', async () => {
  const { kube, until } = await begun('4.22.0')
  await kube.create<'Secret'>(secret(REGISTRY_TLS, { 'tls.crt': 'PEM', 'tls.key': 'KEY' }))
  await kube.create<'Secret'>(secret(REGISTRY_ACCOUNT, { htpasswd: 'openshift:x' }))
  const { metadata } = await until(
    'InternalReleaseImage',
    'cluster',
    (object) => degraded(object)?.reason === 'ApiIntNotAvailable',
  )
  expect(metadata.finalizers).toEqual(['internalreleaseimage.machineconfiguration.openshift.io'])
  const configs = (await kube.list('MachineConfig')).items
  expect(configs.map((config) => [config.metadata.name, config.metadata.annotations?.[GENERATED_BY]])).toEqual([
    ['02-master-internalreleaseimage', '4.22.0'],
    ['02-worker-internalreleaseimage', '4.22.0'],
  ])
})

test('an operator from before 4.22 leaves the object alone', async () => {
  const { clock, kube } = await begun('4.21.0')
  await clock.until(clock.sleep(60_000))
  expect((await kube.get('InternalReleaseImage', { name: 'cluster' })).status).toBeUndefined()
})
