import { describe, expect, onTestFinished, test } from 'vitest'
import { Behaviours } from '../../base/kubernetes/controllers/behaviours.js'
import type { BareMetalHost, HostClaim } from '../../base/kubernetes/kinds/metal3-kinds.js'
import { openKube } from '../../base/kubernetes/open-kube.js'
import { minutes, seconds, seededRandom, silent, VirtualClock } from '../../base/runtime/index.js'
import { runController } from '../../base/kubernetes/index.js'
import { HostClaimController } from './host-claims.js'

const METAL3 = 'metal3.io/v1alpha1'
const claimAt = { name: 'claim', namespace: 'tenant' }

/** The controller over an API with the namespace of a claim, `tenant`, and one of hosts, `metal3`. */
async function claimScene(labels: Record<string, string> = {}) {
  const clock = new VirtualClock()
  const random = seededRandom(1)
  const { client: kube } = openKube({ clock, random })
  const parts = { kube, clock, random, logger: silent, behaviours: new Behaviours([]), announce: () => {} }
  const running = runController(new HostClaimController(parts), parts)
  onTestFinished(() => running[Symbol.asyncDispose]())
  await kube.create<'Namespace'>({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'tenant', labels } })
  await kube.create<'Namespace'>({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'metal3' } })
  return {
    kube,
    pass: (time: number) => clock.advance(time),
    policy: (hostClaimNamespaces?: object, namespace = 'metal3') =>
      kube.create<'HostDeployPolicy'>({
        apiVersion: METAL3,
        kind: 'HostDeployPolicy',
        metadata: { name: 'policy', namespace },
        spec: hostClaimNamespaces ? { hostClaimNamespaces } : {},
      } as never),
    async host(name: string, metadata: Partial<BareMetalHost['metadata']> = {}, more: Partial<BareMetalHost> = {}) {
      const created = await kube.create<'BareMetalHost'>({
        apiVersion: METAL3,
        kind: 'BareMetalHost',
        metadata: { name, namespace: 'metal3', ...metadata },
        spec: { online: true, ...more.spec },
      })
      const provisioning = { ID: '1', state: 'available' as const }
      const status = { operationalStatus: 'OK', errorMessage: '', errorCount: 0, poweredOn: true, provisioning }
      return kube.updateStatus<'BareMetalHost'>({ ...created, status: { ...status, ...more.status } as never })
    },
    claim: (spec: Partial<HostClaim['spec']> = {}) =>
      kube.create<'HostClaim'>({
        apiVersion: METAL3,
        kind: 'HostClaim',
        metadata: claimAt,
        spec: { poweredOn: true, ...spec },
      }),
    status: async () => (await kube.get('HostClaim', claimAt)).status,
    consumer: async (name: string) => (await kube.get('BareMetalHost', { name, namespace: 'metal3' })).spec.consumerRef,
  }
}

const hasCondition = (type: string, condition: object) => expect.objectContaining({ type, ...condition })

test('a claim gets an available host of a namespace that lets it, and gives it back when it goes', async () => {
  const { kube, pass, policy, host, claim, status, consumer } = await claimScene()
  await policy({ names: ['tenant'] })
  await host('one')
  await claim()
  await pass(seconds(1))
  expect((await kube.get('HostClaim', claimAt)).metadata.finalizers).toEqual(['metal3.io/hostclaim'])
  expect(await consumer('one')).toEqual({ apiVersion: METAL3, kind: 'HostClaim', ...claimAt })
  // As the operator 02aa505 itself leaves it, whose summary of conditions is Cluster API's.
  expect(await status()).toMatchObject({
    bareMetalHost: { name: 'one', namespace: 'metal3' },
    conditions: [
      hasCondition('Ready', {
        status: 'Unknown',
        reason: 'UnknownReported',
        message: '* Synchronized: Condition not yet reported\n* Provisioned: Condition not yet reported',
      }),
      hasCondition('Associated', { status: 'True', reason: 'BareMetalHostAssociated', message: '' }),
    ],
  })
  await kube.delete('HostClaim', claimAt)
  await pass(seconds(1))
  expect(await kube.find('HostClaim', claimAt)).toBeUndefined()
  expect(await consumer('one')).toBeUndefined()
})

test('a claim without a host says so, and looks again after thirty seconds', async () => {
  const { pass, policy, host, claim, status } = await claimScene()
  await claim()
  await pass(seconds(1))
  const why = 'No available host found: requeuing.'
  expect((await status())?.conditions).toEqual([
    hasCondition('Ready', {
      status: 'False',
      reason: 'IssuesReported',
      message: `* Associated: ${why}\n* Synchronized: Condition not yet reported\n* Provisioned: Condition not yet reported`,
    }),
    hasCondition('Associated', { status: 'False', reason: 'NoBareMetalHost', message: why }),
  ])
  await policy({ names: ['tenant'] })
  await host('one')
  await pass(seconds(20))
  expect(await status()).not.toHaveProperty('bareMetalHost')
  await pass(seconds(15))
  expect(await status()).toMatchObject({ bareMetalHost: { name: 'one' } })
})

describe('a policy lets a claim have a host', () => {
  test.each<[string, object | undefined, boolean]>([
    ['by the name of its namespace', { names: ['other', 'tenant'] }, true],
    ['not of another name', { names: ['other'] }, false],
    ['not of an empty list of names', { names: [] }, false],
    ['by an expression that fits a part of the name', { nameMatches: 'ena' }, true],
    ['not by one that fits none', { nameMatches: '^ena' }, false],
    ['by an expression of Go', { nameMatches: '(?i)^TENANT\\z' }, true],
    ['by a label', { hasLabels: [{ name: 'team' }] }, true],
    ['by a label and its value', { hasLabels: [{ name: 'team', value: 'a' }] }, true],
    ['not by another value', { hasLabels: [{ name: 'team', value: 'b' }] }, false],
    ['not with one label missing', { hasLabels: [{ name: 'team' }, { name: 'site' }] }, false],
    ['where all conditions hold', { names: ['tenant'], nameMatches: 't', hasLabels: [{ name: 'team' }] }, true],
    ['not where one does not', { names: ['tenant'], nameMatches: 'x' }, false],
    ['with conditions that are empty', {}, true],
    ['not without conditions', undefined, false],
  ])('%s', async (_, spec, isAllowed) => {
    const { pass, policy, host, claim, status } = await claimScene({ team: 'a' })
    await policy(spec)
    await host('one')
    await claim()
    await pass(seconds(1))
    expect((await status())?.bareMetalHost?.name).toBe(isAllowed ? 'one' : undefined)
  })

  test('that cannot be read fails the claim, which is tried again', async () => {
    const { kube, pass, policy, host, claim, status } = await claimScene()
    await policy({ nameMatches: '(' })
    await host('one')
    await claim()
    await pass(seconds(1))
    expect((await status())?.conditions).toContainEqual(
      hasCondition('Associated', { reason: 'NoBareMetalHost', message: 'Failed to pick a BaremetalHost for the Host' }),
    )
    const spec = { hostClaimNamespaces: { nameMatches: 't' } }
    await kube.patch('HostDeployPolicy', { name: 'policy', namespace: 'metal3' }, { spec })
    await pass(minutes(10))
    expect(await status()).toMatchObject({ bareMetalHost: { name: 'one' } })
  })
})

describe('a host is passed over', () => {
  const other = { kind: 'HostClaim', name: 'other', namespace: 'tenant', apiVersion: METAL3 }
  const inState = (state: string) => ({ status: { provisioning: { ID: '1', state } } as never })
  test.each<[string, Partial<BareMetalHost['metadata']>, Partial<BareMetalHost>]>([
    ['that is paused', { annotations: { 'baremetalhost.metal3.io/paused': '' } }, {}],
    ['with a consumer', {}, { spec: { online: true, consumerRef: other } }],
    ['that is not available yet', {}, inState('preparing')],
    ['that is provisioned', {}, inState('provisioned')],
    ['with an error', {}, { status: { errorMessage: 'broken' } as never }],
    ['without the labels', { labels: { zone: 'east' } }, {}],
    ['of another namespace', { namespace: 'other' }, {}],
  ])('%s', async (_, metadata, more) => {
    const { pass, policy, host, claim, status } = await claimScene()
    await policy({ names: ['tenant'] })
    await host('one', { labels: { zone: 'west' }, ...metadata }, more)
    await claim({ hostSelector: { matchLabels: { zone: 'west' } } })
    await pass(seconds(1))
    expect(await status()).not.toHaveProperty('bareMetalHost')
  })

  test('that is being deleted', async () => {
    const { kube, pass, policy, host, claim, status } = await claimScene()
    await policy({ names: ['tenant'] })
    await host('one', { finalizers: ['baremetalhost.metal3.io'] })
    await kube.delete('BareMetalHost', { name: 'one', namespace: 'metal3' })
    await claim()
    await pass(seconds(1))
    expect(await status()).not.toHaveProperty('bareMetalHost')
  })
})

test.each<[string, NonNullable<HostClaim['spec']['hostSelector']>, boolean]>([
  ['In', { matchExpressions: [{ key: 'zone', operator: 'In', values: ['west', 'east'] }] }, true],
  ['notin', { matchExpressions: [{ key: 'zone', operator: 'notin', values: ['west'] }] }, false],
  ['notin of a label that it lacks', { matchExpressions: [{ key: 'rack', operator: 'notin', values: ['1'] }] }, true],
  ['exists', { matchExpressions: [{ key: 'zone', operator: 'exists', values: [] }] }, true],
  ['!', { matchExpressions: [{ key: 'zone', operator: '!', values: [] }] }, false],
  ['!=', { matchExpressions: [{ key: 'zone', operator: '!=', values: ['east'] }] }, true],
  ['another namespace', { inNamespace: 'other' }, false],
  ['the namespace', { inNamespace: 'metal3' }, true],
])('a host is selected by %s', async (_, hostSelector, isSelected) => {
  const { pass, policy, host, claim, status } = await claimScene()
  await policy({ names: ['tenant'] })
  await host('one', { labels: { zone: 'west' } })
  await claim({ hostSelector })
  await pass(seconds(1))
  expect((await status())?.bareMetalHost !== undefined).toBe(isSelected)
})

test('a host of the failure domain goes before others, and others before none', async () => {
  const label = 'infrastructure.cluster.x-k8s.io/failure-domain'
  for (const [domain, found] of [
    ['b', 'three'],
    ['c', expect.any(String)],
  ]) {
    const { pass, policy, host, claim, status } = await claimScene()
    await policy({ names: ['tenant'] })
    for (const name of ['one', 'two']) await host(name, { labels: { [label]: 'a' } })
    await host('three', { labels: { [label]: 'b' } })
    await claim({ failureDomain: domain })
    await pass(seconds(1))
    expect((await status())?.bareMetalHost?.name).toEqual(found)
  }
})

test('a claim whose status was lost gets the host that names it already', async () => {
  const { pass, policy, host, claim, status } = await claimScene()
  await policy({ names: ['tenant'] })
  await host('free')
  const consumerRef = { apiVersion: METAL3, kind: 'HostClaim', ...claimAt }
  await host('one', {}, { spec: { online: true, consumerRef } })
  await claim()
  await pass(seconds(1))
  expect(await status()).toMatchObject({ bareMetalHost: { name: 'one' } })
})

test('of two claims at once each gets a host of its own, and one that comes too late none', async () => {
  const { kube, pass, policy, host } = await claimScene()
  await policy({ names: ['tenant'] })
  for (const name of ['one', 'two']) await host(name)
  const names = ['a', 'b', 'c']
  const spec = { poweredOn: true }
  const made = names.map((name) =>
    kube.create<'HostClaim'>({ apiVersion: METAL3, kind: 'HostClaim', metadata: { name, namespace: 'tenant' }, spec }),
  )
  await Promise.all(made)
  await pass(minutes(2))
  const claims = await Promise.all(names.map((name) => kube.get('HostClaim', { name, namespace: 'tenant' })))
  const hosts = claims.map(({ status }) => status?.bareMetalHost?.name)
  expect(hosts.filter((name) => name !== undefined).sort()).toEqual(['one', 'two'])
})

test('a claim that goes leaves a host alone that has another consumer by now', async () => {
  const { kube, pass, policy, host, claim, consumer } = await claimScene()
  await policy({ names: ['tenant'] })
  await host('one')
  await claim()
  await pass(seconds(1))
  const other = { apiVersion: METAL3, kind: 'HostClaim', name: 'other', namespace: 'tenant' }
  await kube.patch('BareMetalHost', { name: 'one', namespace: 'metal3' }, { spec: { consumerRef: other } })
  await kube.delete('HostClaim', claimAt)
  await pass(seconds(1))
  expect(await kube.find('HostClaim', claimAt)).toBeUndefined()
  expect(await consumer('one')).toEqual(other)
})
