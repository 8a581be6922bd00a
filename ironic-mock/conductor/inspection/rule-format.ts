import { pythonRepr, formatClientValue, type JsonObject } from '../../../base/wire/index.js'

/** Values that the replacement fields of a rule can name. */
export interface RuleContext {
  node: JsonObject
  inventory: JsonObject
  plugin_data: JsonObject
  /** Current item of a loop. */
  item?: unknown
}

const FIELD = /\{\{|\}\}|\{([^{}]*)\}/g

/**
 * Python's `str.format` as rules use it: `{inventory[cpu][count]}`, `{node.driver_info[x]}`, `{item}`. A missing field
 * leaves the text unchanged; for `is-empty` it counts as empty.
 */
export function formatTemplate(value: unknown, context: RuleContext, op: string): unknown {
  if (typeof value === 'string') return formatText(value, context, op)
  if (Array.isArray(value)) return value.map((item) => formatTemplate(item, context, op))
  if (typeof value === 'object' && value !== null)
    return Object.fromEntries(
      Object.entries(value).map(([key, item]) => [
        formatClientValue(formatText(key, context, op)),
        formatTemplate(item, context, op),
      ]),
    )
  return value
}

class NoField extends Error {}

function formatText(text: string, context: RuleContext, op: string): string | null {
  try {
    return text.replaceAll(FIELD, (whole, field: string | undefined) => {
      if (field === undefined) return whole[0]!
      const [path = ''] = field.split(/[!:]/)
      return pythonText(lookUp(path, context))
    })
  } catch (error) {
    if (!(error instanceof NoField)) throw error
    return op === 'is-empty' ? null : text
  }
}

function lookUp(path: string, context: RuleContext): unknown {
  const [root = '', ...rest] = path.split(/[.[]/)
  if (!Object.hasOwn(context, root)) throw new NoField()
  return rest.reduce<unknown>(
    (value, part) => {
      const key = part.replace(/\]$/, '')
      if (typeof value !== 'object' || value === null || !Object.hasOwn(value, key)) throw new NoField()
      return (value as JsonObject)[key]
    },
    context[root as keyof RuleContext],
  )
}

/** Text of a value as by Python's `str()`. */
export const pythonText = (value: unknown): string => (typeof value === 'string' ? value : pythonRepr(value))

const SENSITIVE = ['password', 'auth_token', 'bmc_password']

/** Masks values that rules must not see. */
export function maskRuleValues<T>(value: T): T {
  if (Array.isArray(value)) return value.map(maskRuleValues) as T
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => [
      key,
      SENSITIVE.includes(key) ? '***' : maskRuleValues(item as unknown),
    ]),
  ) as T
}
