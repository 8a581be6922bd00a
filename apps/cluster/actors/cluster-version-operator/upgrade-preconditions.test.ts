import { describe, expect, test } from 'vitest'
import { Behaviours, type ClusterVersion, type Condition } from '../../../../base/kubernetes/index.js'
import { blockedBy, failedPreconditions } from './upgrade-preconditions.js'

const NOT_UPGRADEABLE: Condition = {
  type: 'Upgradeable',
  status: 'False',
  reason: 'ClusterBootImageSkewError',
  message: 'Cluster operator machine-config should not be upgraded between minor versions: its boot images are too old',
  lastTransitionTime: '2026-01-01T00:00:00Z',
}

/** A cluster with releases that it had, the newest first. */
function clusterOf(versions: readonly string[], conditions: Condition[] = []): Pick<ClusterVersion, 'status'> {
  const history = versions.map((version) => ({
    state: 'Completed' as const,
    version,
    image: `quay.io/release@sha256:${version}`,
    startedTime: '2026-01-01T00:00:00Z',
    completionTime: '2026-01-01T01:00:00Z',
    verified: false,
  }))
  const [desired] = history
  return {
    status: {
      desired: { version: desired!.version, image: desired!.image },
      history,
      conditions,
      availableUpdates: null,
      observedGeneration: 1,
      versionHash: '',
    },
  }
}

const today = new Behaviours([])
const document = new Behaviours([], { as: 'document' })
const reasonsOf = (versions: readonly string[], wanted: string, conditions?: Condition[], behaviours = today) =>
  failedPreconditions(clusterOf(versions, conditions), wanted, behaviours).map(({ name }) => name)

describe('the next release as of today', () => {
  test.each([
    [['4.21.0'], '4.22.0', []],
    [['4.21.0'], '4.21.9', []],
    [['4.21.0'], '4.23.0', ['ClusterVersionGiantHop']],
    [['4.23.0'], '5.0.0', []],
    // The operator of 4.18 has no such rule.
    [['4.18.0'], '4.22.0', []],
    // Nor has that of 4.13 one for rollbacks.
    [['4.13.0', '4.12.0'], '4.12.0', []],
    [['4.14.0', '4.13.0'], '4.13.0', ['ClusterVersionRollback']],
    [['4.14.9', '4.14.0'], '4.14.0', []],
  ])('of %j may it be %s: %j', (versions, wanted, expected) => {
    expect(reasonsOf(versions, wanted)).toEqual(expected)
  })

  test('an operator that is not upgradeable keeps a cluster from another minor release, not from a patch', () => {
    expect(reasonsOf(['4.22.0'], '4.23.0', [NOT_UPGRADEABLE])).toEqual(['ClusterVersionUpgradeable'])
    expect(reasonsOf(['4.22.0'], '4.22.1', [NOT_UPGRADEABLE])).toEqual([])
    expect(reasonsOf(['4.22.0'], '4.23.0', [NOT_UPGRADEABLE], document)).toEqual([])
  })
})

test('all that is against a release is told at once, and nothing of it where it is forced', () => {
  const problems = failedPreconditions(clusterOf(['4.22.0'], [NOT_UPGRADEABLE]), '4.24.0', today)
  expect(blockedBy(problems, false)?.split('\n')).toEqual([
    'Multiple precondition checks failed:',
    expect.stringContaining('"ClusterVersionGiantHop" failed because of "MultipleMinorVersionsUpdate"'),
    expect.stringContaining('"ClusterVersionUpgradeable" failed because of "ClusterBootImageSkewError"'),
  ])
  expect(blockedBy(problems, true)).toBeUndefined()
})

test('below the first release an administrator can force a cluster today, and could not by the documents', () => {
  const cluster = clusterOf(['4.15.0', '4.14.0'])
  expect(blockedBy(failedPreconditions(cluster, '4.9.0', today), true)).toBeUndefined()
  expect(blockedBy(failedPreconditions(cluster, '4.9.0', document), true)).toContain('was installed with')
})
