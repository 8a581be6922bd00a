import fc from 'fast-check'
import { expect, test } from 'vitest'
import { PROVISION_STATES, type ProvisionState } from '../../../base/wire/index.js'
import { STABLE_STATES, TRANSITIONS, PROVISION_VERBS, transition, type TransitionEvent } from './transitions.js'

const EVENTS = [...new Set(Object.values(TRANSITIONS).flatMap((row) => Object.keys(row.on)))] as TransitionEvent[]

test('every state has a row, and every event leads to a state that has one', () => {
  expect(Object.keys(TRANSITIONS).sort()).toEqual([...PROVISION_STATES].sort())
  for (const row of Object.values(TRANSITIONS))
    for (const next of Object.values(row.on)) expect(TRANSITIONS).toHaveProperty([next])
})

test('stable states, and only they, have no target', () => {
  const without = PROVISION_STATES.filter((state) => TRANSITIONS[state].target === null)
  expect(without.sort()).toEqual([...STABLE_STATES].sort())
})

test('every verb is an event of each state that allows it', () => {
  for (const { event, from } of Object.values(PROVISION_VERBS)) {
    expect(from.length).toBeGreaterThan(0)
    for (const state of from) expect(TRANSITIONS[state].on, `${event} in ${state}`).toHaveProperty([event])
  }
})

test('no path leaves the table, and the target is that of the state, or manageable while cleaning by hand', () => {
  fc.assert(
    fc.property(fc.array(fc.constantFrom(...EVENTS), { maxLength: 60 }), (events) => {
      let at: { state: ProvisionState; target: ProvisionState | null } = { state: 'enroll', target: null }
      let manual = false
      for (const event of events) {
        if (!TRANSITIONS[at.state].on[event]) {
          expect(() => transition(at, event)).toThrow(`no transition for ${event} in ${at.state}`)
          continue
        }
        if (at.state === 'manageable') manual = event === 'clean'
        at = transition(at, event)
        const expected = at.state.startsWith('clean') && manual ? 'manageable' : TRANSITIONS[at.state].target
        expect(at.target).toBe(expected)
        if (!at.state.startsWith('clean')) manual = false
      }
    }),
  )
})

test.each<[ProvisionState, TransitionEvent, ProvisionState]>([
  ['enroll', 'manage', 'verifying'],
  ['verifying', 'fail', 'enroll'],
  ['wait call-back', 'delete', 'deleting'],
  ['deleting', 'fail', 'error'],
  ['service failed', 'abort', 'active'],
  ['clean hold', 'unhold', 'clean wait'],
])('%s --%s--> %s', (from, event, to) => {
  expect(transition({ state: from, target: TRANSITIONS[from].target }, event).state).toBe(to)
})
