import { FLAG, TEXTS, type OptionShape } from './shape.js'

/** Options of `rehearse`. */
export const REHEARSAL_SHAPES = {
  all: { description: 'rehearse every scenario', schema: FLAG },
  list: { description: 'list the scenarios and the behaviours of their actors', schema: FLAG },
  without: {
    value: 'BEHAVIOUR',
    description: 'take a behaviour of an actor away, as in cvo/waits-for-operators; may be repeated',
    schema: TEXTS,
  },
  seed: {
    value: 'N',
    description: 'seed of ids and jitter: the same seed gives the same story (default: 1)',
    schema: { type: 'integer', minimum: 0 },
  },
} as const satisfies Record<string, OptionShape>
