import { expect, test } from 'vitest'
import { PROVISION_STATES } from '../../base/wire/index.js'
import { PROVISION_VERBS } from '../../ironic-mock/conductor/core/transitions.js'
import { RETRY_VERBS, retryText } from './retry-verbs.js'

test('each failed state has verbs, and Ironic accepts them all in that state', () => {
  for (const state of PROVISION_STATES.filter((one) => / failed$|^error$/.test(one)))
    expect(RETRY_VERBS[state]?.length, state).toBeGreaterThan(0)
  for (const [state, verbs] of Object.entries(RETRY_VERBS))
    for (const verb of verbs) expect(PROVISION_VERBS[verb]!.from, verb).toContain(state)
})

test.each([
  ['adopt failed', 'ask for adopt again, or for manage'],
  ['rescue failed', 'ask for rescue again, or for unrescue'],
  ['clean failed', 'ask for manage, then for provide or clean again'],
  ['error', 'ask for deleted again'],
  ['active', 'ask Ironic for the verb again'],
])('what helps in %s is a sentence', (state, text) => {
  expect(retryText(state)).toBe(text)
})
