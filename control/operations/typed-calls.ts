import type { TypeOf } from './control-operation.js'
import type { CONTROL_OPERATIONS } from './control-operations.js'

type Operations = (typeof CONTROL_OPERATIONS)[number]

/** One text for each `{name}` of a path. */
type PathArguments<Path extends string> = Path extends `${string}{${string}}${infer Rest}`
  ? [string, ...PathArguments<Rest>]
  : []

type BodyArguments<Op> = Op extends { body: infer Body } ? [body: TypeOf<Body>] : []

type QueryArguments<Op> = Op extends { query: infer Query }
  ? [query?: { readonly [Name in keyof Query]?: TypeOf<Query[Name]> }]
  : []

type TypedAnswer<Op> = Op extends { answer: 'text/event-stream'; event: infer Event }
  ? AsyncGenerator<TypeOf<Event>, void>
  : Op extends { answer: string }
    ? Promise<string>
    : Op extends { answer: infer Document }
      ? Promise<TypeOf<Document>>
      : Promise<void>

/** The call with a list of bodies, where there is one. */
type ListCall<Op> = Op extends { body: infer Body; listAnswer: infer List }
  ? (bodies: readonly TypeOf<Body>[]) => Promise<TypeOf<List>>
  : unknown

type TypedCall<Op extends Operations> = ListCall<Op> &
  ((...args: [...PathArguments<Op['path']>, ...BodyArguments<Op>, ...QueryArguments<Op>]) => TypedAnswer<Op>)

/**
 * The calls of the control API by the ids of their operations. They take the parts of the path, then the body, then the
 * query. A call of a stream gives its entries as they come.
 */
export type ControlCalls = { [Op in Operations as Op['id']]: TypedCall<Op> }
