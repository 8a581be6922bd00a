/** Parses a program's JSON output; undefined for any other text. */
export function programJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

export type Node = Record<string, unknown>

export const isNode = (value: unknown): value is Node =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** The objects in a list; empty for any other value. */
export const nodes = (value: unknown): Node[] => (Array.isArray(value) ? value.filter(isNode) : [])

export const textOf = (value: unknown): string | null =>
  typeof value === 'string' && value.trim() !== '' ? value.trim() : null
