import { defined } from '../../runtime/index.js'
import { answerOfStream, type WireResponse } from '../../wire/index.js'
import { isMembers, type JsonMembers } from '../kube-json.js'
import { groupVersion } from '../kinds/kind-entry.js'
import type { KubeStatus } from '../kube-client.js'
import { kubeRefusal } from '../refusals.js'
import type { Stored } from '../stored-object.js'
import { shownInView, type ResourceView } from './resource-view.js'
import { partialOf, tableHeadOf, tableRowOf, type TabledKind } from './columns.js'

const JSON_HEADERS = { 'content-type': 'application/json', 'cache-control': 'no-cache, private' }

export const jsonAnswer = (status: number, body: unknown, headers: Record<string, string> = {}): WireResponse => ({
  status,
  headers: { ...JSON_HEADERS, ...headers },
  body: typeof body === 'string' ? body : `${JSON.stringify(body)}\n`,
})

export const statusAnswer = (status: KubeStatus): WireResponse =>
  jsonAnswer(
    status.code,
    status,
    defined({
      'www-authenticate': status.code === 401 ? 'Bearer realm="kubernetes-master"' : undefined,
      allow: status.code === 405 ? 'GET, POST, PUT, PATCH, DELETE' : undefined,
    }),
  )

const objectTexts = new WeakMap<Stored, string>()

/** An object as JSON; made once, however often it is sent. */
function renderObject(object: Stored): string {
  const known = objectTexts.get(object)
  if (known !== undefined) return known
  const text = JSON.stringify(object)
  objectTexts.set(object, text)
  return text
}

/** How objects are shown to a client. */
export interface ObjectRenderer {
  one: (object: Stored) => string
  /** A list of objects, in parts. */
  many: (objects: readonly Stored[], metadata: JsonMembers) => Iterable<string>
  /** An object without contents but a version, for bookmarks. */
  bookmark: (resourceVersion: string) => string
}

/**
 * Shows objects as a client accepts them: whole, their metadata alone, or as the rows of a table.
 *
 * @throws KubeRefusal 406 for a client that takes no JSON
 */
export function shownTo(
  accept: string,
  shown: TabledKind & { view?: ResourceView },
  includes: string,
  now: () => number,
): ObjectRenderer {
  for (const each of accept === '' ? ['*/*'] : accept.split(',')) {
    const [type, ...parameters] = each.split(';').map((part) => part.trim().toLowerCase())
    if (type !== 'application/json' && type !== '*/*' && type !== 'application/*') continue
    const {
      as,
      v = 'v1',
      g = 'meta.k8s.io',
    } = Object.fromEntries(parameters.map((part) => part.split('=', 2) as [string, string])) as Record<string, string>
    if (as === undefined) return fullRenderer(shown, shown.view)
    if (g !== 'meta.k8s.io' || (v !== 'v1' && v !== 'v1beta1')) continue
    if (as === 'table') return tableRenderer(shown, v, includes, now)
    if (as === 'partialobjectmetadata' || as === 'partialobjectmetadatalist') return partial(v)
  }
  throw kubeRefusal(
    406,
    'NotAcceptable',
    'only the following media types are accepted: application/json, application/json;as=Table',
  )
}

function fullRenderer({ entry, version }: TabledKind, view: ResourceView | undefined): ObjectRenderer {
  const { kind, listKind } = entry
  const apiVersion = view ? groupVersion(view.group, view.version) : groupVersion(entry.group, version.name)
  const inThisVersion = (object: Stored): string =>
    object.apiVersion === apiVersion ? renderObject(object) : JSON.stringify({ ...object, apiVersion })
  const one = view ? (object: Stored) => JSON.stringify(shownInView(object, view)) : inThisVersion
  return {
    one,
    many: (objects, metadata) => partsOf({ kind: listKind, apiVersion, metadata }, 'items', objects, one),
    bookmark: (resourceVersion) => JSON.stringify({ kind, apiVersion, metadata: { resourceVersion } }),
  }
}

function tableRenderer(kind: TabledKind, version: string, includes: string, now: () => number): ObjectRenderer {
  const shown = (objects: readonly Stored[], metadata: JsonMembers): Iterable<string> => {
    const resourceVersion = String(metadata['resourceVersion'] ?? '')
    const options = { version, resourceVersion, includes, now: now() }
    const head = tableHeadOf(kind, options)
    const own = isMembers(head['metadata']) ? head['metadata'] : {}
    const row = (object: Stored): string => JSON.stringify(tableRowOf(kind, object, options))
    return partsOf({ ...head, metadata: { ...own, ...metadata } }, 'rows', objects, row)
  }
  const inOne = (objects: readonly Stored[], resourceVersion: string): string =>
    [...shown(objects, { resourceVersion })].join('').trimEnd()
  return {
    one: (object) => inOne([object], object.metadata.resourceVersion),
    many: shown,
    bookmark: (resourceVersion) => inOne([], resourceVersion),
  }
}

function partial(version: string): ObjectRenderer {
  const apiVersion = `meta.k8s.io/${version}`
  const one = (object: Stored): string => JSON.stringify(partialOf(object, version))
  return {
    one,
    many: (objects, metadata) =>
      partsOf({ kind: 'PartialObjectMetadataList', apiVersion, metadata }, 'items', objects, one),
    bookmark: (resourceVersion) =>
      JSON.stringify({ kind: 'PartialObjectMetadata', apiVersion, metadata: { resourceVersion } }),
  }
}

/** Characters of a part of a list. */
const PART = 64 * 1024

/** A list as JSON, in parts that are made as they are taken. */
function* partsOf(
  head: object,
  member: 'items' | 'rows',
  objects: readonly Stored[],
  shown: (object: Stored) => string,
): Generator<string> {
  let part = `${JSON.stringify(head).slice(0, -1)},"${member}":[`
  for (const [index, object] of objects.entries()) {
    part += `${index === 0 ? '' : ','}${shown(object)}`
    if (part.length < PART) continue
    yield part
    part = ''
  }
  yield `${part}]}\n`
}

/** A longer list is sent as its client reads it: a hundred clients that do not read would fill the memory with it. */
const MAX_WHOLE = 1024 * 1024

/** The answer with a list. */
export function listAnswer(parts: Iterable<string>): WireResponse {
  const rest = parts[Symbol.iterator]()
  let whole = ''
  for (let next = rest.next(); !next.done; next = rest.next()) {
    whole += next.value
    if (whole.length > MAX_WHOLE) return answerOfStream(200, JSON_HEADERS, () => partsAfter(whole, rest))
  }
  return jsonAnswer(200, whole)
}

async function* partsAfter(first: string, rest: Iterator<string>): AsyncGenerator<string> {
  yield first
  for (let next = rest.next(); !next.done; next = rest.next()) yield next.value
}
