import { join } from 'node:path'
import { expect, test } from 'vitest'
import { clusterFindings } from './cluster-findings.js'
import { ownClusterOf, type OwnCluster } from './own-cluster.js'
import type { OwnObjects } from './own-objects.js'
import { readClusterFolder } from './read-cluster-folder.js'

const DEPOT = join(import.meta.dirname, '../../../test/fixtures/own-cluster')

/** The cluster of the fixture without what is wrong in it, and with a change. */
async function changed(change: (objects: OwnObjects) => void = () => {}): Promise<OwnCluster> {
  const folder = await readClusterFolder(DEPOT)
  const { objects } = folder
  objects.Provisioning[0]!.spec = { provisioningNetwork: 'Disabled' }
  delete objects.MachineConfiguration[0]!.status
  objects.MachineConfigPool.find(({ metadata }) => metadata.name === 'storage')!.spec.paused = false
  objects.BareMetalHost = objects.BareMetalHost.filter(({ metadata }) => metadata.name !== 'depot-spare-1')
  for (const { status } of [...objects.ClusterVersion, ...objects.ClusterOperator])
    status!.conditions = status!.conditions!.filter(({ type }) => type !== 'Upgradeable')
  change(objects)
  return ownClusterOf(folder)
}

const found = async (to: string, change?: (objects: OwnObjects) => void) =>
  clusterFindings({ cluster: await changed(change), to }).map(
    ({ effect, subject, says }) => `${effect}: ${subject} ${says}`,
  )

const named = <T extends { metadata: { name: string } }>(all: readonly T[], name: string): T =>
  all.find(({ metadata }) => metadata.name === name)!

test('a cluster with nothing wrong has no findings', async () => {
  expect(await found('4.23.0')).toEqual([])
})

test('an upgrade that passes over minor releases', async () => {
  expect(await found('4.25.1')).toEqual([
    'blocks: ClusterVersion version 4.25.1 passes over 2 minor releases after 4.22.3: upgrades go from one minor release to the next, so rehearse the next one first',
  ])
})

test('operators that are degraded, not available, or not upgradeable', async () => {
  const change = ({ ClusterOperator: all }: OwnObjects) => {
    named(all, 'etcd').status!.conditions = [{ type: 'Degraded', status: 'True', message: 'one member is slow' }]
    named(all, 'network').status!.conditions = [{ type: 'Available', status: 'False', reason: 'NoPods' }]
    named(all, 'authentication').status!.conditions = [
      { type: 'Upgradeable', status: 'False', message: 'an API is gone' },
    ]
  }
  expect(await found('4.23.0', change)).toEqual([
    'blocks: ClusterOperator authentication is not upgradeable: an API is gone',
    'blocks: ClusterOperator etcd is degraded: the upgrade waits for it, and is failing after 40 minutes: one member is slow',
    'blocks: ClusterOperator network is not available, so the upgrade waits: NoPods',
  ])
  expect((await found('4.22.9', change))[0]).toBe(
    'warns: ClusterOperator authentication is not upgradeable: an API is gone',
  )
})

test('a paused control plane, a degraded pool, and one that is still updating', async () => {
  const change = ({ MachineConfigPool: all }: OwnObjects) => {
    named(all, 'master').spec.paused = true
    named(all, 'infra').status!.conditions = [{ type: 'NodeDegraded', status: 'True', message: 'a file differs' }]
    named(all, 'batch').spec.configuration = { name: 'rendered-batch-new' }
  }
  const texts = await found('4.23.0', change)
  expect(texts[0]).toBe(
    'blocks: MachineConfigPool master is paused: 3 nodes stay on 4.22.3, and the upgrade waits for the control plane',
  )
  expect(texts.find((text) => text.includes('infra'))).toBe(
    'blocks: MachineConfigPool infra is degraded, so machine-config is not upgradeable: a file differs',
  )
  expect(texts.find((text) => text.includes('batch'))).toMatch(
    /^warns: MachineConfigPool batch has not finished its last update: .* to run rendered-batch-new;/,
  )
})

/** A MachineConfig that names a node image. */
const imageConfig = (name: string, role: string, osImageURL: string): OwnObjects['MachineConfig'][number] => ({
  apiVersion: 'machineconfiguration.openshift.io/v1',
  kind: 'MachineConfig',
  metadata: { name, labels: { 'machineconfiguration.openshift.io/role': role } },
  spec: { osImageURL },
})

test('a pool whose nodes run an image of a MachineConfig: the last one by name', async () => {
  const change = ({ MachineConfig: all }: OwnObjects) =>
    void all.push(
      imageConfig('98-batch', 'batch', 'quay.io/lab/node:1'),
      imageConfig('99-batch', 'batch', 'quay.io/lab/node:2'),
      imageConfig('99-none', 'none', 'quay.io/lab/node:3'),
      imageConfig('99-zero', 'batch', ''),
    )
  expect(await found('4.23.0', change)).toEqual([
    'holds back: MachineConfigPool batch runs the node image quay.io/lab/node:2 of MachineConfig 99-batch: its 3 nodes get no node image of 4.23.0, and are rebooted only if the rest of the configuration changes; build the next image on that of 4.23.0, and name it there',
  ])
})

test('nodes that are cordoned, not ready, or of no pool', async () => {
  const change = ({ Node: all }: OwnObjects) => {
    named(all, 'depot-w-0.depot.example').spec!.unschedulable = true
    named(all, 'depot-b-1.depot.example').status!.conditions = [{ type: 'Ready', status: 'Unknown' }]
    named(all, 'depot-i-0.depot.example').metadata.labels!['node-role.kubernetes.io/batch'] = ''
  }
  expect(await found('4.23.0', change)).toEqual([
    'warns: Node depot-b-1.depot.example is not ready, and counts as one of 2 that may be away in pool batch',
    'holds back: Node depot-i-0.depot.example belongs to no pool, or to several custom ones: it is not updated',
    'holds back: Node depot-w-0.depot.example is cordoned, and counts as one of 1 that may be away in pool worker: no other node of the pool is updated',
  ])
})

test('a machine set that has fewer machines than it wants', async () => {
  const change = ({ MachineSet: [set] }: OwnObjects) => {
    set!.spec.replicas = 9
  }
  expect(await found('4.23.0', change)).toEqual([
    'warns: MachineSet depot-x7k2p-worker-0 wants 9 machines and has 7: it is rehearsed with those that it has',
  ])
})

test('hosts in error, in the middle of something, or without a BMC; a machine that has failed', async () => {
  const change = ({ BareMetalHost: all, Machine: machines }: OwnObjects) => {
    const worker = named(all, 'depot-w-0')
    worker.status = { ...worker.status, errorType: 'power management error', errorMessage: 'no answer' }
    named(all, 'depot-spare-0').status!.provisioning = { state: 'inspecting' }
    named(all, 'depot-b-2').metadata.annotations = { 'baremetalhost.metal3.io/detached': '' }
    all.push({ apiVersion: 'metal3.io/v1alpha1', kind: 'BareMetalHost', metadata: { name: 'loose' }, spec: {} })
    machines.find(({ metadata }) => metadata.name.endsWith('b-0'))!.status!.phase = 'Failed'
  }
  expect(await found('4.23.0', change)).toEqual([
    'warns: BareMetalHost depot-b-2 is detached: BareMetal Operator leaves it as it is, in the upgrade too',
    'warns: BareMetalHost depot-spare-0 is inspecting: Ironic is restarted in the upgrade and forgets it, so that this begins again',
    'holds back: BareMetalHost depot-w-0 is provisioned with power management error: no answer; its node depot-w-0.depot.example is updated all the same, for that needs no BMC; it cannot be installed again',
    'warns: BareMetalHost loose is unmanaged: it has no BMC, and stays as it is',
    'warns: Machine depot-x7k2p-b-0 has failed; it is not tried again',
  ])
})

test('boot images that are too old: before the release that enforces it, they block the upgrade after it', async () => {
  const change = ({ Provisioning: [one], ClusterVersion: [cluster] }: OwnObjects) => {
    one!.spec = { provisioningOSDownloadURL: 'https://images.example/rhcos.qcow2.gz' }
    cluster!.status.history[0]!.version = '4.21.4'
    cluster!.status.history[1]!.version = '4.20.2'
  }
  expect(await found('4.22.0', change)).toEqual([
    expect.stringContaining(
      'blocks later: Provisioning provisioning-configuration names an old boot image (provisioningOSDownloadURL): from 4.22.0 on machine-config is not upgradeable: Upgrades have been disabled because the cluster is using OCP boot image version 4.9.17, which is below the minimum required version 4.13.0',
    ) as string,
  ])
})

test('an upgrade that is under way, a release that was refused, and overrides', async () => {
  const change = ({ ClusterVersion: [cluster] }: OwnObjects) => {
    cluster!.spec.overrides = [{ kind: 'Deployment', name: 'console', unmanaged: true }]
    cluster!.status.history.unshift({ state: 'Partial', version: '4.23.1', image: 'quay.io/next@sha256:1' })
    cluster!.status.conditions!.push({ type: 'ReleaseAccepted', status: 'False', message: 'no signature' })
  }
  const texts = await found('4.23.1', change)
  expect(texts).toEqual([
    'blocks: ClusterVersion version has overrides for Deployment console: they forbid another minor release',
    'warns: ClusterVersion version has refused a release: no signature',
    'warns: ClusterVersion version was gathered during the upgrade to 4.23.1, which is rehearsed from its beginning',
  ])
})

test('budgets that let no pod go, as those of a database with all of its pods needed', async () => {
  const budget = (name: string, status: object) => ({
    apiVersion: 'policy/v1' as const,
    kind: 'PodDisruptionBudget' as const,
    metadata: { name, namespace: 'shop' },
    status,
  })
  const full = { currentHealthy: 3, desiredHealthy: 3, expectedPods: 3, disruptionsAllowed: 0 }
  const change = ({ PodDisruptionBudget: all }: OwnObjects) =>
    void all.push(
      budget('database', full),
      budget('web', { ...full, disruptionsAllowed: 1 }),
      budget('unused', { ...full, expectedPods: 0 }),
    )
  expect(await found('4.23.0', change)).toEqual([
    'holds back: PodDisruptionBudget shop/database allows no pod to be moved (3 of 3 are healthy, and 3 have to be): ' +
      'a node with one of them is not drained, and after an hour its pool is degraded',
  ])
})
