import { defined } from '../../runtime/index.js'
import { formatMicroversion, MAX_MICROVERSION, MIN_MICROVERSION, type Microversion } from './microversion.js'
import type { IronicOperation } from './ironic-operation.js'
import type { JsonSchema } from './ironic-schemas.js'

type OpenApiNode = Readonly<Record<string, unknown>>

const ref = (kind: string, name: string): OpenApiNode => ({ $ref: `#/components/${kind}/${name}` })

/**
 * The operations as an OpenAPI 3.1 document, with parameters, request bodies and microversions. The table has no schemas of
 * response bodies, so each is described as an object.
 *
 * @param newest of the release that is described: what came later is left out
 */
export function openApiDocument(
  operations: readonly IronicOperation[],
  { newest = MAX_MICROVERSION, version }: { newest?: Microversion; version: string },
): OpenApiNode {
  const paths: Record<string, Record<string, unknown>> = {}
  /** OpenAPI takes paths that differ in the names of their parameters for one and the same. */
  const spelled = new Map<string, string>()
  for (const operation of operations) {
    if (operation.since > newest || operation.refused) continue
    const shape = operation.path.replaceAll(/\{\w+\}/g, '{}')
    const path = spelled.get(shape) ?? operation.path
    spelled.set(shape, path)
    ;(paths[path] ??= {})[operation.method.toLowerCase()] = describeIronicCall(operation, path)
  }
  return {
    openapi: '3.1.1',
    info: {
      title: "Ironic's API as ironstage serves it",
      version,
      description: `Microversions ${formatMicroversion(MIN_MICROVERSION)} to ${formatMicroversion(newest)}.`,
    },
    // No password, or one for HTTP's basic authentication, as configured.
    security: [{}, { basic: [] }],
    paths,
    components: {
      securitySchemes: { basic: { type: 'http', scheme: 'basic' } },
      parameters: {
        microversion: {
          name: 'X-OpenStack-Ironic-API-Version',
          in: 'header',
          description: 'The microversion to answer in: 1.N, or latest. Without, it is the oldest.',
          schema: { type: 'string', pattern: '^(1\\.\\d+|latest)?$' },
        },
      },
      responses: {
        refused: {
          description: 'Refused, or failed.',
          content: { 'application/json': { schema: ref('schemas', 'error') } },
        },
      },
      schemas: {
        error: {
          type: 'object',
          properties: {
            error_message: {
              type: 'string',
              description:
                'JSON text again: faultstring, faultcode and debuginfo; of the router code, title, description.',
            },
            error: { type: 'object', description: 'From the password check: message and code.' },
          },
        },
      },
    },
  }
}

function describeIronicCall(operation: IronicOperation, path: string): OpenApiNode {
  const { id, since, status, method } = operation
  const names = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name!)
  const own = [...operation.path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name!)
  const body = describeBody(operation, own)
  const document = status === 200 || status === 201
  return {
    operationId: id,
    tags: [id.split('.')[0]],
    description: `Since microversion ${formatMicroversion(since)}.`,
    'x-since': formatMicroversion(since),
    parameters: [
      ref('parameters', 'microversion'),
      ...names.map((name) => ({ name, in: 'path', required: true, schema: { type: 'string' } })),
      ...Object.entries(operation.query ?? {})
        .filter(([name]) => !own.includes(name))
        .map(([name, schema]) => ({
          name,
          in: 'query',
          required: operation.required?.includes(name) ?? false,
          schema,
          // Comma-separated.
          ...(schema.type === 'array' ? { style: 'form', explode: false } : {}),
        })),
    ],
    ...defined({ requestBody: body && method !== 'GET' ? body : undefined }),
    responses: {
      [status]: {
        description: status === 202 ? 'Accepted: the work goes on.' : 'Done.',
        ...defined({ content: document ? { 'application/json': { schema: { type: 'object' } } } : undefined }),
      },
      default: ref('responses', 'refused'),
    },
  }
}

function describeBody({ body, required = [] }: IronicOperation, inPath: readonly string[]): OpenApiNode | undefined {
  if (!body) return undefined
  const asJson = (schema: JsonSchema): OpenApiNode => ({ content: { 'application/json': { schema } } })
  if ('document' in body) return { required: true, ...asJson(body.document) }
  const names = Object.keys(body.args)
  const wanted = required.filter((name) => names.includes(name) && !inPath.includes(name))
  return {
    required: wanted.length > 0,
    ...asJson({
      type: 'object',
      properties: body.args,
      ...defined({ required: wanted.length > 0 ? wanted : undefined }),
      additionalProperties: false,
    }),
  }
}
