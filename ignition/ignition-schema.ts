import type { SchemaObject } from 'ajv'
import { SchemaCompiler } from '../base/schemas/index.js'
import type { IgnitionConfig } from './config.js'

const ignitionListSchema = (items: SchemaObject): SchemaObject => ({ type: 'array', nullable: true, items })
const ignitionRecordSchema = (properties: Record<string, SchemaObject>): SchemaObject => ({
  type: 'object',
  nullable: true,
  properties,
  required: [],
})
const ignitionTextSchema: SchemaObject = { type: 'string', nullable: true }
const ignitionFlagSchema: SchemaObject = { type: 'boolean', nullable: true }
const node = { path: { type: 'string', pattern: '^/' } }
const resource = ignitionRecordSchema({ source: ignitionTextSchema, compression: ignitionTextSchema })

/**
 * Schema of the parts of a config that a deployment reads. Unknown keys pass: Ignition only warns about them. A user or
 * unit without a name passes too, as it does upstream; a path is required, since the deployment itself reads it.
 */
const configSchema: SchemaObject = {
  type: 'object',
  required: ['ignition'],
  properties: {
    ignition: { type: 'object', required: ['version'], properties: { version: { type: 'string' } } },
    storage: ignitionRecordSchema({
      files: ignitionListSchema({
        type: 'object',
        required: ['path'],
        properties: {
          ...node,
          overwrite: ignitionFlagSchema,
          mode: { type: 'integer', minimum: 0, maximum: 0o7777, nullable: true },
          contents: resource,
          append: ignitionListSchema({
            type: 'object',
            properties: { source: ignitionTextSchema, compression: ignitionTextSchema },
          }),
        },
      }),
      directories: ignitionListSchema({ type: 'object', required: ['path'], properties: node }),
      links: ignitionListSchema({ type: 'object', required: ['path'], properties: node }),
    }),
    passwd: ignitionRecordSchema({
      users: ignitionListSchema({
        type: 'object',
        properties: { name: ignitionTextSchema, sshAuthorizedKeys: ignitionListSchema({ type: 'string' }) },
      }),
    }),
    systemd: ignitionRecordSchema({
      units: ignitionListSchema({
        type: 'object',
        properties: { name: ignitionTextSchema, enabled: ignitionFlagSchema },
      }),
    }),
  },
}

const configShape = new SchemaCompiler({ stopsAtFirst: true }).check<IgnitionConfig>(configSchema)

export const hasShape = (value: unknown): value is IgnitionConfig => configShape.accepts(value)

/** Error of the latest check, with Ignition's notation for the path: `$.storage.files.0.mode must be integer`. */
export function shapeError(): string {
  const [error] = configShape.errors()
  if (!error) return 'its shape is not that of a config'
  const place = `$${error.instancePath.replaceAll('/', '.')}`
  // Only words of the schema: the value itself may be a secret.
  return `${place} ${error.keyword === 'pattern' ? 'must be an absolute path' : (error.message ?? 'is not valid')}`
}
