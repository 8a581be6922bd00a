import type { Behaviour } from '../behaviours.js'

export const WAITS_FOR_OPERATORS: Behaviour = {
  name: 'cvo/waits-for-operators',
  says: 'The upgrade counts as complete while operators still run the old release: nobody notices the one that never gets there.',
}
export const APPLIES_IN_ORDER: Behaviour = {
  name: 'cvo/applies-in-order',
  says: 'All manifests are applied at once: nodes reboot into the new release while the operators that they need are replaced.',
}
export const REFUSES_DOWNGRADES: Behaviour = {
  name: 'cvo/refuses-downgrades',
  says: 'The cluster goes to a release older than its first: it reads settings that this release cannot have written.',
}
export const VERIFIES_PAYLOADS: Behaviour = {
  name: 'cvo/verifies-payloads',
  says: 'The cluster applies a payload that is not the one it was asked for, or not whole.',
}
