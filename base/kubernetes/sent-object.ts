import { isNestedDeeper } from '../runtime/index.js'
import { groupVersion, versionNamed, type KindEntry, type KindVersion } from './kinds/kind-entry.js'
import { copyJson, isMembers, withoutMembers, type JsonMembers } from './kube-json.js'
import { badRequest } from './refusals.js'
import type { Stored } from './stored-object.js'

/** An object in another version of its kind: between versions nothing but their name changes. */
export function inVersion({ group }: KindEntry, object: Stored, version: string): Stored {
  const apiVersion = groupVersion(group, version)
  return object.apiVersion === apiVersion ? object : ({ ...object, apiVersion } as Stored)
}

/** An object in the version in which its kind is kept. */
export const storedVersion = (entry: KindEntry, object: JsonMembers): Stored =>
  inVersion(entry, object as Stored, entry.storage.name)

/** The version of a write: that of the request, or the one that the object names. */
export function versionOfWrite(entry: KindEntry, sent: unknown, asked: string | undefined): KindVersion {
  const own = isMembers(sent) && typeof sent['apiVersion'] === 'string' ? sent['apiVersion'] : ''
  const name = asked ?? own.split('/').at(-1)!
  return versionNamed(entry, name) ?? entry.storage
}

interface WrittenParts {
  current: Stored
  sent: JsonMembers
  hasStatus: boolean
  subresource: 'status' | undefined
}

/** A write of the status changes nothing else, and any other write all but the status. */
export function writtenBody({ current, sent, hasStatus, subresource }: WrittenParts): JsonMembers {
  const apiVersion = sent['apiVersion']!
  if (subresource) return { ...withoutMembers(current, 'status'), ...only(sent, 'status'), apiVersion }
  return hasStatus ? { ...withoutMembers(sent, 'status'), ...only(current, 'status') } : sent
}

/**
 * A copy of an object that is sent.
 *
 * @throws KubeRefusal 400 for what is not an object of the kind
 */
export function receivedObject({ group, kind }: KindEntry, version: KindVersion, sent: unknown): JsonMembers {
  if (typeof sent !== 'object' || sent === null || Array.isArray(sent)) throw badRequest('this is not an object')
  if (isNestedDeeper(sent, MAX_OBJECT_DEPTH))
    throw badRequest(`the object is nested more than ${MAX_OBJECT_DEPTH} levels deep`)
  const expected = groupVersion(group, version.name)
  const { apiVersion = expected, kind: own = kind, ...rest } = copyJson(sent) as JsonMembers
  if (apiVersion !== expected || own !== kind)
    throw badRequest(
      `the API version in the data (${JSON.stringify(apiVersion)}, ${JSON.stringify(own)}) does not match the expected API version (${expected}, ${kind})`,
    )
  return { apiVersion, kind, ...rest }
}

/** Limit on nesting, far above real objects: copies and comparisons recurse. */
const MAX_OBJECT_DEPTH = 200

const only = (object: JsonMembers, name: string): JsonMembers =>
  object[name] === undefined ? {} : { [name]: object[name] }
