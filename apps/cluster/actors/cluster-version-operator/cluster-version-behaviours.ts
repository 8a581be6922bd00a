import type { Behaviour } from '../../../../base/kubernetes/index.js'

export const WAITS_FOR_OPERATORS: Behaviour = {
  name: 'cvo/waits-for-operators',
  stories: { today: 'failed-pull', document: 'failed-pull' },
  says: 'the upgrade completes while operators still run the old release: one that never updates goes unnoticed',
  source: 'cluster-version-operator 6e71933 pkg/cvo/internal/operatorstatus.go checkOperatorHealth',
}
export const APPLIES_IN_ORDER: Behaviour = {
  name: 'cvo/applies-in-order',
  stories: { today: 'held-upgrade', document: 'held-upgrade' },
  says: 'nodes reboot into the new release while an operator that they need cannot follow',
  source: 'cluster-version-operator 6e71933 pkg/payload/task_graph.go reMatchPattern',
}
export const REFUSES_DOWNGRADES: Behaviour = {
  name: 'cvo/refuses-downgrades',
  stories: { today: 'downgrade', document: 'downgrade' },
  says: 'the cluster is downgraded below its first release, which does not know its disk images and settings',
  source: 'cluster-version-operator 6e71933 pkg/payload/precondition/clusterversion/rollback.go Run',
  since: '4.14',
}
export const VERIFIES_PAYLOADS: Behaviour = {
  name: 'cvo/verifies-payloads',
  stories: { today: 'wrong-release-image', document: 'wrong-release-image' },
  says: 'a wrong digest upgrades the cluster to an unwanted release',
  source: 'cluster-version-operator 6e71933 pkg/cvo/sync_worker.go syncPayload',
}
export const KEEPS_FIRST_RELEASE: Behaviour = {
  name: 'cvo/keeps-the-first-release',
  stories: { document: 'downgrade' },
  says: 'an administrator forces the cluster below its first release, which does not know its disk images and settings',
  source: 'design document 000',
  document: '000',
}
export const HEEDS_UPGRADEABLE: Behaviour = {
  name: 'cvo/heeds-upgradeable',
  stories: { today: 'legacy-cluster' },
  says: 'the cluster gets a next minor release although one of its operators says that it must not',
  source: 'cluster-version-operator 6e71933 pkg/payload/precondition/clusterversion/upgradeable.go Run',
}
export const REFUSES_GIANT_HOPS: Behaviour = {
  name: 'cvo/refuses-giant-hops',
  stories: { today: 'giant-hop' },
  says: 'the cluster leaves out a minor release, whose changes of its objects it never gets',
  source: 'cluster-version-operator 6e71933 pkg/payload/precondition/clusterversion/gianthop.go Run',
  since: '4.19',
}
