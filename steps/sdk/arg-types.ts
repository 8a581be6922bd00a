import type { SchemaObject } from 'ajv'

/** One argument of a step: any JSON Schema, with a description for `argsinfo`. */
export type ArgSchema = SchemaObject & { description: string }

/** Arguments of a step. Others are refused. */
export interface ArgsSchema {
  properties: Record<string, ArgSchema>
  required?: readonly string[]
}

/**
 * TypeScript type of the values that a JSON Schema accepts. Supports `type`, `enum`, `const`, `anyOf`, `oneOf`, `items` and
 * `properties` with `required`; anything else is `unknown`.
 */
export type SchemaType<S> = S extends { const: infer C }
  ? C
  : S extends { enum: readonly (infer E)[] }
    ? E
    : S extends { anyOf: readonly (infer A)[] }
      ? SchemaType<A>
      : S extends { oneOf: readonly (infer A)[] }
        ? SchemaType<A>
        : S extends { type: readonly (infer T)[] }
          ? TypeNamed<T, S>
          : S extends { type: infer T }
            ? TypeNamed<T, S>
            : unknown

/** Distributes over a union of names: `type: ['string', 'null']`. */
type TypeNamed<T, S> = T extends 'string'
  ? string
  : T extends 'number' | 'integer'
    ? number
    : T extends 'boolean'
      ? boolean
      : T extends 'null'
        ? null
        : T extends 'array'
          ? S extends { items: infer I }
            ? SchemaType<I>[]
            : unknown[]
          : T extends 'object'
            ? S extends { properties: infer P }
              ? PropertyTypes<P, S extends { required: readonly (infer R)[] } ? R : never>
              : Record<string, unknown>
            : unknown

/** Properties that are required or have a default are always present. */
type PropertyTypes<P, Required> = Flat<
  { -readonly [K in keyof P as AlwaysPresent<P, K, Required> extends true ? K : never]: SchemaType<P[K]> } & {
    -readonly [K in keyof P as AlwaysPresent<P, K, Required> extends true ? never : K]?: SchemaType<P[K]>
  }
>

type AlwaysPresent<P, K extends keyof P, Required> = K extends Required
  ? true
  : P[K] extends { default: unknown }
    ? true
    : false

type Flat<T> = { [K in keyof T]: T[K] }

/** Type of a step's `args`, from their schema. */
export type ArgsOf<S> = S extends { properties: infer P }
  ? PropertyTypes<P, S extends { required: readonly (infer R)[] } ? R : never>
  : Record<never, never>
