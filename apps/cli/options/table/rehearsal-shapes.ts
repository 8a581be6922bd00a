import { DURATION_PATTERN } from '../../../../base/runtime/index.js'
import { ERA_WORDS } from '../value-words.js'
import { FLAG, OPTION_TEXT_SCHEMA, OPTION_TEXTS_SCHEMA, type CommandOptionShape } from './option-shape.js'

/** Options of `rehearse` and `chaos`. */
export const REHEARSAL_SHAPES = {
  list: { description: 'list the scenarios and the behaviours of their actors', schema: FLAG },
  story: { description: 'print each action of each actor, and the reason', schema: FLAG },
  'operators-as': {
    flag: 'as',
    value: ERA_WORDS.join('|'),
    description:
      'whose account the operators act by: those of today, or the design documents of 2020 to 2023 (default: today)',
    schema: { type: 'string', enum: [...ERA_WORDS] },
  },
  compare: {
    description:
      'play each scenario with the operators of today and with those of the documents, and print where they part',
    schema: FLAG,
  },
  without: {
    value: 'BEHAVIOUR',
    description: 'switch off a behaviour of an actor, as in cvo/waits-for-operators; may be repeated',
    schema: OPTION_TEXTS_SCHEMA,
  },
  cluster: {
    value: 'FOLDER',
    description: "rehearse the upgrade of your own cluster: an unpacked must-gather, or outputs of 'oc get -o yaml'",
    schema: OPTION_TEXT_SCHEMA,
  },
  'cluster-release': {
    flag: 'to',
    value: 'RELEASE',
    example: '4.22.0',
    description: 'release for --cluster: a version, a pull specification or an OCI layout (default: the next one)',
    schema: OPTION_TEXT_SCHEMA,
  },
  duration: {
    value: 'TIME',
    example: '10m',
    description: 'lab time after which all faults are lifted (default: 10m)',
    schema: { type: 'string', pattern: DURATION_PATTERN },
  },
  out: {
    value: 'FOLDER',
    description: 'write the report, the journal and, after a failure, the shrunk fault file and test',
    schema: OPTION_TEXT_SCHEMA,
  },
  'no-shrink': { description: 'do not shrink a failure to the smallest set of faults', schema: FLAG },
  seed: {
    value: 'N',
    description: 'seed of ids and jitter: the same seed gives the same story (default: 1)',
    schema: { type: 'integer', minimum: 0 },
  },
} as const satisfies Record<string, CommandOptionShape>
