import { FLAG, OPTION_TEXT_SCHEMA, OPTION_TEXTS_SCHEMA, type CommandOptionShape } from './option-shape.js'

/** Options of `run`. */
export const HARDWARE_LAB_SHAPES = {
  only: {
    value: 'LABEL',
    description: 'run only hosts with this name or label; may be repeated',
    schema: OPTION_TEXTS_SCHEMA,
  },
  parallel: {
    value: 'N',
    example: '8',
    description: 'number of hosts at once (default: run.parallel of the file, else 4)',
    schema: { type: 'integer', minimum: 1, maximum: 256 },
  },
  'max-failures': {
    value: 'N',
    example: '3',
    description: 'number of failed hosts after which no further host is started (default: no limit)',
    schema: { type: 'integer', minimum: 1 },
  },
  resume: { description: 'resume the run in the state folder', schema: FLAG },
  restart: { description: 'discard the unfinished run in the state folder and start again', schema: FLAG },
  'through-ironic': {
    value: 'URL',
    example: 'http://ironic.example.org:6385',
    description:
      'install the hosts through this Ironic: register, inspect, clean, deploy; env takes the URL from OS_ENDPOINT',
    schema: { type: 'string', pattern: '^(env$|https?://.)' },
  },
  'serve-image': {
    value: 'HOST[:PORT]',
    example: '192.0.2.1',
    description: 'address of this machine at which hosts fetch images over HTTP (default: through SSH)',
    schema: OPTION_TEXT_SCHEMA,
  },
  rehearse: { description: 'run on simulated machines with the hardware that the file describes', schema: FLAG },
  junit: { value: 'FILE', description: 'write a JUnit report', schema: OPTION_TEXT_SCHEMA },
  markdown: { value: 'FILE', description: 'write a summary as Markdown', schema: OPTION_TEXT_SCHEMA },
  annotate: {
    value: 'CI',
    description: 'report failures at their lines of the file: github prints them, gitlab writes a Code Quality report',
    schema: { type: 'string', enum: ['github', 'gitlab'] },
  },
  html: { value: 'FILE', description: 'write a report as one HTML file', schema: OPTION_TEXT_SCHEMA },
} as const satisfies Record<string, CommandOptionShape>
