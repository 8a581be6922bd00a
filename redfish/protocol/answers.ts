import { createHash } from 'node:crypto'
import type { WireResponse } from '../../wire/index.js'
import type { Document } from './document.js'
import { message, type BaseMessage } from './messages.js'
import { errorBody } from './refusal.js'
import { allowed, type Resource } from './resource.js'

export const JSON_TYPE = 'application/json; charset=utf-8'
/** Headers of every answer. */
export const HEADERS = { 'odata-version': '4.0', 'cache-control': 'no-cache', server: 'ironstage' } as const

export const jsonAnswer = (
  status: number,
  document: Document,
  headers: Readonly<Record<string, string>> = {},
): WireResponse => ({
  status,
  headers: { ...HEADERS, 'content-type': JSON_TYPE, ...headers },
  body: JSON.stringify(document),
})

/** The answer to a read of a resource. */
export function resourceAnswer(resource: Resource, document: Document): WireResponse {
  const type = /^#(\w+)\.(?:v\w+\.)?/.exec(String(document['@odata.type']))?.[1]
  const marked = withEtag(document)
  const described = type === undefined ? {} : { link: `</redfish/v1/JsonSchemas/${type}>; rel=describedby` }
  const etag = marked['@odata.etag']
  return jsonAnswer(200, marked, {
    allow: allowed(resource),
    ...described,
    ...(typeof etag === 'string' ? { etag } : {}),
  })
}

export const withEtag = (document: Document): Document =>
  document['@odata.id'] === undefined ? document : { '@odata.etag': etagOf(document), ...document }

/** The ETag of a resource as it is now: of its contents. */
export function etagOf(document: Document): string {
  const known = document['@odata.etag']
  if (typeof known === 'string') return known
  return `"${createHash('sha1').update(JSON.stringify(document)).digest('base64url').slice(0, 16)}"`
}

/** An error of the service as clients get it. */
export const redfishRefusal = (
  status: number,
  key: BaseMessage,
  args: readonly string[],
  headers: Readonly<Record<string, string>>,
): WireResponse => jsonAnswer(status, errorBody([message(key, args)]), headers)
