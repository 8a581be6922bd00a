import { expect, test } from 'vitest'
import { type Machine, RootTree } from '../../../../../machine/index.js'
import { newFile } from '../../../../../machine/root/root-tree.js'
import { minutes, seconds } from '../../../../../base/runtime/index.js'
import { apiVersionOf, conditionOf } from '../../../../../base/kubernetes/index.js'
import { clusterScene } from '../../../../../test/kit/cluster/cluster-scene.js'
import { InternalRegistry } from '../../../site/internal-registry.js'
import { REPORTS_INTERNAL_RELEASE } from '../machine-config-behaviours.js'
import { nodeRoleLabel, OS_IMAGE, SYSTEMD } from '../machine-config-names.js'
import { registryConfig } from './internal-release-config.js'
import { REGISTRY_UNIT } from './internal-release-names.js'
import { reportNodeRegistry } from './node-registry.js'

const BUNDLE = { name: 'ocp-release-bundle-4.22.0-x86_64', digest: `sha256:${'a'.repeat(64)}` }
const SECRET = {
  apiVersion: 'v1',
  kind: 'Secret' as const,
  metadata: { name: 'a', uid: 'a', resourceVersion: '1', generation: 1, creationTimestamp: '2026-08-20T00:00:00Z' },
}
const PARTS = { tls: SECRET, account: SECRET, rootCa: 'PEM', image: 'quay.io/registry@sha256:1' }

/** A node of a role, whose registry may be switched off. */
function nodeOf(role: 'master' | 'worker') {
  const tree = new RootTree()
  tree.mkdirs(SYSTEMD)
  const write = (name: string, text: string): void => void tree.put(`${SYSTEMD}/${name}`, newFile(Buffer.from(text)))
  write('kubelet.service', `--node-labels=${nodeRoleLabel(role)}`)
  const unitOf = (parts: typeof PARTS | undefined): string => {
    const { config } = registryConfig(role, parts).spec as { config: { systemd: { units: { contents: string }[] } } }
    return config.systemd.units[0]?.contents ?? ''
  }
  write(REGISTRY_UNIT, unitOf(PARTS))
  const machine = {
    rootFiles: () => tree,
    power: () => 'on',
    boot: () => ({ outcome: 'disk' }),
    os: () => ({ kubelet: 'may start' }),
  }
  return { machine: machine as unknown as Machine, switchOff: () => write(REGISTRY_UNIT, unitOf(undefined)) }
}

async function reported(role: 'master' | 'worker', release = '4.22.0') {
  const scene = clusterScene({ all: [REPORTS_INTERNAL_RELEASE], as: 'today' })
  const { kube, clock } = scene
  await kube.create<'ConfigMap'>({
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: OS_IMAGE,
    data: { releaseVersion: release },
  })
  await kube.create<'InternalReleaseImage'>({
    apiVersion: apiVersionOf('InternalReleaseImage'),
    kind: 'InternalReleaseImage',
    metadata: { name: 'cluster' },
    spec: { releases: [{ name: BUNDLE.name }] },
  })
  await kube.create<'Node'>({ apiVersion: 'v1', kind: 'Node', metadata: { name: 'node-0' } })
  const registry = new InternalRegistry('lab.example')
  registry.bundles.push(BUNDLE)
  const node = nodeOf(role)
  const ending = new AbortController()
  const running = reportNodeRegistry({ ...scene.parts, machine: node.machine, node: 'node-0', registry }, ending.signal)
  const pass = (ms: number) => clock.until(clock.sleep(ms))
  await pass(seconds(1))
  return {
    kube,
    node,
    pass,
    report: () => kube.find('MachineConfigNode', { name: 'node-0' }),
    stop: () => {
      ending.abort()
      return running
    },
  }
}

test.each([
  ['master', '4.22.0', true],
  ['worker', '4.22.0', false],
  ['master', '4.21.0', false],
] as const)('a node of %s in %s has a MachineConfigNode: %s', async (role, release, isReported) => {
  const { report, stop } = await reported(role, release)
  expect((await report()) !== undefined).toBe(isReported)
  await stop()
})

test('the registry of a node is looked at each minute, and forgotten once it has been given up', async () => {
  const { report, stop, pass, node, kube } = await reported('master')
  const status = (await report())!.status!
  expect(conditionOf(status.conditions, 'InternalReleaseImageDegraded')).toMatchObject({
    status: 'False',
    reason: 'AllReleasesAvailable',
  })
  expect(status.internalReleaseImage!.releases).toMatchObject([
    { name: BUNDLE.name, image: `localhost:22625/openshift/release-images@${BUNDLE.digest}` },
  ])

  node.switchOff()
  await pass(minutes(1))
  const away = (await report())!.status!
  const degraded = conditionOf(away.conditions, 'InternalReleaseImageDegraded')
  expect(degraded).toMatchObject({ status: 'True', reason: 'RegistryUnreachable' })
  expect(degraded!.message).toContain('registry query https://localhost:22625/v2 failed with error')
  expect(conditionOf(away.internalReleaseImage!.releases[0]!.conditions, 'Available')).toMatchObject({
    status: 'False',
    message: 'Release bundle is unavailable: failed to reach the registry',
  })

  // A release that another client has written keeps its name and image.
  const other = { name: 'ocp-release-bundle-4.20.0-x86_64', image: `localhost:22625/a@${BUNDLE.digest}` }
  const found = (await report())!
  await kube.updateStatus<'MachineConfigNode'>({ ...found, status: { internalReleaseImage: { releases: [other] } } })
  await pass(minutes(1))
  expect((await report())!.status!.internalReleaseImage!.releases).toMatchObject([other])

  await kube.delete('InternalReleaseImage', { name: 'cluster' })
  await pass(minutes(1))
  expect((await report())!.status).toEqual({ conditions: [] })
  await stop()
})
