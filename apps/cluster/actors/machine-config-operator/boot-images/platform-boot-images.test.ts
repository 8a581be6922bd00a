import { afterEach, expect, test } from 'vitest'
import { Behaviours, openKube, runController, type ActorParts } from '../../../../../base/kubernetes/index.js'
import { seededRandom, seconds, silent, VirtualClock } from '../../../../../base/runtime/index.js'
import { BOOT_IMAGES, MACHINE_API, OS_IMAGE, OWN_SETTINGS } from '../machine-config-names.js'
import { ALL_BEHAVIOURS } from '../../all-behaviours.js'
import { PlatformBootImages } from './platform-boot-images.js'
import { SettingsController } from './settings-controller.js'

const OLD = 'projects/rhcos-cloud/global/images/rhcos-old'
const NEW = 'projects/rhcos-cloud/global/images/rhcos-new'
const running: AsyncDisposable[] = []
afterEach(async () => {
  for (const one of running.splice(0)) await one[Symbol.asyncDispose]()
})

const stream = (name: string) =>
  JSON.stringify({
    stream: 'rhel-9',
    metadata: { 'last-modified': '2026-07-01T00:00:00Z' },
    architectures: {
      x86_64: { artifacts: {}, images: { gcp: { release: '9.6', project: 'rhcos-cloud', name } } },
    },
  })

/** A complete cluster of 4.22 on GCP, whose controllers run. */
async function openScene() {
  const clock = new VirtualClock()
  const random = seededRandom(3)
  const { client: kube } = openKube({ clock, random })
  const acts: string[] = []
  const parts: ActorParts = {
    kube,
    clock,
    random,
    logger: silent,
    behaviours: new Behaviours(ALL_BEHAVIOURS),
    announce: ({ does }) => void acts.push(does),
  }
  const infrastructure = await kube.create<'Infrastructure'>({
    apiVersion: 'config.openshift.io/v1',
    kind: 'Infrastructure',
    metadata: { name: 'cluster' },
    spec: {},
  })
  await kube.updateStatus<'Infrastructure'>({ ...infrastructure, status: PLATFORM })
  const version = await kube.create<'ClusterVersion'>({
    apiVersion: 'config.openshift.io/v1',
    kind: 'ClusterVersion',
    metadata: { name: 'version' },
    spec: { clusterID: '00000000-0000-4000-8000-000000000000' },
  })
  await kube.updateStatus<'ClusterVersion'>({ ...version, status: COMPLETED })
  await kube.create({ apiVersion: 'v1', kind: 'ConfigMap', metadata: OS_IMAGE, data: { releaseVersion: '4.22.0' } })
  const data = { releaseVersion: '4.22.0', stream: stream('rhcos-new') }
  await kube.create({ apiVersion: 'v1', kind: 'ConfigMap', metadata: BOOT_IMAGES, data })
  for (const controller of [new SettingsController(parts), new PlatformBootImages(parts)])
    running.push(runController(controller, parts))
  const pass = () => clock.until(clock.sleep(seconds(30)))
  return {
    kube,
    acts,
    pass,
    imageOf: async (name: string) => {
      const { spec } = await kube.get('MachineSet', { name, namespace: MACHINE_API })
      return spec.template.spec.providerSpec.value?.disks?.[0]?.image
    },
    messageOf: async (type: string) => {
      const { status } = await kube.get('MachineConfiguration', OWN_SETTINGS)
      const { status: is, reason, message } = status?.conditions?.find((one) => one.type === type) ?? {}
      return `${is} ${reason}: ${message}`
    },
    createSet: (name: string, image: string, { labels = {}, owner = false, os = 'linux' } = {}) =>
      kube.create({
        apiVersion: 'machine.openshift.io/v1beta1',
        kind: 'MachineSet',
        metadata: {
          name,
          namespace: MACHINE_API,
          labels,
          ...(owner && {
            ownerReferences: [
              {
                apiVersion: infrastructure.apiVersion,
                kind: infrastructure.kind,
                name: 'cluster',
                uid: infrastructure.metadata.uid,
              },
            ],
          }),
        },
        spec: {
          replicas: 0,
          selector: { matchLabels: { set: name } },
          template: {
            metadata: { labels: { set: name, 'machine.openshift.io/os-id': os } },
            spec: { providerSpec: { value: { disks: [{ boot: true, image }] } } },
          },
        },
      }),
  }
}

const PLATFORM = {
  platformStatus: { type: 'GCP' },
  controlPlaneTopology: 'HighlyAvailable',
  infrastructureTopology: 'HighlyAvailable',
}
const COMPLETED = {
  desired: { version: '4.22.0', image: 'quay.io/a@sha256:b' },
  history: [
    {
      state: 'Completed' as const,
      version: '4.22.0',
      image: 'quay.io/a@sha256:b',
      startedTime: '2026-08-01T00:00:00Z',
      completionTime: '2026-08-01T01:00:00Z',
      verified: true,
    },
  ],
  availableUpdates: null,
  observedGeneration: 1,
  versionHash: '',
}

test('sets that are managed get the image; owned, Windows, and those of another stream do not', async () => {
  const { createSet, imageOf, messageOf, pass } = await openScene()
  await createSet('workers', OLD)
  await createSet('owned', OLD, { owner: true })
  await createSet('windows', OLD, { os: 'Windows' })
  await createSet('other-stream', OLD, { labels: { 'machineconfiguration.openshift.io/osstream': 'rhel-10' } })
  await pass()
  expect(await imageOf('workers')).toBe(NEW)
  for (const name of ['owned', 'windows', 'other-stream']) expect(await imageOf(name)).toBe(OLD)
  expect(await messageOf('BootImageUpdateProgressing')).toMatch(
    /^False MAPIMachineSet\w+: Reconciled 3 of 4 MAPI MachineSets \(1 skipped\) \| /,
  )
})

test('a set of each image that cannot be told is an error of its own; the others are updated', async () => {
  const { kube, createSet, imageOf, messageOf, pass } = await openScene()
  await createSet('workers', OLD)
  await createSet('arm', OLD)
  const annotations = { 'capacity.cluster-autoscaler.kubernetes.io/labels': 'kubernetes.io/arch=arm64' }
  await kube.patch('MachineSet', { name: 'arm', namespace: MACHINE_API }, { metadata: { annotations } })
  await pass()
  expect(await imageOf('workers')).toBe(NEW)
  expect(await messageOf('BootImageUpdateDegraded')).toBe(
    'True MAPIMachineSetUpdated: 1 Degraded MAPI MachineSets | 0 Degraded ControlPlaneMachineSets | 0 Degraded CAPI MachineSets | 0 Degraded CAPI MachineDeployments | Error(s): error syncing MAPI MachineSet arm: failed to reconcile machineset arm, err: the stream metadata has no architecture aarch64',
  )
})

test('metadata that is no JSON, or is gone, is said; both are got over', async () => {
  const { kube, createSet, imageOf, messageOf, pass } = await openScene()
  await kube.patch('ConfigMap', BOOT_IMAGES, { data: { stream: '{' } })
  await createSet('workers', OLD)
  await pass()
  expect(await messageOf('BootImageUpdateDegraded')).toContain('failed to parse CoreOS stream metadata')
  await kube.delete('ConfigMap', BOOT_IMAGES)
  await pass()
  expect(await messageOf('BootImageUpdateDegraded')).toContain(
    'True BootImageConfigMapDeleted: 0 Degraded MAPI MachineSets',
  )
  const data = { releaseVersion: '4.22.0', stream: stream('rhcos-new') }
  await kube.create({ apiVersion: 'v1', kind: 'ConfigMap', metadata: BOOT_IMAGES, data })
  await pass()
  expect(await imageOf('workers')).toBe(NEW)
  expect(await messageOf('BootImageUpdateDegraded')).toMatch(/^False /)
})

test('settings that say None write nothing, and forget the loop', async () => {
  const { kube, createSet, imageOf, acts, pass } = await openScene()
  await createSet('workers', OLD)
  await pass()
  const set = (mode: string) =>
    kube.patch('MachineConfiguration', OWN_SETTINGS, {
      spec: {
        managedBootImages: {
          machineManagers: [{ resource: 'machinesets', apiGroup: 'machine.openshift.io', selection: { mode } }],
        },
      },
    })
  const back = async () => {
    const value = { disks: [{ boot: true, image: OLD }] }
    const spec = { template: { spec: { providerSpec: { value } } } }
    await kube.patch('MachineSet', { name: 'workers', namespace: MACHINE_API }, { spec })
    await pass()
  }
  for (const image of [NEW, NEW, OLD]) {
    await back()
    expect(await imageOf('workers')).toBe(image)
  }
  await set('None')
  await pass()
  expect(await imageOf('workers')).toBe(OLD)
  await set('All')
  await pass()
  expect(await imageOf('workers')).toBe(NEW)
  expect(acts.filter((does) => does.startsWith('gives machine set workers'))).toHaveLength(4)
})
