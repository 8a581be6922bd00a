import type { Behaviour } from '../behaviours.js'

export const WAITS_FOR_OPERATORS: Behaviour = {
  name: 'cvo/waits-for-operators',
  story: 'failed-pull',
  says: 'the upgrade counts as complete while operators still run the old release: one that never updates goes unnoticed',
}
export const APPLIES_IN_ORDER: Behaviour = {
  name: 'cvo/applies-in-order',
  story: 'held-upgrade',
  says: 'nodes reboot into the new release while an operator that they need cannot follow',
}
export const REFUSES_DOWNGRADES: Behaviour = {
  name: 'cvo/refuses-downgrades',
  story: 'downgrade',
  says: 'the cluster goes to a release older than its first, which cannot know its disk images and settings',
}
export const VERIFIES_PAYLOADS: Behaviour = {
  name: 'cvo/verifies-payloads',
  story: 'wrong-release-image',
  says: 'a mistaken digest takes the cluster to an unwanted release',
}
