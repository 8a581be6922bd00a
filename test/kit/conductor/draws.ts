import fc from 'fast-check'
import type { SeenPower } from '../../../ironic-mock/conductor/core/conductor-events.js'
import { PROVISION_VERBS } from '../../../ironic-mock/conductor/core/transitions.js'

/** A draw of a test, which becomes an event that fits the node. */
export type Draw =
  | { draw: 'verb'; target: string; steps: 'none' | 'known' | 'unknown' | 'reserved' }
  | { draw: 'outcome'; luck: number; choice: number }
  /** The next act of a patient operator and a healthy machine. */
  | { draw: 'onward' }
  | { draw: 'power'; target: 'power on' | 'power off' | 'rebooting' | 'soft power off' }
  | { draw: 'power seen'; seen: SeenPower; attempt: number }
  | { draw: 'heartbeat' | 'lookup' | 'inventory' | 'deadline' | 'restart' | 'maintenance' | 'out of maintenance' }

export const draws: fc.Arbitrary<Draw> = fc.oneof(
  { weight: 40, arbitrary: fc.constant({ draw: 'onward' as const }) },
  {
    weight: 3,
    arbitrary: fc.record({
      draw: fc.constant('verb' as const),
      target: fc.constantFrom(...Object.keys(PROVISION_VERBS)),
      steps: fc.constantFrom('none' as const, 'known' as const, 'unknown' as const, 'reserved' as const),
    }),
  },
  {
    weight: 8,
    arbitrary: fc.record({
      draw: fc.constant('outcome' as const),
      luck: fc.double({ min: 0, max: 1, noNaN: true }),
      choice: fc.nat(5),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      draw: fc.constant('power' as const),
      target: fc.constantFrom(
        'power on' as const,
        'power off' as const,
        'rebooting' as const,
        'soft power off' as const,
      ),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      draw: fc.constant('power seen' as const),
      seen: fc.constantFrom<SeenPower>({ power: 'power on' }, { power: 'power off' }, { power: null, error: 'gone' }),
      attempt: fc.nat(5),
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({ draw: fc.constantFrom('heartbeat' as const, 'lookup' as const, 'inventory' as const) }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      draw: fc.constantFrom(
        'deadline' as const,
        'restart' as const,
        'maintenance' as const,
        'out of maintenance' as const,
      ),
    }),
  },
)
