import { isObject } from '../../../base/runtime/index.js'

/** A JSON value. Objects of the store are frozen ones. */
export type KubeJson = null | boolean | number | string | readonly KubeJson[] | { readonly [member: string]: KubeJson }
export type JsonMembers = { readonly [member: string]: KubeJson }

export const isMembers = (value: unknown): value is JsonMembers => isObject(value)

/** Sets a member, also one named `__proto__`, which an assignment would make the prototype. */
export function setMember(of: object, name: string, value: unknown): void {
  if (name === '__proto__')
    Object.defineProperty(of, name, { value, enumerable: true, writable: true, configurable: true })
  else (of as Record<string, unknown>)[name] = value
}

/** A copy of a JSON value, without the members that are undefined. */
export function copyJson<T>(value: T): T
export function copyJson(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) return value.map((each) => copyJson(each as unknown))
  const copy = {}
  for (const [name, member] of Object.entries(value)) if (member !== undefined) setMember(copy, name, copyJson(member))
  return copy
}

/** Bytes of a value as JSON. */
export const jsonSize = (value: unknown): number => Buffer.byteLength(JSON.stringify(value))

/** Freezes a value that this process has made; stops at parts that are frozen already. */
export function freezeJson<T>(value: T): T {
  if (typeof value === 'object' && value !== null && !Object.isFrozen(value)) {
    Object.freeze(value)
    for (const member of Object.values(value)) freezeJson(member)
  }
  return value
}

/** Whether two JSON values are equal; the order of members is none of them. */
export function isSameJson(a: unknown, b: unknown): boolean {
  if (a === b) return true
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return false
  if (Array.isArray(a) || Array.isArray(b))
    return (
      Array.isArray(a) &&
      Array.isArray(b) &&
      a.length === b.length &&
      a.every((each, index) => isSameJson(each, b[index]))
    )
  const names = Object.keys(a)
  return (
    names.length === Object.keys(b).length &&
    names.every((name) => Object.hasOwn(b, name) && isSameJson((a as JsonMembers)[name], (b as JsonMembers)[name]))
  )
}

/** A copy without some members. */
export function withoutMembers<T extends object>(value: T, ...names: string[]): JsonMembers {
  const rest = {}
  for (const [name, member] of Object.entries(value)) if (!names.includes(name)) setMember(rest, name, member)
  return rest
}
