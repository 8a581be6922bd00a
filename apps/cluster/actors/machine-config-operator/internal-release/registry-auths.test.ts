import { expect, test } from 'vitest'
import { apiVersionOf } from '../../../../../base/kubernetes/index.js'
import { clusterScene } from '../../../../../test/kit/cluster/cluster-scene.js'
import { SERVES_FROM_NODES } from '../machine-config-behaviours.js'
import { OWN_SPEC } from '../rendered-config.js'
import { templatesOf } from '../templates.js'
import { REGISTRY_ACCOUNT } from './internal-release-names.js'
import { registryAuths } from './registry-auths.js'

test('the templates have the account of the registry while there is an InternalReleaseImage', async () => {
  const { kube, parts } = clusterScene({ all: [SERVES_FROM_NODES], as: 'today' })
  const stringData = { password: 'secret', htpasswd: 'openshift:x' }
  await kube.create<'Secret'>({
    apiVersion: 'v1',
    kind: 'Secret',
    type: 'Opaque',
    metadata: REGISTRY_ACCOUNT,
    stringData,
  })
  const cluster = await kube.create<'Infrastructure'>({
    apiVersion: apiVersionOf('Infrastructure'),
    kind: 'Infrastructure',
    metadata: { name: 'cluster' },
    spec: {},
  })
  const status = { apiServerInternalURI: 'https://api-int.lab.example:6443' }
  await kube.updateStatus<'Infrastructure'>({ ...cluster, status })
  expect(await registryAuths(parts, '4.22.0')).toBeUndefined()

  await kube.create<'InternalReleaseImage'>({
    apiVersion: apiVersionOf('InternalReleaseImage'),
    kind: 'InternalReleaseImage',
    metadata: { name: 'cluster' },
    spec: { releases: [{ name: 'ocp-release-bundle-4.22.0-x86_64' }] },
  })
  const auth = Buffer.from('openshift:secret').toString('base64')
  const auths = await registryAuths(parts, '4.22.0')
  expect(auths).toEqual({ 'api-int.lab.example:22625': { auth }, 'localhost:22625': { auth } })
  expect(await registryAuths(parts, '4.21.0')).toBeUndefined()

  const [first] = templatesOf('worker', '4.22.0', auths)
  expect(first!.spec.config).toMatchObject({
    ignition: { version: OWN_SPEC },
    storage: {
      files: [
        {},
        {
          path: '/var/lib/kubelet/config.json',
          contents: { source: `data:,${encodeURIComponent(JSON.stringify({ auths }))}` },
        },
      ],
    },
  })
})
