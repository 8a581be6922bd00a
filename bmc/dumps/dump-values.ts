import { isObject } from '../../base/runtime/index.js'

/** A resource as a dump has it. */
export type DumpedDocument = Readonly<Record<string, unknown>>

/** An object inside of a document; undefined for something else. */
export function objectAt(value: unknown, ...names: readonly string[]): DumpedDocument | undefined {
  let found: unknown = value
  for (const name of names) found = isObject(found) ? found[name] : undefined
  return isObject(found) ? found : undefined
}

/** A text that is not empty. */
export function textAt(value: unknown, ...names: readonly string[]): string | undefined {
  const found = objectAt(value, ...names.slice(0, -1))?.[names.at(-1) ?? '']
  return typeof found === 'string' && found.trim() !== '' ? found.trim() : undefined
}

/** A finite number. Some BMCs write numbers as texts (Cisco, AMI). */
export function numberAt(value: unknown, ...names: readonly string[]): number | undefined {
  const found = objectAt(value, ...names.slice(0, -1))?.[names.at(-1) ?? '']
  const number = typeof found === 'string' && /^\d+(\.\d+)?$/.test(found) ? Number(found) : found
  return typeof number === 'number' && Number.isFinite(number) ? number : undefined
}

/** The texts of a list. */
export function textsAt(value: unknown, ...names: readonly string[]): readonly string[] | undefined {
  const found = objectAt(value, ...names.slice(0, -1))?.[names.at(-1) ?? '']
  return Array.isArray(found) ? found.filter((each): each is string => typeof each === 'string') : undefined
}

/** A path of a reference: an object with `@odata.id`, or a text, as an Inspur has it. */
export function linkAt(value: unknown, ...names: readonly string[]): string | undefined {
  return textAt(value, ...names, '@odata.id') ?? pathOnly(textAt(value, ...names))
}

const pathOnly = (text: string | undefined): string | undefined => (text?.startsWith('/') === true ? text : undefined)

/** The paths of a list of references. */
export function linksAt(value: unknown, ...names: readonly string[]): string[] {
  const found = objectAt(value, ...names.slice(0, -1))?.[names.at(-1) ?? '']
  const all: readonly unknown[] = Array.isArray(found) ? found : []
  return all.flatMap((each) => textAt(each, '@odata.id') ?? (typeof each === 'string' ? (pathOnly(each) ?? []) : []))
}

/** The name in a schema's type: `VirtualMedia` of `#VirtualMedia.v1_4_0.VirtualMedia`. */
export const schemaAt = (document: unknown): string | undefined =>
  /^#?(\w+)\./.exec(textAt(document, '@odata.type') ?? '')?.[1]

/** The last part of a path. */
export const lastPartOf = (path: string): string => path.replace(/\/+$/, '').split('/').at(-1) ?? ''
