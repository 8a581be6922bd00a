import { DURATION_PATTERN } from '../../../../base/runtime/index.js'
import { JOURNAL_KIND_WORDS } from '../value-words.js'
import { FLAG, OPTION_TEXT_SCHEMA, type CommandOptionShape } from './option-shape.js'

const KIND_PATTERN = JOURNAL_KIND_WORDS.join('|')

/** Options of the commands that control a lab while it runs. */
export const CONTROL_SHAPES = {
  url: {
    value: 'URL',
    example: 'http://127.0.0.1:6385',
    description: 'the ironstage to control (default: OS_ENDPOINT, IRONIC_ENDPOINT, else http://127.0.0.1:6385)',
    schema: { type: 'string', pattern: '^https?://.' },
  },
  faults: {
    value: 'FILE',
    description: 'YAML or JSON file with the initial faults, as in docs/control.md',
    schema: OPTION_TEXT_SCHEMA,
  },
  match: {
    value: 'KEY=VALUE',
    example: 'node=node-3',
    description:
      'condition under which the fault strikes: node=node-3, phase=install, route="POST /v1/heartbeat"; may be repeated',
    schema: { type: 'array', items: { type: 'string', pattern: '^[a-z]+=.' } },
  },
  effect: {
    value: 'KIND[:KEY=VALUE,...]',
    example: 'delay:for=5s',
    description: 'effect of the fault: agent-silent, status:status=503, delay:for=5s ...',
    schema: { type: 'string', pattern: '^[a-z-]+(:.+)?$' },
  },
  times: {
    value: 'N',
    example: '1',
    description: 'how often it strikes (default: until it is lifted)',
    schema: { type: 'integer', minimum: 1 },
  },
  after: {
    value: 'N',
    example: '2',
    description: 'number of matches to skip before it strikes (default: 0)',
    schema: { type: 'integer', minimum: 0 },
  },
  probability: {
    value: 'P',
    example: '0.1',
    description: 'probability that it strikes, decided by the seed of the lab (default: 1)',
    schema: { type: 'number', exclusiveMinimum: 0, maximum: 1 },
  },
  label: { value: 'TEXT', description: 'any text, to lift several faults at once', schema: OPTION_TEXT_SCHEMA },
  until: {
    value: 'NODE=STATE',
    example: 'node-0=active',
    description: 'advance time until this node is in this state',
    schema: { type: 'string', pattern: '^[^=]+=.+' },
  },
  within: {
    value: 'TIME',
    example: '2h',
    description: 'longest lab time that --until waits (default: 24h)',
    schema: { type: 'string', pattern: DURATION_PATTERN },
  },
  kind: {
    value: 'KIND',
    example: 'exchange',
    description: 'exchange, command, state, step, bmc, power, boot, pull, fault or lab; may be repeated',
    accepted: `one of ${JOURNAL_KIND_WORDS.join(', ')}`,
    schema: { type: 'array', items: { type: 'string', pattern: `^(${KIND_PATTERN})(,(${KIND_PATTERN}))*$` } },
  },
  route: {
    value: 'ROUTE',
    example: 'PATCH /v1/nodes/:id',
    description: 'only exchanges of this route',
    schema: OPTION_TEXT_SCHEMA,
  },
  last: {
    value: 'N',
    example: '100',
    description: 'print the last N entries (default: all that are still stored)',
    schema: { type: 'integer', minimum: 0 },
  },
  har: {
    value: 'FILE',
    description: 'write the exchanges into this file as an HTTP archive',
    schema: OPTION_TEXT_SCHEMA,
  },
  all: { description: 'all of them', schema: FLAG },
  lab: { description: "describe ironstage's control API instead of Ironic's", schema: FLAG },
} as const satisfies Record<string, CommandOptionShape>
