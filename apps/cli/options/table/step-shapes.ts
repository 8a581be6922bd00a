import { FLAG, OPTION_TEXT_SCHEMA, OPTION_TEXTS_SCHEMA, type CommandOptionShape } from './option-shape.js'

/** Options of steps of one's own, and how one of them is run. */
export const STEP_SHAPES = {
  steps: {
    value: 'FILE',
    description: 'file or package with your steps, TypeScript or JavaScript; may be repeated',
    schema: OPTION_TEXTS_SCHEMA,
  },
  args: {
    value: 'FILE|JSON',
    description: 'arguments of the step: a JSON object, a file with one, or - for standard input (default: none)',
    schema: OPTION_TEXT_SCHEMA,
  },
  plan: {
    description:
      'print what would be written instead of writing; a simulated machine is read, a real one is not contacted',
    schema: FLAG,
  },
  dir: {
    value: 'DIR',
    description: 'folder to write to (default: the current one)',
    schema: OPTION_TEXT_SCHEMA,
  },
} as const satisfies Record<string, CommandOptionShape>
