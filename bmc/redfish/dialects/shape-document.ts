import type { BmcDialect } from '../../dialects/index.js'
import { isObject } from '../../../base/runtime/index.js'
import type { RedfishDocument } from '../protocol/redfish-document.js'

const schemaNameOf = (document: RedfishDocument): string => /^#(\w+)\./.exec(String(document['@odata.type']))?.[1] ?? ''

/** A document as a BMC has it: without what it lacks, with what it has otherwise. */
export function shapeDocument(dialect: BmcDialect, document: RedfishDocument): RedfishDocument {
  const { leftOut, changed, renamed, macs } = dialect.properties
  const schema = schemaNameOf(document)
  const prefix = `${schema}.`
  let shaped = document
  for (const path of leftOut)
    if (path.startsWith(prefix)) shaped = withoutProperty(shaped, path.slice(prefix.length).split('.'))
  for (const [path, value] of Object.entries(changed))
    if (path.startsWith(prefix)) shaped = withProperty(shaped, path.slice(prefix.length).split('.'), value)
  for (const [path, name] of Object.entries(renamed))
    if (path.startsWith(prefix)) shaped = withRenamed(shaped, path.slice(prefix.length).split('.'), name)
  return macs === 'upper' ? upperMacs(shaped) : shaped
}

function withoutProperty(document: RedfishDocument, [name, ...below]: readonly string[]): RedfishDocument {
  if (name === undefined || !Object.hasOwn(document, name)) return document
  if (below.length === 0) {
    const isIts = (key: string) => key === name || key.startsWith(`${name}@`)
    return Object.fromEntries(Object.entries(document).filter(([key]) => !isIts(key)))
  }
  const inner = document[name]
  if (Array.isArray(inner)) {
    const items: unknown[] = inner
    return { ...document, [name]: items.map((item) => (isObject(item) ? withoutProperty(item, below) : item)) }
  }
  return isObject(inner) ? { ...document, [name]: withoutProperty(inner, below) } : document
}

function withProperty(document: RedfishDocument, [name, ...below]: readonly string[], value: unknown): RedfishDocument {
  if (name === undefined) return document
  if (below.length === 0) return { ...document, [name]: value }
  const inner = document[name]
  if (Array.isArray(inner)) {
    const items: unknown[] = inner
    return { ...document, [name]: items.map((item) => (isObject(item) ? withProperty(item, below, value) : item)) }
  }
  return { ...document, [name]: withProperty(isObject(inner) ? inner : {}, below, value) }
}

function withRenamed(document: RedfishDocument, [old, ...below]: readonly string[], name: string): RedfishDocument {
  if (old === undefined || !Object.hasOwn(document, old)) return document
  if (below.length === 0)
    return Object.fromEntries(Object.entries(document).map(([key, value]) => [key === old ? name : key, value]))
  const inner = document[old]
  return isObject(inner) ? { ...document, [old]: withRenamed(inner, below, name) } : document
}

const MAC_NAMES = ['MACAddress', 'PermanentMACAddress', 'AssociatedMACAddresses']

function upperMacs(document: RedfishDocument): RedfishDocument {
  const shown = (name: string, value: unknown): unknown => {
    const isMac = MAC_NAMES.includes(name)
    if (typeof value === 'string') return isMac ? value.toUpperCase() : value
    if (Array.isArray(value)) return value.map((item: unknown) => shown(name, item))
    return isObject(value) ? upperMacs(value) : value
  }
  return Object.fromEntries(Object.entries(document).map(([name, value]) => [name, shown(name, value)]))
}
