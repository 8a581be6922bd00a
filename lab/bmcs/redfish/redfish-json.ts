import { isObject } from '../../../base/runtime/index.js'

/** A document of a Redfish service, which may have anything in it. */
export type RedfishJson = Record<string, unknown>

export const objectIn = (value: unknown, key: string): RedfishJson | undefined => {
  const found = isObject(value) ? value[key] : undefined
  return isObject(found) ? found : undefined
}

export const textIn = (value: unknown, key: string): string | undefined => {
  const found = isObject(value) ? value[key] : undefined
  return typeof found === 'string' && found.trim() !== '' ? found.trim() : undefined
}

/** The path of a resource that a document links to. */
export const linkIn = (value: unknown, key: string): string | undefined => textIn(objectIn(value, key), '@odata.id')

/** The links in a list of references. */
export const linksIn = (value: unknown, key: string): string[] =>
  listIn(value, key).flatMap((each) => textIn(each, '@odata.id') ?? [])

export const listIn = (value: unknown, key: string): readonly unknown[] => {
  const found = isObject(value) ? value[key] : undefined
  return Array.isArray(found) ? (found as readonly unknown[]) : []
}

/** The texts in a list; undefined without a list. */
export function textsIn(value: unknown, key: string): readonly string[] | undefined {
  const found = isObject(value) ? value[key] : undefined
  return Array.isArray(found) ? found.filter((each) => typeof each === 'string') : undefined
}

export const numberIn = (value: unknown, key: string): number | undefined => {
  const found = isObject(value) ? value[key] : undefined
  return typeof found === 'number' && Number.isFinite(found) ? found : undefined
}
