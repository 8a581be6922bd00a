import { NEWEST_SPEC, SPEC_WORDS } from '../value-words.js'
import { FLAG, OPTION_TEXT_SCHEMA, type CommandOptionShape } from './option-shape.js'

/** Options of `ironstage ignition`. */
export const IGNITION_SHAPES = {
  spec: {
    value: 'VERSION',
    description: `version of the Ignition spec to write (translate: ${NEWEST_SPEC}; merge: the newest of the inputs)`,
    schema: { type: 'string', enum: [...SPEC_WORDS] },
  },
  follow: {
    description: 'fetch the configs that ignition.config.merge and replace name, and merge them in',
    schema: FLAG,
  },
  cat: {
    value: 'PATH',
    description: 'print the contents that the config gives to this file',
    schema: OPTION_TEXT_SCHEMA,
  },
} as const satisfies Record<string, CommandOptionShape>
