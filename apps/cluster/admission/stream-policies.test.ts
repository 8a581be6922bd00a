import { beforeEach, expect, test } from 'vitest'
import { seededRandom, VirtualClock } from '../../../base/runtime/index.js'
import { apiVersionOf, openKube, type Kube } from '../../../base/kubernetes/index.js'
import { STREAM_POLICIES } from './stream-policies.js'

const DIGEST = `sha256:${'a'.repeat(64)}`
const stream = (name: string) => ({
  name,
  osImage: `r.example/os@${DIGEST}`,
  osExtensionsImage: `r.example/ext@${DIGEST}`,
})

let kube: Kube['client']
beforeEach(async () => {
  kube = openKube({ clock: new VirtualClock(), random: seededRandom(1), policies: STREAM_POLICIES }).client
  const made = await kube.create<'OSImageStream'>({
    apiVersion: apiVersionOf('OSImageStream'),
    kind: 'OSImageStream',
    metadata: { name: 'cluster' },
    spec: { defaultStream: 'rhel-9' },
  })
  const status = { defaultStream: 'rhel-9', availableStreams: [stream('rhel-10'), stream('rhel-9')] }
  await kube.updateStatus<'OSImageStream'>({ ...made, status })
})

const pool = (name: string, osImageStream?: string) =>
  kube.create<'MachineConfigPool'>({
    apiVersion: apiVersionOf('MachineConfigPool'),
    kind: 'MachineConfigPool',
    metadata: { name },
    spec: osImageStream === undefined ? {} : { osImageStream: { name: osImageStream } },
  })

test('a pool names a stream that there is', async () => {
  await pool('a', 'rhel-10')
  await pool('b')
  await expect(pool('c', 'rhel-11')).rejects.toMatchObject({
    status: {
      code: 422,
      reason: 'Invalid',
      message:
        'machineconfigpools.machineconfiguration.openshift.io "c" is forbidden: ValidatingAdmissionPolicy ' +
        "'machineconfigpool-osimagestream-reference-validation' with binding " +
        "'machineconfigpool-osimagestream-reference-validation-binding' denied request: The specified osImageStream " +
        'name must reference a valid stream from the cluster OSImageStream resource',
    },
  })
})

test('the streams are not deleted', async () => {
  await expect(kube.delete('OSImageStream', { name: 'cluster' })).rejects.toThrow(
    'denied request: Deletion of OSImageStream resources is not allowed',
  )
})

test('there is one object of them, and its default is one of them', async () => {
  await kube.patch('OSImageStream', { name: 'cluster' }, { spec: { defaultStream: 'rhel-10' } })
  await expect(
    kube.patch('OSImageStream', { name: 'cluster' }, { spec: { defaultStream: 'rhel-11' } }),
  ).rejects.toMatchObject({
    status: {
      code: 422,
      message:
        'OSImageStream.machineconfiguration.openshift.io "cluster" is invalid: <nil>: Invalid value: "object": ' +
        'spec.defaultStream must reference an existing stream name from status.availableStreams',
    },
  })
  await expect(
    kube.create<'OSImageStream'>({
      apiVersion: apiVersionOf('OSImageStream'),
      kind: 'OSImageStream',
      metadata: { name: 'other' },
      spec: { defaultStream: 'rhel-9' },
    }),
  ).rejects.toThrow("osimagestream is a singleton, .metadata.name must be 'cluster'")
})
