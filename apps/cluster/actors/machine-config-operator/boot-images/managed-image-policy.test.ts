import { expect, test } from 'vitest'
import { Behaviours, openKube } from '../../../../../base/kubernetes/index.js'
import { seededRandom, VirtualClock } from '../../../../../base/runtime/index.js'
import { OS_IMAGE } from '../machine-config-names.js'
import { managedImagePolicy } from './managed-image-policy.js'

const CLUSTER = { name: 'cluster' }
const MANAGED = {
  managedBootImages: {
    machineManagers: [{ resource: 'machinesets', apiGroup: 'machine.openshift.io', selection: { mode: 'All' } }],
  },
}

/** An API of a release on a platform. */
async function openApi(releaseVersion: string, platform: string) {
  const policies = [managedImagePolicy(new Behaviours([]))]
  const { client: kube } = openKube({ clock: new VirtualClock(), random: seededRandom(3), policies })
  await kube.create({ apiVersion: 'v1', kind: 'ConfigMap', metadata: OS_IMAGE, data: { releaseVersion } })
  const infrastructure = await kube.create<'Infrastructure'>({
    apiVersion: 'config.openshift.io/v1',
    kind: 'Infrastructure',
    metadata: CLUSTER,
    spec: {},
  })
  await kube.updateStatus<'Infrastructure'>({
    ...infrastructure,
    status: {
      platformStatus: { type: platform },
      controlPlaneTopology: 'HighlyAvailable',
      infrastructureTopology: 'HighlyAvailable',
    },
  })
  await kube.create<'MachineConfiguration'>({
    apiVersion: 'operator.openshift.io/v1',
    kind: 'MachineConfiguration',
    metadata: CLUSTER,
    spec: { managementState: 'Managed' },
  })
  return kube
}

test.each([
  ['4.16.0', 'BareMetal', 'GCP'],
  ['4.17.3', 'BareMetal', 'GCP, AWS'],
  ['4.19.0', 'VSphere', 'GCP, AWS'],
  ['4.20.0', 'Azure', 'GCP, AWS, VSphere'],
  ['4.22.0', 'BareMetal', 'GCP, AWS, VSphere, Azure'],
  ['5.0.0', 'None', 'GCP, AWS, VSphere, Azure'],
])('a release %s refuses them on %s, and names the platforms that have them', async (release, platform, platforms) => {
  const kube = await openApi(release, platform)
  await expect(kube.patch('MachineConfiguration', CLUSTER, { spec: MANAGED })).rejects.toMatchObject({
    status: {
      code: 422,
      reason: 'Invalid',
      message:
        'machineconfigurations.operator.openshift.io "cluster" is forbidden: ValidatingAdmissionPolicy ' +
        "'managed-bootimages-platform-check' with binding 'managed-bootimages-platform-check-binding' denied request: " +
        `This feature is only supported on these platforms: ${platforms}`,
    },
  })
  await kube.patch('MachineConfiguration', CLUSTER, { spec: { logLevel: 'Debug' } })
})

test.each([
  ['4.15.0', 'BareMetal'],
  ['4.20.0', 'VSphere'],
  ['4.22.0', 'Azure'],
])('a release %s takes them on %s', async (release, platform) => {
  const kube = await openApi(release, platform)
  await kube.patch('MachineConfiguration', CLUSTER, { spec: MANAGED })
  expect(await kube.get('MachineConfiguration', CLUSTER)).toMatchObject({ spec: MANAGED })
})
