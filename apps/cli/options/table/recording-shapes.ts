import { FLAG, OPTION_TEXT_SCHEMA, OPTION_TEXTS_SCHEMA, type CommandOptionShape } from './option-shape.js'

/** Options of `record`, `replay` and `diff`. */
export const RECORDING_SHAPES = {
  upstream: {
    value: 'URL',
    example: 'http://192.0.2.1:6385',
    description: 'the Ironic to record, http or https',
    schema: OPTION_TEXT_SCHEMA,
  },
  output: { value: 'FILE', short: 'o', description: 'file to write the recording to', schema: OPTION_TEXT_SCHEMA },
  force: { description: 'replace an existing file', schema: FLAG },
  agents: {
    value: 'PORT',
    example: '9998',
    description: "also record Ironic's calls to agents, whose callback URLs get this port; 0 picks a free one",
    schema: { type: 'integer', minimum: 0, maximum: 65535 },
  },
  'body-limit': {
    value: 'MIB',
    example: '16',
    description: 'largest body that is kept, in MiB (default: 4)',
    schema: { type: 'integer', minimum: 1, maximum: 64 },
  },
  mask: {
    value: 'NAME',
    description: 'name of another key, header or argument whose value is a secret; may be repeated',
    schema: OPTION_TEXTS_SCHEMA,
  },
  ca: { value: 'FILE', description: 'certificate authorities to trust for https, PEM', schema: OPTION_TEXT_SCHEMA },
  insecure: { description: 'accept any certificate', schema: FLAG },
  against: {
    value: 'URL',
    example: 'http://127.0.0.1:6385',
    description: 'the Ironic to replay against',
    schema: OPTION_TEXT_SCHEMA,
  },
  as: {
    value: 'client|agent',
    description: 'side to play; agents listen on --host (default: client)',
    schema: { type: 'string', enum: ['client', 'agent'] },
  },
  known: {
    value: 'FILE',
    description: 'YAML file with known differences, which do not count',
    schema: OPTION_TEXT_SCHEMA,
  },
  partial: { description: 'accept a recording whose last line is cut off', schema: FLAG },
  wait: {
    value: 'SECONDS',
    example: '600',
    description: 'longest wait for a state (default: three times as long as recorded, and a minute)',
    schema: { type: 'integer', minimum: 1, maximum: 86_400 },
  },
  'secret-values': {
    value: 'FILE',
    description: 'YAML file with the values of masked secrets, by label',
    schema: OPTION_TEXT_SCHEMA,
  },
} as const satisfies Record<string, CommandOptionShape>
