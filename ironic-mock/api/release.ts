import {
  IRONIC_OPERATIONS,
  ironicErrors,
  NODE_FIELDS,
  PATCHABLE_NODE_FIELDS,
  PATCHABLE_PORT_FIELDS,
  PORT_FIELDS,
  type Field,
  type JsonSchema,
  type Microversion,
  type Operation,
} from '../../wire/index.js'
import type { Arguments } from './arguments.js'
import { Router } from './router.js'
import { checkDocument } from './schema.js'

/**
 * The API of one release. What came after it is not refused as too new but is not there at all: paths, fields in
 * documents, patches and `fields`, filters by a field's name.
 */
export class Release {
  readonly newest: Microversion
  readonly router: Router
  readonly #hiddenNode: ReadonlySet<string>
  readonly #hiddenPort: ReadonlySet<string>
  readonly #schemas = new WeakMap<JsonSchema, JsonSchema>()

  constructor(newest: Microversion) {
    this.newest = newest
    this.router = new Router(IRONIC_OPERATIONS.filter(({ since }) => since <= newest))
    const later = (fields: readonly Field<string>[]) =>
      new Set(fields.filter(({ since }) => since > newest).map(({ name }) => name))
    this.#hiddenNode = later(NODE_FIELDS)
    this.#hiddenPort = later(PORT_FIELDS)
  }

  /** @throws IronicError 400 */
  checkArguments(operation: Operation, { fields, sort_key: key, ...others }: Arguments): void {
    const hidden = this.#hidden(operation)
    if (hidden.size === 0) return
    const unexpected = Object.keys(others).filter((name) => hidden.has(name))
    if (unexpected.length > 0) throw ironicErrors.unexpectedArguments(unexpected)
    if (typeof key === 'string' && hidden.has(key)) throw ironicErrors.sortKey(key)
    const unknown = Array.isArray(fields) ? (fields as string[]).find((field) => hidden.has(field)) : undefined
    if (unknown !== undefined) throw ironicErrors.unknownField(unknown)
  }

  /** @throws IronicError 400 */
  checkDocument(operation: Operation, document: JsonSchema, label: string | undefined, value: unknown): void {
    const hidden = this.#hidden(operation)
    checkDocument(hidden.size === 0 ? document : this.#without(hidden, document), label, value)
    if (hidden.size === 0 || operation.method !== 'PATCH') return
    const patchable = operation.id === 'nodes.patch' ? PATCHABLE_NODE_FIELDS : PATCHABLE_PORT_FIELDS
    for (const { path } of value as { path: string }[])
      if (hidden.has(path.split('/')[1] ?? ''))
        throw ironicErrors.notPatchable(
          path,
          patchable.filter((name) => !hidden.has(name)),
        )
  }

  #hidden({ id }: Operation): ReadonlySet<string> {
    if (id.startsWith('ports.') || id.startsWith('nodes.ports')) return this.#hiddenPort
    return id.startsWith('nodes.') ? this.#hiddenNode : NOTHING
  }

  #without(hidden: ReadonlySet<string>, schema: JsonSchema): JsonSchema {
    const known = this.#schemas.get(schema)
    if (known) return known
    const properties = Object.entries((schema.properties ?? {}) as JsonSchema).filter(([name]) => !hidden.has(name))
    const made = schema.properties ? { ...schema, properties: Object.fromEntries(properties) } : schema
    this.#schemas.set(schema, made)
    return made
  }
}

const NOTHING: ReadonlySet<string> = new Set()
