import { SchemaCompiler } from '../base/schemas/index.js'
import { COMMAND_STATUSES } from '../base/wire/index.js'
import type { SavedState } from './agent-phases.js'

const savedTextSchema = { type: 'string' }
const textOrNull = { type: ['string', 'null'] }

const schema = {
  type: 'object',
  required: [
    'format',
    'bootId',
    'callbackUrl',
    'token',
    'nodeUuid',
    'ironicVersion',
    'heartbeatTimeout',
    'inspected',
    'commands',
  ],
  properties: {
    format: { const: 1 },
    bootId: savedTextSchema,
    callbackUrl: savedTextSchema,
    token: textOrNull,
    nodeUuid: textOrNull,
    ironicVersion: textOrNull,
    heartbeatTimeout: { type: 'number' },
    inspected: { type: 'boolean' },
    tls: {
      type: 'object',
      nullable: true,
      required: ['certificate', 'key'],
      properties: { certificate: savedTextSchema, key: savedTextSchema },
    },
    hints: { type: 'object', nullable: true },
    images: {
      type: 'object',
      required: ['md5', 'formats'],
      properties: { md5: { type: 'boolean' }, formats: { type: 'array', nullable: true, items: savedTextSchema } },
    },
    tlsRules: {
      type: 'object',
      required: ['minVersion', 'ciphers'],
      properties: { minVersion: { enum: ['TLSv1.2', 'TLSv1.3', null] }, ciphers: textOrNull },
    },
    closed: { enum: ['rescued', 'locked down'] },
    commands: {
      type: 'array',
      items: {
        type: 'object',
        required: ['id', 'name', 'fullName', 'status', 'error', 'result'],
        properties: {
          id: savedTextSchema,
          name: savedTextSchema,
          fullName: savedTextSchema,
          status: { enum: COMMAND_STATUSES },
          error: { type: ['object', 'null'] },
          result: {},
          params: { type: 'object' },
          run: savedTextSchema,
        },
      },
    },
  },
}

const savedStateCheck = new SchemaCompiler({ stopsAtFirst: true }).check<SavedState>(schema)

/**
 * State that an earlier run of this agent saved on this boot. Anything else (nothing, another boot's, another format)
 * counts as nothing saved.
 */
export function readSavedState(value: unknown, bootId: string): SavedState | undefined {
  if (value === undefined || value === null) return undefined
  return savedStateCheck.accepts(value) && value.bootId === bootId ? value : undefined
}
