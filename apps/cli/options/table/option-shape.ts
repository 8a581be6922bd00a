export interface CommandOptionShape {
  /** The flag without `--`, where another command has an option of that name with another meaning. */
  flag?: string
  /** The value's name in the help. Flags have none. */
  value?: string
  /** A letter for `-x`. */
  short?: string
  /** For errors: a value of the expected form. */
  example?: string
  /** For errors: the values that the pattern of the schema accepts, in words. */
  accepted?: string
  description: string
  /** JSON Schema of one value, the same for flag, environment variable and config key. */
  schema: { type: 'string' | 'integer' | 'number' | 'boolean' | 'array'; [keyword: string]: unknown }
}

export const FLAG = { type: 'boolean' } as const
export const OPTION_TEXT_SCHEMA = { type: 'string', minLength: 1 } as const
export const OPTION_TEXTS_SCHEMA = { type: 'array', items: OPTION_TEXT_SCHEMA } as const
export const WORDS = { type: 'array', items: { type: 'string', minLength: 1, pattern: '^\\S+$' } } as const
/** Kernel arguments as the installer takes them, quotation marks and blanks included: `x="a b"`. */
export const KARGS = { type: 'array', items: { type: 'string', minLength: 1, pattern: '^[^\\u0000\\r\\n]+$' } } as const
export const SIZE = { type: 'string', pattern: '^[0-9]+(\\.[0-9]+)? ?([KMGT]i?B|B)?$' } as const
export const ABSOLUTE_PATH = { type: 'string', pattern: '^/.' } as const

/** Names of the options in a part of the table, in its order. */
export const namesOf = <S extends Record<string, CommandOptionShape>>(shapes: S): readonly (keyof S & string)[] =>
  Object.keys(shapes)
