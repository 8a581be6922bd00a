import { SchemaCompiler } from '../../schemas/index.js'
import type { JsonObject } from '../ironic/node.js'

/** The release of IPA that the agent claims to be; Ironic wants a version in every heartbeat. */
export const AGENT_VERSION = '13.0.0'

/**
 * The microversions that IPA 13.0.0 uses at most; an older Ironic gets its own maximum. Inspection data goes out without
 * any version header.
 */
export const LOOKUP_VERSION = '1.62'
export const HEARTBEAT_VERSION = '1.68'

/** Stands for a token that Ironic has already handed out. */
export const MASKED_TOKEN = '******'

/** IPA ignores tokens shorter than this. */
export const MIN_AGENT_TOKEN_LENGTH = 32

/** Body of `POST /v1/heartbeat/{uuid}`; the answer is 202 and empty. */
export interface HeartbeatBody {
  /** Without trailing slash; Ironic adds `/v1/commands/`. Must not change during a boot. */
  callback_url: string
  agent_token: string | null
  agent_version: string
  /** PEM of the agent's own certificate. */
  agent_verify_ca?: string
}

/** Answer of `GET /v1/lookup`, as far as an agent reads it. */
export interface LookupAnswer {
  node: { uuid: string } & JsonObject
  config: { heartbeat_timeout: number; agent_token?: string | null } & JsonObject
}

/** Answer of `GET /` of Ironic, as far as an agent reads it. */
export interface IronicRoot {
  default_version: { version: string }
}

const lookupSchema = {
  type: 'object',
  required: ['node', 'config'],
  properties: {
    node: { type: 'object', required: ['uuid'], properties: { uuid: { type: 'string', minLength: 1 } } },
    config: {
      type: 'object',
      required: ['heartbeat_timeout'],
      properties: {
        heartbeat_timeout: { type: 'number', exclusiveMinimum: 0 },
        agent_token: { type: 'string', nullable: true },
      },
    },
  },
}
const rootSchema = {
  type: 'object',
  required: ['default_version'],
  properties: {
    default_version: {
      type: 'object',
      required: ['version'],
      properties: { version: { type: 'string', pattern: '^[0-9]+\\.[0-9]+$' } },
    },
  },
}
const inspectionAnswerSchema = {
  type: 'object',
  required: ['uuid'],
  properties: { uuid: { type: 'string', minLength: 1 } },
}

const answerSchemas = new SchemaCompiler({ stopsAtFirst: true })

function parser<T>(schema: object, what: string): (value: unknown) => T {
  const check = answerSchemas.check<T>(schema)
  return (value) => {
    if (check.accepts(value)) return value
    const [error] = check.errors()
    throw new Error(`${what} is not what Ironic answers: data${error?.instancePath} ${error?.message}`)
  }
}

/** @throws Error saying which part is missing or of the wrong type */
export const parseLookupAnswer = parser<LookupAnswer>(lookupSchema, 'the answer to the lookup')
/** @throws Error saying which part is missing or of the wrong type */
export const parseIronicRoot = parser<IronicRoot>(rootSchema, 'the root document')
/** @throws Error saying which part is missing or of the wrong type */
export const parseInspectionAnswer = parser<{ uuid: string }>(inspectionAnswerSchema, 'the answer to the inspection')

/** The lower of two microversions, `1.9` being lower than `1.10`. */
export function lowerVersion(a: string, b: string): string {
  const [majorA = 0, minorA = 0] = a.split('.').map(Number)
  const [majorB = 0, minorB = 0] = b.split('.').map(Number)
  return majorA < majorB || (majorA === majorB && minorA <= minorB) ? a : b
}
