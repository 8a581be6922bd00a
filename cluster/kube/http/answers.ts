import type { WireResponse } from '../../../wire/index.js'
import { isMembers, type JsonMembers } from '../json.js'
import { apiVersionOf, type Kind } from '../kinds.js'
import type { KubeStatus } from '../kube-client.js'
import { refusal } from '../refusals.js'
import type { Stored } from '../stored-object.js'
import { partialOf, tableOf } from './columns.js'

const JSON_HEADERS = { 'content-type': 'application/json', 'cache-control': 'no-cache, private' }

export const jsonAnswer = (status: number, body: unknown, headers: Record<string, string> = {}): WireResponse => ({
  ...{ status, headers: { ...JSON_HEADERS, ...headers } },
  body: typeof body === 'string' ? body : `${JSON.stringify(body)}\n`,
})

export const statusAnswer = (status: KubeStatus): WireResponse =>
  jsonAnswer(status.code, status, {
    ...(status.code === 401 ? { 'www-authenticate': 'Bearer realm="kubernetes-master"' } : {}),
    ...(status.code === 405 ? { allow: 'GET, POST, PUT, PATCH, DELETE' } : {}),
  })

const texts = new WeakMap<Stored, string>()

/** An object as JSON; made once, however often it is sent. */
function textOf(object: Stored): string {
  const known = texts.get(object)
  if (known !== undefined) return known
  const text = JSON.stringify(object)
  texts.set(object, text)
  return text
}

/** How objects are shown to a client. */
export interface Shown {
  one: (object: Stored) => string
  /** A list of objects. */
  many: (objects: readonly Stored[], metadata: JsonMembers) => string
  /** An object without contents but a version, for bookmarks. */
  bookmark: (resourceVersion: string) => string
}

/**
 * Shows objects as a client accepts them: whole, their metadata alone, or as the rows of a table.
 *
 * @throws KubeRefusal 406 for a client that takes no JSON
 */
export function shownTo(accept: string, kind: Kind, includes: string, now: () => number): Shown {
  const apiVersion = apiVersionOf(kind)
  for (const each of accept === '' ? ['*/*'] : accept.split(',')) {
    const [type, ...parameters] = each.split(';').map((part) => part.trim().toLowerCase())
    if (type !== 'application/json' && type !== '*/*' && type !== 'application/*') continue
    const {
      as,
      v = 'v1',
      g = 'meta.k8s.io',
    } = Object.fromEntries(parameters.map((part) => part.split('=', 2) as [string, string])) as Record<string, string>
    if (as === undefined) return whole(kind, apiVersion)
    if (g !== 'meta.k8s.io' || (v !== 'v1' && v !== 'v1beta1')) continue
    if (as === 'table') return table(kind, v, includes, now)
    if (as === 'partialobjectmetadata' || as === 'partialobjectmetadatalist') return partial(v)
  }
  throw refusal(
    406,
    'NotAcceptable',
    'only the following media types are accepted: application/json, application/json;as=Table',
  )
}

function whole(kind: Kind, apiVersion: string): Shown {
  return {
    one: textOf,
    many: (objects, metadata) => {
      const head = JSON.stringify({ kind: `${kind}List`, apiVersion, metadata })
      return `${head.slice(0, -1)},"items":[${objects.map(textOf).join(',')}]}\n`
    },
    bookmark: (resourceVersion) => JSON.stringify({ kind, apiVersion, metadata: { resourceVersion } }),
  }
}

function table(kind: Kind, version: string, includes: string, now: () => number): Shown {
  const shown = (objects: readonly Stored[], metadata: JsonMembers): string => {
    const resourceVersion = String(metadata['resourceVersion'] ?? '')
    const made = tableOf(kind, objects, { version, resourceVersion, includes, now: now() })
    return JSON.stringify({
      ...made,
      metadata: { ...(isMembers(made['metadata']) ? made['metadata'] : {}), ...metadata },
    })
  }
  return {
    one: (object) => shown([object], { resourceVersion: object.metadata.resourceVersion }),
    many: shown,
    bookmark: (resourceVersion) => shown([], { resourceVersion }),
  }
}

function partial(version: string): Shown {
  const apiVersion = `meta.k8s.io/${version}`
  return {
    one: (object) => JSON.stringify(partialOf(object, version)),
    many: (objects, metadata) =>
      JSON.stringify({
        ...{ kind: 'PartialObjectMetadataList', apiVersion, metadata },
        items: objects.map((each) => partialOf(each, version)),
      }),
    bookmark: (resourceVersion) =>
      JSON.stringify({ kind: 'PartialObjectMetadata', apiVersion, metadata: { resourceVersion } }),
  }
}
