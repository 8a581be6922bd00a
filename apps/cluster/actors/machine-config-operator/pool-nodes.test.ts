import { describe, expect, test } from 'vitest'
import { VirtualClock } from '../../../../base/runtime/index.js'
import type { KubeNode } from '../../../../base/kubernetes/kinds/core-kinds.js'
import type { MachineConfigPool } from '../../../../base/kubernetes/kinds/machine-config-kinds.js'
import { CURRENT_CONFIG, DESIRED_CONFIG, REASON, STATE } from './machine-config-names.js'
import { nodesToUpdate, nodesOf, poolStatus } from './pool-nodes.js'

const OLD = 'rendered-worker-old'
const NEW = 'rendered-worker-new'
const meta = (name: string) => ({ name, uid: name, resourceVersion: '1', generation: 1, creationTimestamp: '' })

const pool = (spec: Partial<MachineConfigPool['spec']> = {}): MachineConfigPool => ({
  apiVersion: 'machineconfiguration.openshift.io/v1',
  kind: 'MachineConfigPool',
  metadata: meta('worker'),
  spec: {
    nodeSelector: { matchLabels: { 'node-role.kubernetes.io/worker': '' } },
    configuration: { name: NEW },
    ...spec,
  },
})

interface Shown {
  current?: string
  desired?: string
  state?: string
  reason?: string
  ready?: boolean
  cordoned?: boolean
  labels?: string[]
}

const node = (name: string, shown: Shown = {}): KubeNode => {
  const { current = OLD, desired = current, state = 'Done', reason = '', ready = true, cordoned = false } = shown
  const labels = (shown.labels ?? ['worker']).map((role) => [`node-role.kubernetes.io/${role}`, ''])
  return {
    apiVersion: 'v1',
    kind: 'Node',
    metadata: {
      ...meta(name),
      labels: Object.fromEntries(labels) as Record<string, string>,
      annotations: { [CURRENT_CONFIG]: current, [DESIRED_CONFIG]: desired, [STATE]: state, [REASON]: reason },
    },
    spec: cordoned ? { unschedulable: true } : {},
    status: { conditions: [{ type: 'Ready', status: ready ? 'True' : 'Unknown', lastTransitionTime: '' }] },
  }
}

const namesOf = (nodes: readonly KubeNode[]) => nodes.map(({ metadata }) => metadata.name)

describe('which nodes may begin', () => {
  test.each<[string, number, KubeNode[], string[]]>([
    ['one of three by default', 1, [node('a'), node('b'), node('c')], ['a']],
    ['two, when two may be away', 2, [node('a'), node('b'), node('c')], ['a', 'b']],
    ['none while one is updating', 1, [node('a', { desired: NEW, state: 'Working' }), node('b')], []],
    ['the next when one is done', 1, [node('a', { current: NEW }), node('b'), node('c')], ['b']],
    ['none while one is not ready', 1, [node('a', { current: NEW, ready: false }), node('b')], []],
    ['none that is cordoned, and that counts as away', 1, [node('a', { cordoned: true }), node('b')], []],
    ['none while one fails at this configuration', 1, [node('a', { desired: NEW, state: 'Degraded' }), node('b')], []],
    ['none that its daemon has not taken over', 1, [node('a', { current: '', desired: '' })], []],
    ['none without a configuration of the pool', 3, [], []],
  ])('to be updated next: %s', (_, most, nodes, begin) => {
    expect(namesOf(nodesToUpdate(pool(), nodes, most))).toEqual(begin)
  })
})

test('a node of the control plane that takes workloads too belongs to the control plane', () => {
  const nodes = [node('w'), node('m', { labels: ['master', 'control-plane', 'worker'] }), node('a')]
  const ofMasters = pool({ nodeSelector: { matchLabels: { 'node-role.kubernetes.io/master': '' } } })
  const masters = { ...ofMasters, metadata: meta('master') }
  expect(namesOf(nodesOf(pool(), nodes, [pool(), masters]))).toEqual(['a', 'w'])
  expect(namesOf(nodesOf(masters, nodes, [pool(), masters]))).toEqual(['m'])
})

const stateOf = (status: NonNullable<MachineConfigPool['status']>) => ({
  counts: [
    status.machineCount,
    status.readyMachineCount,
    status.updatedMachineCount,
    status.unavailableMachineCount,
    status.degradedMachineCount,
  ],
  ...Object.fromEntries(status.conditions!.map(({ type, status: is, message }) => [type, `${is} ${message}`.trim()])),
})

describe('what a pool says', () => {
  const clock = new VirtualClock()
  test('while its nodes update', () => {
    const nodes = [node('a', { current: NEW }), node('b', { desired: NEW, state: 'Working' }), node('c')]
    const before = { ...pool(), status: { ...poolStatus(pool(), [], { clock }), configuration: { name: OLD } } }
    const status = poolStatus(before, nodes, { clock })
    expect(stateOf(status)).toEqual({
      counts: [3, 1, 1, 1, 0],
      RenderDegraded: 'False',
      Updated: 'False',
      Updating: `True All nodes are updating to MachineConfig ${NEW}`,
      NodeDegraded: 'False',
      Degraded: 'False',
    })
    expect(status.configuration).toEqual({ name: OLD })
  })

  test('when all of them are done, and it is their configuration from then on', () => {
    const status = poolStatus(pool(), [node('a', { current: NEW })], { clock })
    expect(stateOf(status)).toMatchObject({
      counts: [1, 1, 1, 0, 0],
      Updated: `True All nodes are updated with MachineConfig ${NEW}`,
      Updating: 'False',
    })
    expect(status.configuration).toEqual({ name: NEW })
  })

  test('when it is paused', () => {
    expect(stateOf(poolStatus(pool({ paused: true }), [node('a')], { clock }))).toMatchObject({
      Updating: `False Pool is paused; will not update to MachineConfig ${NEW}`,
    })
  })

  test('when a node is degraded', () => {
    const broken = node('a', { state: 'Degraded', reason: 'content mismatch for file "/etc/x"' })
    const why = 'True Node a is reporting: "content mismatch for file \\"/etc/x\\""'
    expect(stateOf(poolStatus(pool(), [broken], { clock }))).toMatchObject({ NodeDegraded: why, Degraded: why })
  })
})
