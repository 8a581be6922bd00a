import { FLAG, TEXT, TEXTS, type OptionShape } from './shape.js'

/** Options of steps of one's own, and how one of them is run. */
export const STEP_SHAPES = {
  steps: {
    value: 'FILE',
    description: 'file or package with your steps, TypeScript or JavaScript; may be repeated',
    schema: TEXTS,
  },
  args: {
    value: 'FILE|JSON',
    description: 'arguments of the step: a JSON object, a file with one, or - for standard input (default: none)',
    schema: TEXT,
  },
  plan: {
    description:
      'print what would be written instead of writing; a simulated machine is read, a real one is not contacted',
    schema: FLAG,
  },
  dir: {
    value: 'DIR',
    description: 'folder to write to (default: the current one)',
    schema: TEXT,
  },
} as const satisfies Record<string, OptionShape>
