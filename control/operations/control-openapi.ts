import { defined, packageVersion } from '../../base/runtime/index.js'
import type { ControlOperation, TypedSchema } from './control-operation.js'
import { CONTROL_OPERATIONS } from './control-operations.js'
import { arraySchema } from './schema-forms.js'

/** Version of the control API: a number that grows when something is taken away or changed. */
export const CONTROL_VERSION = 1

const LAB = '/_lab'

/**
 * The control API as an OpenAPI 3.1 document.
 *
 * @example
 * import { controlOpenApi } from 'ironstage/control'
 *
 * const paths = Object.keys(controlOpenApi()['paths'] as object)
 */
export function controlOpenApi(): Readonly<Record<string, unknown>> {
  const paths: Record<string, Record<string, unknown>> = {}
  for (const operation of CONTROL_OPERATIONS)
    (paths[`${LAB}${operation.path}`] ??= {})[operation.method.toLowerCase()] = describeControlCall(operation)
  return {
    openapi: '3.1.1',
    info: {
      title: "ironstage's control API",
      version: packageVersion(),
      description: `Version ${CONTROL_VERSION}. Faults, clock, journal and machines of a lab.`,
    },
    security: [{}, { basic: [] }],
    paths,
    components: {
      securitySchemes: { basic: { type: 'http', scheme: 'basic' } },
      responses: {
        refused: {
          description: 'Refused; nothing has changed.',
          content: { 'application/json': { schema: ERROR } },
        },
      },
    },
  }
}

const ERROR: TypedSchema = {
  type: 'object',
  required: ['error'],
  properties: {
    error: {
      type: 'object',
      required: ['code', 'message', 'remedy'],
      properties: {
        code: { type: 'string', description: 'one of docs/errors.md' },
        message: { type: 'string', description: 'what was wrong, and where' },
        remedy: { type: ['string', 'null'], description: 'what to do' },
      },
    },
  },
}

function describeControlCall(operation: ControlOperation): TypedSchema {
  const { id, path, summary, query = {}, body, status, answer, listAnswer } = operation
  const either = (one: TypedSchema, list: TypedSchema): TypedSchema => (listAnswer ? { oneOf: [one, list] } : one)
  const parameters = [
    ...[...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => ({
      name,
      in: 'path',
      required: true,
      schema: { type: 'string' },
      ...defined({ description: name === 'node' ? 'uuid or name' : undefined }),
    })),
    ...Object.entries(query).map(([name, schema]) => ({ name, in: 'query', schema })),
  ]
  const content =
    typeof answer === 'string'
      ? { [answer]: { schema: { type: 'string' } } }
      : answer && { 'application/json': { schema: either(answer, listAnswer!) } }
  return {
    operationId: id,
    summary,
    tags: [path.split('/')[1] || 'lab'],
    ...defined({
      parameters: parameters.length > 0 ? parameters : undefined,
      requestBody: body
        ? { required: true, content: { 'application/json': { schema: either(body, arraySchema(body)) } } }
        : undefined,
    }),
    responses: {
      [status]: { description: summary, ...defined({ content }) },
      default: { $ref: '#/components/responses/refused' },
    },
  }
}
