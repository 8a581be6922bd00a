import {
  Ajv,
  type ErrorObject,
  type FormatDefinition,
  type Options,
  type SchemaObject,
  type ValidateFunction,
} from 'ajv'

/** A JSON Schema that is compiled on first use: compiling all of them at once would more than double the start-up time. */
export interface SchemaCheck<T> {
  accepts(value: unknown): value is T
  /** Errors of the latest value. */
  errors(): readonly ErrorObject[]
}

type RegExpEngine = NonNullable<NonNullable<Options['code']>['regExp']>

/** Makes an expression that is looked for anywhere in a text. */
type PatternMaker = (source: string) => { test(text: string): boolean }

export interface SchemaCompilerOptions {
  /** Checks of strings, by the `format` that a schema names; true for one that its reader checks. */
  formats?: Readonly<Record<string, true | RegExp | FormatDefinition<string> | ((text: string) => boolean)>>
  /** Makes the expression of a `pattern`; by default that of the language itself. */
  pattern?: PatternMaker
  /** Ends at the first error: enough for a message between programs. */
  stopsAtFirst?: boolean
  /** Reads numbers and booleans out of texts, and writes them into the value. */
  readsTexts?: boolean
  /** Keywords that refuse nothing, for other readers of a schema. */
  notes?: readonly string[]
  /** False for schemas that check a few values each: the optimizer takes a third of their compilation. */
  optimizes?: boolean
}

/** The one way in which the project compiles JSON Schemas, so that each of them refuses the same mistakes. */
export class SchemaCompiler {
  readonly #options: SchemaCompilerOptions
  readonly #checks = new WeakMap<object, SchemaCheck<unknown>>()
  #ajv: Ajv | undefined

  constructor(options: SchemaCompilerOptions = {}) {
    this.#options = options
  }

  /** The check of a schema; the same one for the same schema. */
  check<T>(schema: SchemaObject): SchemaCheck<T> {
    const known = this.#checks.get(schema)
    if (known) return known as SchemaCheck<T>
    let validate: ValidateFunction<T> | undefined
    const compiled = () => (validate ??= this.#compiler().compile<T>(schema))
    const made: SchemaCheck<T> = {
      accepts: (value): value is T => compiled()(value),
      errors: () => compiled().errors ?? [],
    }
    this.#checks.set(schema, made)
    return made
  }

  #compiler(): Ajv {
    const {
      pattern,
      formats = {},
      stopsAtFirst = false,
      readsTexts = false,
      notes = [],
      optimizes = true,
    } = this.#options
    return (this.#ajv ??= new Ajv({
      allErrors: !stopsAtFirst,
      verbose: !stopsAtFirst,
      coerceTypes: readsTexts,
      formats,
      keywords: [...notes],
      code: { optimize: optimizes, ...(pattern && { regExp: patternEngine(pattern) }) },
      strictTypes: false,
      strictTuples: false,
      // The schemas are our own: validating one against JSON Schema takes ten times as long as compiling it.
      meta: false,
      validateSchema: false,
    }))
  }
}

/** An engine of ajv, which names it in the code of a check, and takes patterns of the same text for one. */
function patternEngine(pattern: PatternMaker): RegExpEngine {
  const make = (source: string) => {
    const made = pattern(source)
    return { test: (text: string) => made.test(text), toString: () => source }
  }
  return Object.assign(make, { code: 'pattern' })
}

const compiler = new SchemaCompiler()

/** The check of a schema whose strings have no formats. All errors of a value are found. */
export const schemaCheck = <T>(schema: SchemaObject): SchemaCheck<T> => compiler.check<T>(schema)
