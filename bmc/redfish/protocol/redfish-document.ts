import { SCHEMA_VERSIONS, type SchemaName } from './schema-versions.js'

/** A resource or another JSON object. */
export type RedfishDocument = Record<string, unknown>

/** A reference to a resource. */
export interface Reference {
  '@odata.id': string
}

export const referenceTo = (...path: readonly string[]): Reference => ({ '@odata.id': redfishPath(...path) })

/** `/redfish/v1/Systems/machine-1`, of its parts below the root. */
export function redfishPath(...path: readonly string[]): string {
  let result = '/redfish/v1'
  for (const part of path) result += `/${encoded(part)}`
  return result
}

/** References to members of a collection. For thousands its path is written once. */
export function linksBelow(path: readonly string[], ids: readonly string[]): Reference[] {
  const above = redfishPath(...path)
  return ids.map((id) => ({ '@odata.id': `${above}/${encoded(id)}` }))
}

const encoded = (part: string): string => (PLAIN.test(part) ? part : encodeURIComponent(part).replaceAll('%3A', ':'))

/** Most ids need no encoding; collections of ten thousand are written often. */
const PLAIN = /^[\w.~:-]*$/

/** `#ComputerSystem.v1_20_0.ComputerSystem`; without a version for a collection. */
export function odataTypeOf(name: string): string {
  const version = (SCHEMA_VERSIONS as Readonly<Record<string, string>>)[name]
  return version === undefined ? `#${name}.${name}` : `#${name}.v${version.replaceAll('.', '_')}.${name}`
}

/** The members that every resource begins with. The id is the last part of the path. */
export const resourceHead = (type: SchemaName, path: readonly string[], name: string): RedfishDocument => ({
  '@odata.id': redfishPath(...path),
  '@odata.type': odataTypeOf(type),
  Id: path.at(-1) ?? '',
  Name: name,
})

/** A collection of references. */
export const makeCollection = (
  type: string,
  path: readonly string[],
  name: string,
  members: readonly (Reference | RedfishDocument)[],
): RedfishDocument => ({
  '@odata.id': redfishPath(...path),
  '@odata.type': odataTypeOf(type),
  Name: name,
  'Members@odata.count': members.length,
  Members: members,
})

export type Health = 'OK' | 'Warning' | 'Critical'

export const enabledStatus = (health: Health = 'OK'): RedfishDocument => ({ State: 'Enabled', Health: health })
