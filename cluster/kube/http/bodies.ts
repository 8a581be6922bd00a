import { isNestedDeeper, UserError } from '../../../runtime/index.js'
import { isMembers, type Json, type JsonMembers } from '../json.js'
import { readYaml } from '../read-yaml.js'
import { badRequest, refusal } from '../refusals.js'

/** Largest body of a request in bytes: apiserver 0.31 pkg/server/config.go, MaxRequestBodyBytes. */
export const LARGEST_BODY = 3 * 1024 * 1024

/** More levels than any object has; what reads objects recurses. */
const DEEPEST = 200

const mediaTypeOf = (headers: Readonly<Record<string, string>>): string =>
  (headers['content-type'] ?? '').replace(/;.*$/s, '').trim().toLowerCase()

const unsupported = (accepted: readonly string[]) =>
  refusal(
    415,
    'UnsupportedMediaType',
    `the body of the request was in an unknown format - accepted media types include: ${accepted.join(', ')}`,
  )

const JSON_TYPE = 'application/json'
const PROTOBUF = 'application/vnd.kubernetes.protobuf'
const OBJECT_TYPES = [JSON_TYPE, 'application/yaml']

/** A request's headers and its body as text. */
export interface Sent {
  headers: Readonly<Record<string, string>>
  body?: string
}

/**
 * The object in a body. A body has to say its type: a page in a browser can send one that does not to any address.
 *
 * @throws KubeRefusal 400, 415
 */
export function objectIn(sent: Sent): JsonMembers {
  const type = mediaTypeOf(sent.headers)
  if (type === PROTOBUF)
    throw refusal(
      415,
      'UnsupportedMediaType',
      `the body of the request is protobuf (${PROTOBUF}), and this API reads ${OBJECT_TYPES.join(' and ')}: ` +
        'make a manifest with --dry-run=client -o yaml, and send it by kubectl apply -f -',
    )
  if (!OBJECT_TYPES.includes(type)) throw unsupported(OBJECT_TYPES)
  const value = parsed(sent.body ?? '', type)
  if (!isMembers(value)) throw badRequest('the body of the request is not an object')
  return value
}

/** The options in the body of a deletion, which may have none. */
export const optionsIn = (sent: Sent): JsonMembers => (sent.body === undefined ? {} : objectIn(sent))

export type PatchType = 'json' | 'merge' | 'strategic' | 'apply'

const PATCH_TYPES: Readonly<Record<string, PatchType>> = {
  'application/json-patch+json': 'json',
  'application/merge-patch+json': 'merge',
  'application/strategic-merge-patch+json': 'strategic',
  'application/apply-patch+yaml': 'apply',
}

/**
 * @param isCore objects of other groups have no schema that says how lists are merged
 * @throws KubeRefusal 400, 415
 */
export function patchIn(sent: Sent, isCore: boolean): { type: PatchType; patch: Json } {
  const name = mediaTypeOf(sent.headers)
  const type = Object.hasOwn(PATCH_TYPES, name) ? PATCH_TYPES[name] : undefined
  if (type === undefined || (type === 'strategic' && !isCore))
    throw unsupported(Object.keys(PATCH_TYPES).filter((each) => isCore || PATCH_TYPES[each] !== 'strategic'))
  return { type, patch: parsed(sent.body ?? '', type === 'apply' ? 'application/yaml' : JSON_TYPE) }
}

function parsed(text: string, type: string): Json {
  try {
    const value = type === JSON_TYPE ? (JSON.parse(text) as Json) : yamlOrJson(text)
    if (isNestedDeeper(value, DEEPEST)) throw badRequest(`the body is nested more than ${DEEPEST} levels deep`)
    return value
  } catch (error) {
    if (error instanceof UserError) throw error.code === 'kube-refused' ? error : badRequest(error.message)
    // Members of Date, RangeError and the parsers' own errors.
    throw badRequest(`the body of the request cannot be read: ${(error as Error).message.split('\n')[0]!}`)
  }
}

/** JSON is YAML too, and what kubectl sends as such: its own parser is faster by a hundred times. */
function yamlOrJson(text: string): Json {
  if (/^\s*\{/.test(text))
    try {
      return JSON.parse(text) as Json
    } catch {
      // YAML with a brace.
    }
  return readYaml(text, 'the body') as Json
}
