/** Type of an option's value, as oslo.config has it. */
type OptionKind =
  | 'text'
  | 'boolean'
  | 'integer'
  | 'float'
  | 'port'
  | 'list'
  | 'dict'
  | 'range'
  | 'host address'
  | 'host domain'
  | 'hostname'
  | 'ip address'
  | 'uri'
  | 'absolute path'
  | 'kernel parameters'

/** Limits of a value. */
export interface OptionType {
  readonly type: OptionKind
  readonly choices?: readonly (string | number | null)[]
  /** True if capitals do not matter in a choice. */
  readonly ignoreCase?: boolean
  readonly min?: number
  readonly max?: number
  readonly maxLength?: number
  /** Number of items. */
  readonly minLength?: number
  /** True for a list in brackets, or a dictionary in braces. */
  readonly bounds?: boolean
  readonly schemes?: readonly string[]
  readonly pattern?: string
  /** Type of the items of a list, or of the values of a dictionary; texts by default. */
  readonly item?: OptionType
}

/** An option that Ironic or one of its libraries registers. */
export interface ListedOption extends OptionType {
  /** Value without a configuration, or, where that depends on the host, the one of Ironic's sample file. */
  readonly default?: unknown
  /** True if each occurrence in a file adds a value. */
  readonly multi?: boolean
  readonly secret?: boolean
  /** Names that it had before; without `section` in the same section. */
  readonly deprecated?: readonly { readonly section?: string; readonly name: string }[]
}

type ListedOptions = Readonly<Record<string, ListedOption>>

/** Ironic's own listing of options. */
export interface OptionListing {
  /** Version of each package that options come from. */
  readonly packages: Readonly<Record<string, string>>
  /** Options by namespace, which is a library's name for its options, and section. */
  readonly namespaces: Readonly<Record<string, Readonly<Record<string, ListedOptions>>>>
  /** Options of the authentication plugins. A section with `auth_type`, or one that an `auth_section` names, has them. */
  readonly authentication: ListedOptions
}
