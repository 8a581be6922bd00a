import {
  IRONIC_OPERATIONS,
  ironicErrors,
  NODE_FIELDS,
  PATCHABLE,
  PATCHABLE_NODE_FIELDS,
  PATCHABLE_PORT_FIELDS,
  PORT_FIELDS,
  RESOURCE_FIELDS,
  SINCE,
  type VersionedField,
  type JsonSchema,
  type Microversion,
  type IronicOperation,
} from '../../base/wire/index.js'
import type { Arguments } from './read-arguments.js'
import { Router } from './router.js'
import { checkDocument } from './api-schema.js'

/** Resources with fields of later microversions. */
type VersionedResource = 'node' | 'port' | 'portgroup' | 'runbook'

const VERSIONED_FIELDS: Readonly<Record<VersionedResource, readonly Pick<VersionedField<string>, 'name' | 'since'>[]>> =
  {
    node: NODE_FIELDS,
    // Only in requests, never in answers.
    port: [...PORT_FIELDS, { name: 'node_ident', since: SINCE.portNodeIdent }],
    portgroup: [...RESOURCE_FIELDS.portgroup.own, ...RESOURCE_FIELDS.portgroup.derived],
    runbook: [...RESOURCE_FIELDS.runbook.own, ...RESOURCE_FIELDS.runbook.derived],
  }
const PATCHABLE_FIELDS: Readonly<Record<VersionedResource, readonly string[]>> = {
  node: PATCHABLE_NODE_FIELDS,
  port: PATCHABLE_PORT_FIELDS,
  portgroup: PATCHABLE.portgroup,
  runbook: PATCHABLE.runbook,
}

/**
 * The API of one release. Paths, arguments, fields and filters that were added later do not exist in it, rather than
 * being refused as too new.
 */
export class Release {
  readonly newest: Microversion
  readonly router: Router
  readonly #hidden: Readonly<Record<VersionedResource, ReadonlySet<string>>>
  readonly #schemas = new WeakMap<JsonSchema, JsonSchema>()

  static readonly #made = new Map<Microversion, Release>()

  /** Made once, since it never changes: a lab that goes back to a snapshot starts its API again. */
  static of(newest: Microversion): Release {
    const made = Release.#made.get(newest) ?? new Release(newest)
    Release.#made.set(newest, made)
    return made
  }

  private constructor(newest: Microversion) {
    this.newest = newest
    const later = (kind: VersionedResource) =>
      new Set(VERSIONED_FIELDS[kind].filter(({ since }) => since > newest).map(({ name }) => name))
    this.#hidden = {
      node: later('node'),
      port: later('port'),
      portgroup: later('portgroup'),
      runbook: later('runbook'),
    }
    this.router = new Router(
      IRONIC_OPERATIONS.filter(({ since }) => since <= newest).map((row) => this.#inThisRelease(row)),
    )
  }

  /** Operation with the arguments that it has in this release. */
  #inThisRelease(operation: IronicOperation): IronicOperation {
    const { query, later = {} } = operation
    const hidden = this.#hiddenOf(operation)
    const isLater = (name: string): boolean => hidden.has(name) || (later[name] ?? 0) > this.newest
    if (!query || !Object.keys(query).some(isLater)) return operation
    return { ...operation, query: Object.fromEntries(Object.entries(query).filter(([name]) => !isLater(name))) }
  }

  /** @throws IronicError 400 */
  checkArguments(operation: IronicOperation, { fields, sort_key: key }: Arguments): void {
    const hidden = this.#hiddenOf(operation)
    if (hidden.size === 0) return
    if (typeof key === 'string' && hidden.has(key)) throw ironicErrors.sortKey(key)
    const unknown = Array.isArray(fields) ? (fields as string[]).find((field) => hidden.has(field)) : undefined
    if (unknown !== undefined) throw ironicErrors.unknownField(unknown)
  }

  /** @throws IronicError 400 */
  checkDocument(operation: IronicOperation, document: JsonSchema, label: string | undefined, value: unknown): void {
    const hidden = this.#hiddenOf(operation)
    checkDocument(hidden.size === 0 ? document : this.#without(hidden, document), label, value)
    const kind = callResourceOf(operation)
    if (hidden.size === 0 || operation.method !== 'PATCH' || kind === undefined) return
    for (const { path } of value as { path: string }[])
      if (hidden.has(path.split('/')[1] ?? ''))
        throw ironicErrors.notPatchable(
          path,
          PATCHABLE_FIELDS[kind].filter((name) => !hidden.has(name)),
        )
  }

  #hiddenOf(operation: IronicOperation): ReadonlySet<string> {
    const kind = callResourceOf(operation)
    return kind === undefined ? NO_FIELDS : this.#hidden[kind]
  }

  #without(hidden: ReadonlySet<string>, schema: JsonSchema): JsonSchema {
    const known = this.#schemas.get(schema)
    if (known) return known
    const made = schema.properties ? withoutFields(hidden, schema) : schema
    this.#schemas.set(schema, made)
    return made
  }
}

/** Removes fields from a schema; a choice with one alternative left becomes a requirement. */
function withoutFields(hidden: ReadonlySet<string>, { oneOf, ...schema }: JsonSchema): JsonSchema {
  const properties = Object.entries(schema.properties as JsonSchema).filter(([name]) => !hidden.has(name))
  const made = { ...schema, properties: Object.fromEntries(properties) }
  if (oneOf === undefined) return made
  const choices = (oneOf as { required: string[] }[]).filter(
    ({ required }) => !required.some((name) => hidden.has(name)),
  )
  if (choices.length > 1) return { ...made, oneOf: choices }
  return {
    ...made,
    required: [...((schema.required ?? []) as string[]), ...choices.flatMap(({ required }) => required)],
  }
}

/** Resource whose fields a call refers to. */
function callResourceOf({ id }: IronicOperation): VersionedResource | undefined {
  if (/^(nodes\.|portgroups\.)?ports(\.|$)/.test(id)) return 'port'
  if (/^(nodes\.)?portgroups(\.|$)/.test(id)) return 'portgroup'
  if (id.startsWith('runbooks.')) return 'runbook'
  return /^nodes\.(list|detail|create|get|patch)$|^chassis\.nodes/.test(id) ? 'node' : undefined
}

const NO_FIELDS: ReadonlySet<string> = new Set()
