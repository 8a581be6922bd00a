import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { defined, minutes } from '../../../../base/runtime/index.js'
import type { ClusterEra } from '../../../../base/kubernetes/index.js'
import { clusterScene } from '../../../../test/kit/cluster/cluster-scene.js'
import { conditionOf, withCondition } from '../../../../base/kubernetes/conditions.js'
import { runController } from '../../../../base/kubernetes/controllers/controller.js'
import { SiteNetwork } from '../../site/site-network.js'
import { SiteRegistry } from '../../site/container-registry.js'
import { makeRelease, type SiteRelease, type NewRelease } from '../../site/make-site-release.js'
import * as behaviours from './cluster-version-behaviours.js'
import { payloadDigest } from '../../site/site-releases.js'
import { runClusterVersionOperator } from './cluster-version-operator.js'

type Scene = ReturnType<typeof clusterScene>
let scene: Scene
let registry: SiteRegistry
const running: AsyncDisposable[] = []

const OPERATORS = ['machine-api', 'baremetal', 'machine-config'] as const

beforeEach(() => open())
afterEach(async () => {
  for (const one of running.splice(0).reverse()) await one[Symbol.asyncDispose]()
})

function open(without: string[] = [], as?: ClusterEra): void {
  scene = clusterScene({ all: Object.values(behaviours), without, ...defined({ as }) })
  registry = new SiteRegistry(new SiteNetwork({ clock: scene.clock, reachability: 'connected', mirrors: [] }), [])
}

const release = (version: string, more: Partial<NewRelease> = {}): Promise<SiteRelease> =>
  makeRelease(registry, { version, operators: OPERATORS, ...more }, scene.clock)

const start = ({ image }: SiteRelease) =>
  running.push(runClusterVersionOperator({ ...scene.parts, registry, release: image }))

/** An operator that reports the version of the manifest's ConfigMap, or of its pod, some time after it sees it. */
function operator(name: (typeof OPERATORS)[number], after = minutes(3)): void {
  const { kube, clock } = scene
  const namespace = name === 'machine-config' ? 'openshift-machine-config-operator' : 'openshift-machine-api'
  const versionNow = async (): Promise<string | undefined> => {
    const map = name === 'machine-config' ? 'machine-config-osimageurl' : 'machine-api-operator-images'
    if (name !== 'baremetal') return (await kube.find('ConfigMap', { name: map, namespace }))?.data?.['releaseVersion']
    const pod = await kube.find('Deployment', { name: 'cluster-baremetal-operator', namespace })
    return pod?.spec.template.spec.containers[0]?.env?.[0]?.value
  }
  running.push(
    runController(
      {
        name,
        watches: [
          { kind: 'ConfigMap', keysOf: () => [{ name }] },
          { kind: 'Deployment', keysOf: () => [{ name }] },
          { kind: 'ClusterOperator', keysOf: (at) => (at.name === name ? [at] : []) },
        ],
        reconcile: async (_at, signal) => {
          const version = await versionNow()
          const found = await kube.find('ClusterOperator', { name })
          if (!found || version === undefined || found.status?.versions[0]?.version === version) return
          await clock.sleep(after, { signal })
          const before = found.status?.conditions
          const conditions = withCondition(before, { type: 'Available', status: 'True' }, clock)
          await kube.updateStatus({
            ...found,
            status: { conditions, versions: [{ name: 'operator', version }] },
          })
        },
      },
      scene.parts,
    ),
  )
}

const completed = (version: string) =>
  scene.until('ClusterVersion', 'version', ({ status }) => {
    const [entry] = status?.history ?? []
    return entry?.version === version && entry.state === 'Completed'
  })

const ask = (desiredUpdate: object) =>
  scene.kube.patch('ClusterVersion', { name: 'version' }, { spec: { desiredUpdate } })

const refusal = async (why: RegExp) =>
  scene.until('ClusterVersion', 'version', ({ status }) => {
    const accepted = conditionOf(status?.conditions, 'ReleaseAccepted')
    return accepted?.status === 'False' && why.test(accepted.message ?? '')
  })

async function installed(version: string): Promise<SiteRelease> {
  const made = await release(version)
  start(made)
  for (const name of OPERATORS) operator(name)
  await completed(version)
  return made
}

describe('an upgrade', () => {
  test('is a Partial entry until each operator has reported, one run level after the other', async () => {
    await installed('4.12.0')
    const next = await release('4.13.0', { bootImages: '{}' })
    scene.notices.length = 0
    await ask({ version: '4.13.0', image: next.image })
    const { status } = await completed('4.13.0')
    expect(status).toMatchObject({
      desired: { version: '4.13.0', image: next.image },
      history: [
        { state: 'Completed', version: '4.13.0', image: next.image },
        { state: 'Completed', version: '4.12.0' },
      ],
    })
    const conditions = status!.conditions!.map(({ type, status: is, message = '' }) => `${type}=${is}: ${message}`)
    expect(conditions).toEqual([
      `ReleaseAccepted=True: Payload loaded version="4.13.0" image="${next.image}"`,
      'Available=True: Done applying 4.13.0',
      'Failing=False: ',
      'Progressing=False: Cluster version is 4.13.0',
    ])
    expect(scene.said()).toEqual([
      'accepts 4.13.0: the payload is verified',
      'applies 0000_30_machine-api-operator: it is in the payload of 4.13.0',
      'delays the update to 4.13.0: waiting on machine-api',
      'applies 0000_31_cluster-baremetal-operator: it is in the payload of 4.13.0',
      'delays the update to 4.13.0: waiting on baremetal',
      'applies 0000_50_installer: it is in the payload of 4.13.0',
      'applies 0000_80_machine-config: it is in the payload of 4.13.0',
      'delays the update to 4.13.0: waiting on machine-config',
      'completes the update to 4.13.0: all operators have reported it',
    ])
    const bootImages = { name: 'coreos-bootimages', namespace: 'openshift-machine-config-operator' }
    expect(await scene.kube.get('ConfigMap', bootImages)).toMatchObject({ data: { releaseVersion: '4.13.0' } })
  })

  test('an operator that is not available is named, and the levels after it wait', async () => {
    await installed('4.12.0')
    const next = await release('4.13.0')
    const operator = await scene.kube.get('ClusterOperator', { name: 'baremetal' })
    const conditions = withCondition(operator.status!.conditions, { type: 'Available', status: 'False' }, scene.clock)
    await scene.kube.updateStatus({ ...operator, status: { ...operator.status!, conditions } })
    await ask({ image: next.image })
    const { status } = await scene.until('ClusterVersion', 'version', (one) => {
      return conditionOf(one.status?.conditions, 'Failing')?.status === 'True'
    })
    expect(conditionOf(status!.conditions, 'Failing')).toMatchObject({
      reason: 'ClusterOperatorNotAvailable',
      message: 'Cluster operator baremetal is not available',
    })
    expect(status!.history[0]).toMatchObject({ state: 'Partial', version: '4.13.0', completionTime: null })
  })

  test('an operator that is degraded fails the upgrade after forty minutes', async () => {
    await installed('4.12.0')
    const next = await release('4.13.0')
    const operator = await scene.kube.get('ClusterOperator', { name: 'baremetal' })
    const conditions = withCondition(operator.status!.conditions, { type: 'Degraded', status: 'True' }, scene.clock)
    await scene.kube.updateStatus({ ...operator, status: { ...operator.status!, conditions } })
    const asked = scene.clock.now()
    await ask({ image: next.image })
    const { status } = await scene.until('ClusterVersion', 'version', (one) => {
      return conditionOf(one.status?.conditions, 'Failing')?.status === 'True'
    })
    expect(conditionOf(status!.conditions, 'Failing')).toMatchObject({ reason: 'ClusterOperatorDegraded' })
    expect(scene.clock.now() - asked).toBeGreaterThanOrEqual(minutes(40) - 1000)
  })

  test('a restarted operator continues where the upgrade was', async () => {
    await installed('4.12.0')
    const next = await release('4.13.0')
    await ask({ image: next.image })
    await scene.until('ClusterVersion', 'version', ({ status }) => status!.history[0]!.version === '4.13.0')
    await running.shift()![Symbol.asyncDispose]()
    start({ ...next, image: 'quay.io/never@sha256:0' })
    expect((await completed('4.13.0')).status!.history).toHaveLength(2)
  })
})

describe('a release that is not accepted', () => {
  test.each([
    ['with its boot image of another kind', { version: '4.9.0' }, {}],
    ['by its image alone', {}, {}],
    ['by force', { version: '4.9.0' }, { force: true }],
    ['as a candidate of the first version', { version: '4.10.0-rc.1' }, {}],
  ])('older than the first version, %s: the cluster stays where it is', async (_, named, more) => {
    const first = await installed('4.10.0')
    const newer = await release('4.13.0')
    await ask({ image: newer.image })
    await completed('4.13.0')
    const older = await release('version' in named ? named.version : '4.9.0')
    await ask({ image: older.image, version: older.version, ...named, ...more })
    const { status } = await refusal(/is older than 4.10.0, which the cluster was installed with/)
    expect(conditionOf(status!.conditions, 'ReleaseAccepted')).toMatchObject({ reason: 'PreconditionChecks' })
    expect(status!.history.map(({ version }) => version)).toEqual(['4.13.0', '4.10.0'])
    expect(status!.history.at(-1)!.image).toBe(first.image)
    expect(status!.desired.version).toBe('4.13.0')
  })

  test('the previous version, within the minor version or by force', async () => {
    await installed('4.12.0')
    const next = await release('4.13.0')
    const patch = await release('4.13.1')
    for (const { image, version } of [next, patch]) {
      await ask({ image })
      await completed(version)
    }
    await ask({ image: next.image })
    expect((await completed('4.13.0')).status!.history.map(({ version }) => version)).toEqual([
      '4.13.0',
      '4.13.1',
      '4.13.0',
      '4.12.0',
    ])
    const before = await release('4.12.0')
    await ask({ image: before.image })
    await refusal(/the only supported rollback is to the cluster's previous version 4.13.1/)
    await ask({ image: before.image, force: true })
    await completed('4.12.0')
  })

  test('another minor release while an operator is not upgradeable; a patch, or one by force, is taken', async () => {
    open([], 'today')
    await installed('4.12.0')
    const patch = await release('4.12.1')
    const next = await release('4.13.0')
    const operator = await scene.kube.get('ClusterOperator', { name: 'baremetal' })
    const no = { type: 'Upgradeable', status: 'False', reason: 'Why', message: 'hosts are too old' } as const
    const conditions = withCondition(operator.status!.conditions, no, scene.clock)
    await scene.kube.updateStatus({ ...operator, status: { ...operator.status!, conditions } })
    await ask({ image: patch.image })
    await completed('4.12.1')
    await ask({ image: next.image })
    const { status } = await refusal(/Precondition "ClusterVersionUpgradeable" failed .*hosts are too old/)
    expect(conditionOf(status!.conditions, 'Upgradeable')).toMatchObject({ status: 'False', message: no.message })
    expect(status!.history[0]!.version).toBe('4.12.1')
    await ask({ image: next.image, force: true })
    await completed('4.13.0')
  })

  test('that cannot be pulled: it says so, and tries again', async () => {
    await installed('4.12.0')
    const elsewhere = new SiteRegistry(
      new SiteNetwork({ clock: scene.clock, reachability: 'connected', mirrors: [] }),
      [],
    )
    const missing = await makeRelease(elsewhere, { version: '4.13.0', operators: OPERATORS }, scene.clock)
    await ask({ image: missing.image, version: '4.13.0' })
    const { status } = await refusal(/Retrieving payload failed version="4.13.0".*manifest unknown/)
    expect(status!.desired.version).toBe('4.12.0')
    await release('4.13.0')
    await completed('4.13.0')
  })

  test('whose payload is not whole, or of another version', async () => {
    await installed('4.12.0')
    const other = await release('4.13.0')
    await ask({ image: other.image, version: '4.13.1' })
    const { status } = await refusal(/release image version 4.13.0 does not match the expected upstream version 4.13.1/)
    expect(status!.desired.version).toBe('4.12.0')
    const payload = { version: '4.13.0', manifests: [] }
    for (const [digest, why] of [
      ['sha256:1', /manifest digest sha256:\w+ does not match expected sha256:1/],
      [payloadDigest(payload), /Loading payload failed .*the payload has no manifests/],
    ] as const) {
      const image = `quay.io/empty@${digest}`
      registry.publish(image, { payload })
      await ask({ image })
      expect((await refusal(why)).status!.history).toHaveLength(1)
    }
  })

  test.each([
    [{ version: 'soon' }, /must be a semantic version/],
    [{ version: '4.20.0' }, /when image is empty the update must be an available update/],
  ])('an update that says too little (%j) is invalid', async (wanted, why) => {
    await installed('4.12.0')
    await ask(wanted)
    const { status } = await scene.until('ClusterVersion', 'version', (one) =>
      why.test(conditionOf(one.status?.conditions, 'Invalid')?.message ?? ''),
    )
    expect(status!.desired.version).toBe('4.12.0')
    await scene.kube.patch('ClusterVersion', { name: 'version' }, { spec: { desiredUpdate: null } })
    await scene.until('ClusterVersion', 'version', (one) => !conditionOf(one.status?.conditions, 'Invalid'))
  })
})

describe('without a behaviour', () => {
  test('cvo/waits-for-operators: the upgrade is complete at once', async () => {
    open(['cvo/waits-for-operators'])
    start(await release('4.12.0'))
    await completed('4.12.0')
    expect(scene.clock.elapsed()).toBe(0)
  })

  test('cvo/applies-in-order: all is applied before the first operator has reported', async () => {
    open(['cvo/applies-in-order'])
    start(await release('4.12.0'))
    await scene.until('ConfigMap', 'machine-config-osimageurl', () => true, 'openshift-machine-config-operator')
    expect((await scene.kube.get('ClusterOperator', { name: 'machine-api' })).status).toBeUndefined()
  })

  test('cvo/refuses-downgrades: it goes below the first version', async () => {
    open(['cvo/refuses-downgrades'])
    await installed('4.12.0')
    await ask({ image: (await release('4.9.0')).image })
    expect((await completed('4.9.0')).status!.desired.version).toBe('4.9.0')
  })

  test('cvo/verifies-payloads: it applies a payload of another version', async () => {
    open(['cvo/verifies-payloads'])
    await installed('4.12.0')
    await ask({ image: (await release('4.13.0')).image, version: '4.14.0' })
    expect((await completed('4.13.0')).status!.history).toHaveLength(2)
  })
})
