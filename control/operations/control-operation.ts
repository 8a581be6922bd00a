import type { WireRequest, WireResponse } from '../../base/wire/index.js'

declare const DESCRIBED: unique symbol

/** JSON schema of a body, an argument or an answer; the compiler knows the type that it describes. */
export type TypedSchema<Type = unknown> = Readonly<Record<string, unknown>> & { readonly [DESCRIBED]?: Type }

/** The type that a schema describes. */
export type TypeOf<Described> = Described extends { readonly [DESCRIBED]?: infer Type } ? Type : unknown

/** Says which type a schema describes. */
export const typedSchema = <Type>(schema: TypedSchema): TypedSchema<Type> => schema as TypedSchema<Type>

/** The arguments of a call, checked against its schemas. */
export interface ControlCall {
  /** Named parts of the path, decoded. */
  params: Readonly<Record<string, string>>
  query: Readonly<Record<string, string>>
  /** The JSON document; an empty object without a body. */
  body: unknown
  request: WireRequest
}

/** A call of the control API. Paths begin after `/_lab`; `{name}` stands for one part. */
export interface ControlOperation {
  readonly id: string
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  readonly path: string
  /** One sentence. */
  readonly summary: string
  readonly query?: Readonly<Record<string, TypedSchema>>
  readonly body?: TypedSchema
  /** Status of success. */
  readonly status: 200 | 201 | 204
  /** Schema of the answer's document; or the content type of an answer that is none. */
  readonly answer?: TypedSchema | string
  /** Schema of the answer to a list of bodies, where one is taken as well. */
  readonly listAnswer?: TypedSchema
  /** Schema of the documents of a stream. */
  readonly event?: TypedSchema
}

/** Answers a call: with a document, an answer of its own, or nothing for 204. */
export type ControlHandler = (call: ControlCall) => unknown

export const isAnswer = (value: unknown): value is WireResponse =>
  typeof value === 'object' && value !== null && 'status' in value && 'headers' in value
