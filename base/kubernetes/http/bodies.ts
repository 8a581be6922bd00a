import { isNestedDeeper, UserError } from '../../runtime/index.js'
import { isMembers, type KubeJson, type JsonMembers } from '../kube-json.js'
import { readYaml } from '../read-yaml.js'
import { badRequest, kubeRefusal } from '../refusals.js'
import { decodeKubeObject, PROTOBUF_TYPE } from './protobuf/decode-object.js'

/** Largest body of a request in bytes: apiserver 0.31 pkg/server/config.go, MaxRequestBodyBytes. */
export const MAX_KUBE_BODY_BYTES = 3 * 1024 * 1024

/** More levels than any object has; what reads objects recurses. */
const MAX_KUBE_BODY_DEPTH = 200

const mediaTypeOf = (headers: Readonly<Record<string, string>>): string =>
  (headers['content-type'] ?? '').replace(/;.*$/s, '').trim().toLowerCase()

const unsupportedMediaType = (accepted: readonly string[]) =>
  kubeRefusal(
    415,
    'UnsupportedMediaType',
    `the body of the request was in an unknown format - accepted media types include: ${accepted.join(', ')}`,
  )

const KUBE_JSON_TYPE = 'application/json'
const OBJECT_TYPES = [KUBE_JSON_TYPE, 'application/yaml', PROTOBUF_TYPE]

/** A request's headers and its body: bytes of protobuf, or text. */
export interface BodyRequest {
  headers: Readonly<Record<string, string>>
  body?: string
  bytes?: Uint8Array
}

/**
 * The object in a body. A body has to say its type: a page in a browser can send one that does not to any address.
 *
 * @throws KubeRefusal 400, 415
 */
export function objectIn(sent: BodyRequest): JsonMembers {
  const type = mediaTypeOf(sent.headers)
  if (!OBJECT_TYPES.includes(type)) throw unsupportedMediaType(OBJECT_TYPES)
  if (type === PROTOBUF_TYPE) return decodeKubeObject(sent.bytes ?? new Uint8Array())
  const value = parseKubeBody(sent.body ?? '', type)
  if (!isMembers(value)) throw badRequest('the body of the request is not an object')
  return value
}

/** True for a body that says that it is JSON. */
export const isJsonBody = (headers: BodyRequest['headers']): boolean => mediaTypeOf(headers) === KUBE_JSON_TYPE

/** The options in the body of a deletion, which may have none. */
export const optionsIn = (sent: BodyRequest): JsonMembers =>
  sent.body === undefined && sent.bytes === undefined ? {} : objectIn(sent)

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
export function patchIn(sent: BodyRequest, isCore: boolean): { type: PatchType; patch: KubeJson } {
  const name = mediaTypeOf(sent.headers)
  const type = Object.hasOwn(PATCH_TYPES, name) ? PATCH_TYPES[name] : undefined
  if (type === undefined || (type === 'strategic' && !isCore))
    throw unsupportedMediaType(Object.keys(PATCH_TYPES).filter((each) => isCore || PATCH_TYPES[each] !== 'strategic'))
  return { type, patch: parseKubeBody(sent.body ?? '', type === 'apply' ? 'application/yaml' : KUBE_JSON_TYPE) }
}

function parseKubeBody(text: string, type: string): KubeJson {
  try {
    const value = type === KUBE_JSON_TYPE ? (JSON.parse(text) as KubeJson) : yamlOrJson(text)
    if (isNestedDeeper(value, MAX_KUBE_BODY_DEPTH))
      throw badRequest(`the body is nested more than ${MAX_KUBE_BODY_DEPTH} levels deep`)
    return value
  } catch (error) {
    if (error instanceof UserError) throw error.code === 'kube-refused' ? error : badRequest(error.message)
    // Members of Date, RangeError and the parsers' own errors.
    throw badRequest(`the body of the request cannot be read: ${(error as Error).message.split('\n')[0]!}`)
  }
}

/** JSON is YAML too, and what kubectl sends as such: its own parser is faster by a hundred times. */
function yamlOrJson(text: string): KubeJson {
  if (/^\s*\{/.test(text))
    try {
      return JSON.parse(text) as KubeJson
    } catch {
      // YAML with a brace.
    }
  return readYaml(text, 'the body') as KubeJson
}
