import type { Microversion } from './microversion.js'
import type { JsonSchema, SchemaOf } from './json-schema.js'

/**
 * Type of an argument, in the query, in the path or as a member of a body: a JSON schema of one of these forms.
 * In a query every value is text, which the type says how to read; `uuid-or-name` and `mac` are Ironic's own formats.
 */
export const arg = {
  string: { type: 'string' },
  integer: { type: 'integer' },
  boolean: { type: 'boolean' },
  /** Comma-separated in a query. */
  list: { type: 'array', items: { type: 'string' } },
  uuid: { type: 'string', format: 'uuid' },
  ident: { type: 'string', format: 'uuid-or-name' },
  name: { type: 'string', format: 'name' },
  mac: { type: 'string', format: 'mac' },
  /** A list or null, its items checked later against the schema that the verb asks for. */
  steps: { type: ['null', 'array'] },
  configdrive: { type: ['null', 'object', 'string'] },
} as const
export type CallArgSchema = (typeof arg)[keyof typeof arg]

type HttpMethod = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'

/** How an operation's body is read. */
type BodySpec =
  /**
   * One document, checked as a whole; `label` is its name in error sentences, where it has one. A path that ends in
   * `{document}` gives a text in its place, which is none: upstream reads path segments as positional arguments.
   */
  | { readonly document: JsonSchema; readonly label?: string }
  /** An object whose members are arguments like those of the query. */
  | { readonly args: Readonly<Record<string, CallArgSchema>> }

/** A refusal of clients that are too old: 404, 405 or 406, by the controller or the router. */
export interface Hidden {
  readonly status: 404 | 405 | 406
  readonly message: string
  readonly shape: 'wsme' | 'pecan'
}

/** A call of Ironic's API. Paths have no trailing slash; `{name}` stands for one segment, whose text is an argument. */
export interface IronicOperation {
  readonly id: string
  readonly method: HttpMethod
  readonly path: string
  /**
   * Further paths of the same call. Ironic reads path segments as positional arguments, so some calls can also be made
   * with the argument in the query (`DELETE /v1/nodes?node_ident=X`); the methods of such a path count for `Allow`.
   */
  readonly also?: readonly string[]
  readonly since: Microversion
  /**
   * The answer to a client below `since`: the controller's 404 (`resource`), the router's for a subresource that it does
   * not know yet (`route`), or an answer that says what is missing.
   */
  readonly hidden?: 'resource' | 'route' | Hidden
  readonly query?: Readonly<Record<string, CallArgSchema>>
  /**
   * Arguments of the query that came later than the call, with the newest microversion of their time; those named like a
   * field came with the field. An Ironic from before does not know them.
   */
  readonly later?: Readonly<Record<string, Microversion>>
  /** Schema of the arguments, once read. */
  readonly querySchema?: JsonSchema
  /** Arguments without which the call is a 400. */
  readonly required?: readonly string[]
  readonly body?: BodySpec
  /** The route exists only to be refused as upstream refuses it; the documents of the API leave it out. */
  readonly refused?: true
  /** The status of success. */
  readonly status: 200 | 201 | 202 | 204
}

type ArgValue<Schema> = Schema extends { type: 'string' }
  ? string
  : Schema extends { type: 'integer' }
    ? number
    : Schema extends { type: 'boolean' }
      ? boolean
      : Schema extends { type: 'array' }
        ? string[]
        : unknown
type ArgValues<Schemas> = { -readonly [Name in keyof Schemas]?: ArgValue<Schemas[Name]> | null }
type PathNames<Path> = Path extends `${string}{${infer Name}}${infer Rest}` ? Name | PathNames<Rest> : never
type QueryOf<Op> = Op extends { query: infer Query } ? Query : object
type BodyArgsOf<Op> = Op extends { body: { args: infer Args } } ? Args : object

/** The type of the document that a call takes; undefined for a call without. */
export type DocumentOf<Op> = Op extends { body: { document: SchemaOf<infer Document> } } ? Document : undefined

/** The arguments of a call, from its path, query and body, read and checked for their form. */
export type CallArgs<Op extends { path: string }> = { [Name in PathNames<Op['path']>]: string } & ArgValues<
  Omit<QueryOf<Op>, PathNames<Op['path']>>
> &
  ArgValues<BodyArgsOf<Op>>
