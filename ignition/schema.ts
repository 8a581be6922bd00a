import { Ajv, type SchemaObject, type ValidateFunction } from 'ajv'
import type { IgnitionConfig } from './config.js'

const listOf = (items: SchemaObject): SchemaObject => ({ type: 'array', nullable: true, items })
const record = (properties: Record<string, SchemaObject>): SchemaObject => ({
  type: 'object',
  nullable: true,
  properties,
  required: [],
})
const text: SchemaObject = { type: 'string', nullable: true }
const flag: SchemaObject = { type: 'boolean', nullable: true }
const node = { path: { type: 'string', pattern: '^/' } }
const resource = record({ source: text, compression: text })

/**
 * Schema of the parts of a config that a deployment reads. Unknown keys pass: Ignition only warns about them. A user or
 * unit without a name passes too, as it does upstream; a path is required, since the deployment itself reads it.
 */
const shape: SchemaObject = {
  type: 'object',
  required: ['ignition'],
  properties: {
    ignition: { type: 'object', required: ['version'], properties: { version: { type: 'string' } } },
    storage: record({
      files: listOf({
        type: 'object',
        required: ['path'],
        properties: {
          ...node,
          overwrite: flag,
          mode: { type: 'integer', minimum: 0, maximum: 0o7777, nullable: true },
          contents: resource,
          append: listOf({ type: 'object', properties: { source: text, compression: text } }),
        },
      }),
      directories: listOf({ type: 'object', required: ['path'], properties: node }),
      links: listOf({ type: 'object', required: ['path'], properties: node }),
    }),
    passwd: record({
      users: listOf({
        type: 'object',
        properties: { name: text, sshAuthorizedKeys: listOf({ type: 'string' }) },
      }),
    }),
    systemd: record({ units: listOf({ type: 'object', properties: { name: text, enabled: flag } }) }),
  },
}

let compiled: ValidateFunction<IgnitionConfig> | undefined

/** Compiled on first use, since not every command reads a config. */
const check = () =>
  (compiled ??= new Ajv({ strictTypes: false, meta: false, validateSchema: false }).compile<IgnitionConfig>(shape))

export const hasShape = (value: unknown): value is IgnitionConfig => check()(value)

/** Error of the latest check, with Ignition's notation for the path: `$.storage.files.0.mode must be integer`. */
export function shapeError(): string {
  const [error] = check().errors ?? []
  if (!error) return 'its shape is not that of a config'
  const place = `$${error.instancePath.replaceAll('/', '.')}`
  // Only words of the schema: the value itself may be a secret.
  return `${place} ${error.keyword === 'pattern' ? 'must be an absolute path' : (error.message ?? 'is not valid')}`
}
