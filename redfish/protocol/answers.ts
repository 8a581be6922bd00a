import { createHash } from 'node:crypto'
import { defined } from '../../runtime/index.js'
import type { HttpServerOptions, WireResponse } from '../../wire/index.js'
import type { Document } from './document.js'
import { message, type BaseMessage } from './messages.js'
import { errorBody } from './refusal.js'
import { allowed, type Resource } from './resource.js'

const JSON_TYPE = 'application/json; charset=utf-8'
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

/**
 * The answer to a read of a resource. A collection of many machines is written once, and its ETag put in front.
 *
 * @param known ETag of the whole resource, where the document is a selection of it
 */
export function resourceAnswer(resource: Resource, document: Document, known?: string): WireResponse {
  const type = /^#(\w+)\./.exec(String(document['@odata.type']))?.[1]
  const headers = {
    allow: allowed(resource),
    ...defined({ link: type === undefined ? undefined : `</redfish/v1/JsonSchemas/${type}>; rel=describedby` }),
  }
  if (document['@odata.id'] === undefined) return jsonAnswer(200, document, headers)
  const text = JSON.stringify(document)
  const etag = known ?? digestOf(text)
  return {
    status: 200,
    headers: { ...HEADERS, 'content-type': JSON_TYPE, ...headers, etag },
    body: `{"@odata.etag":${JSON.stringify(etag)},${text.slice(1)}`,
  }
}

/** A document with its ETag, where it is a resource. */
export const withEtag = (document: Document): Document =>
  document['@odata.id'] === undefined ? document : { '@odata.etag': etagOf(document), ...document }

/** The ETag of a resource as it is now: of its contents. */
export const etagOf = (document: Document): string => digestOf(JSON.stringify(document))

const digestOf = (text: string): string => `"${createHash('sha1').update(text).digest('base64url').slice(0, 16)}"`

/** An error of the service as clients get it. */
export const redfishRefusal = (
  status: number,
  key: BaseMessage,
  args: readonly string[],
  headers: Readonly<Record<string, string>>,
): WireResponse => jsonAnswer(status, errorBody([message(key, args)]), headers)

/** Refuses what is not yet a request in the form in which clients of Redfish get errors (DSP0266, error responses). */
export const refuseUnreadRequest: NonNullable<HttpServerOptions['refuse']> = (status, why) =>
  jsonAnswer(status, errorBody([message('GeneralError', [], { resolution: `Correct the request: ${why}.` })]))
