import type { ProvisionState } from '../../base/wire/index.js'

/** Targets of `PUT /v1/nodes/X/states/provision` after a failure. */
export type RetryVerb =
  'abort' | 'active' | 'adopt' | 'deleted' | 'inspect' | 'manage' | 'rescue' | 'service' | 'unrescue'

/**
 * Verbs by the state that a node failed in: the one that tries again first, then those that lead elsewhere. Ironic wants a password
 * with `rescue`, and steps with `service`.
 */
export const RETRY_VERBS: Readonly<Record<string, readonly RetryVerb[]>> = {
  enroll: ['manage'],
  'inspect failed': ['inspect', 'manage'],
  'clean failed': ['manage'],
  'deploy failed': ['active', 'deleted'],
  'adopt failed': ['adopt', 'manage'],
  error: ['deleted'],
  'rescue failed': ['rescue', 'unrescue'],
  'unrescue failed': ['unrescue', 'rescue'],
  'service failed': ['service', 'abort'],
} satisfies Partial<Record<ProvisionState, readonly RetryVerb[]>>

/** `ask for rescue again, or for unrescue` */
export function retryText(state: string): string {
  // Cleaning begins again only from manageable.
  if (state === 'clean failed') return 'ask for manage, then for provide or clean again'
  const [first, ...others] = RETRY_VERBS[state] ?? []
  if (first === undefined) return 'ask Ironic for the verb again'
  return [`ask for ${first} again`, ...others.map((verb) => `or for ${verb}`)].join(', ')
}
