import { isObject } from '../../base/runtime/index.js'

/** Parses a program's JSON output; undefined for any other text. */
export function programJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

export type ProgramRecord = Record<string, unknown>

/** The objects in a list; empty for any other value. */
export const recordsIn = (value: unknown): ProgramRecord[] => (Array.isArray(value) ? value.filter(isObject) : [])

export const trimText = (value: unknown): string | null =>
  typeof value === 'string' && value.trim() !== '' ? value.trim() : null
