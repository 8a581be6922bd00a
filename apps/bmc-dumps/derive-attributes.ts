import type { DialectAttribute } from '../../bmc/dialects/index.js'
import { defined } from '../../base/runtime/index.js'
import {
  linkAt,
  numberAt,
  objectAt,
  schemaAt,
  textAt,
  type DumpedDocument,
  type DumpedSystem,
  type RedfishDump,
} from '../../bmc/dumps/index.js'

/** Attributes of a registry by their names. */
type RegisteredAttributes = ReadonlyMap<string, DumpedDocument>

/** Attributes that a record has, at most. */
const MAX_ATTRIBUTES = 5000

/** The firmware settings of a dump, with the values that its attribute registry allows; null where it has none. */
export function derivedAttributes(
  dump: RedfishDump,
  { system }: DumpedSystem,
): Readonly<Record<string, DialectAttribute>> | null {
  const bios = dump.document(linkAt(system.document, 'Bios'))
  const values = Object.entries(objectAt(bios, 'Attributes') ?? {})
  if (values.length === 0) return null
  const registry = attributeRegistry(dump, textAt(bios, 'AttributeRegistry'))
  const described = values.slice(0, MAX_ATTRIBUTES).flatMap(([name, value]) => {
    const found = describedAttribute(value, registry.get(name))
    return found === undefined ? [] : [[name, found] as const]
  })
  return Object.fromEntries(described)
}

/** The registry of a BIOS: the one of its name, or else any of a BIOS. An iDRAC has it below the BIOS itself. */
function attributeRegistry(dump: RedfishDump, name: string | undefined): RegisteredAttributes {
  const registries = [...dump.resources()].filter(({ document }) => schemaAt(document) === 'AttributeRegistry')
  const isNamed = (document: DumpedDocument) => name !== undefined && textAt(document, 'Id') === name
  const isForBios = (path: string, document: DumpedDocument) =>
    /bios/i.test(`${path} ${textAt(document, 'Id') ?? ''} ${textAt(document, 'Name') ?? ''}`)
  const found =
    registries.find(({ document }) => isNamed(document)) ??
    registries.find(({ path, document }) => isForBios(path, document))
  const listed = objectAt(found?.document, 'RegistryEntries')?.['Attributes']
  const all: readonly unknown[] = Array.isArray(listed) ? listed : []
  return new Map(
    all.flatMap((each) => {
      const plain = objectAt({ each }, 'each')
      const key = textAt(plain, 'AttributeName')
      return plain && key !== undefined ? [[key, plain] as const] : []
    }),
  )
}

function describedAttribute(value: unknown, registered: DumpedDocument | undefined): DialectAttribute | undefined {
  const readOnly = registered?.['ReadOnly'] === true || registered?.['Readonly'] === true ? true : undefined
  if (typeof value === 'boolean') return { value, ...defined({ readOnly }) }
  if (typeof value === 'number') {
    // Dell writes -1 for a bound that there is not.
    const least = boundOf(registered, 'LowerBound')
    const most = boundOf(registered, 'UpperBound')
    const fits = (least === undefined || least <= value) && (most === undefined || most >= value)
    return { value, ...defined({ least: fits ? least : undefined, most: fits ? most : undefined, readOnly }) }
  }
  if (typeof value !== 'string') return undefined
  const allowed = allowedValues(registered, value)
  if (allowed.length > 0)
    return { value, allowed: allowed.includes(value) ? allowed : [value, ...allowed], ...defined({ readOnly }) }
  const most = boundOf(registered, 'MaxLength')
  return { value, ...defined({ most: most !== undefined && most >= value.length ? most : undefined, readOnly }) }
}

function boundOf(registered: DumpedDocument | undefined, name: string): number | undefined {
  const bound = numberAt(registered, name)
  return bound === undefined || bound === -1 ? undefined : bound
}

/**
 * Names of values. Some registries have those for readers beside numbers, and the BIOS has the former (openstack/sushy,
 * ValueDisplayName).
 */
function allowedValues(registered: DumpedDocument | undefined, value: string): string[] {
  const listed = registered?.['Value']
  const all: readonly unknown[] = Array.isArray(listed) ? listed : []
  const called = (name: string) => [...new Set(all.flatMap((each) => textAt(each, name) ?? []))]
  const names = called('ValueName')
  const shown = called('ValueDisplayName')
  const found = names.includes(value) || !shown.includes(value) ? (names.length > 0 ? names : shown) : shown
  return found.slice(0, MAX_VALUES)
}

/** Values of an enumeration, at most. */
const MAX_VALUES = 999
