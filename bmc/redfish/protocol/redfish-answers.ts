import { createHash } from 'node:crypto'
import { defined } from '../../../base/runtime/index.js'
import type { HttpServerOptions, WireResponse } from '../../../base/wire/index.js'
import type { RedfishDocument } from './redfish-document.js'
import { baseMessage, type BaseMessage } from './redfish-messages.js'
import { errorBody } from './redfish-refusal.js'
import { allowedMethods, type RedfishResource } from './resource.js'

const REDFISH_JSON_TYPE = 'application/json; charset=utf-8'
/** Headers of every answer. */
export const ANSWER_HEADERS = { 'odata-version': '4.0', 'cache-control': 'no-cache', server: 'ironstage' } as const

export const jsonAnswer = (
  status: number,
  document: RedfishDocument,
  headers: Readonly<Record<string, string>> = {},
): WireResponse => ({
  status,
  headers: { ...ANSWER_HEADERS, 'content-type': REDFISH_JSON_TYPE, ...headers },
  body: JSON.stringify(document),
})

/**
 * The answer to a read of a resource. A collection of many machines is written once, and its ETag put in front.
 *
 * @param known ETag of the whole resource, where the document is a selection of it
 */
export function resourceAnswer(resource: RedfishResource, document: RedfishDocument, known?: string): WireResponse {
  const type = /^#(\w+)\./.exec(String(document['@odata.type']))?.[1]
  const headers = {
    allow: allowedMethods(resource),
    ...defined({ link: type === undefined ? undefined : `</redfish/v1/JsonSchemas/${type}>; rel=describedby` }),
  }
  if (document['@odata.id'] === undefined) return jsonAnswer(200, document, headers)
  const text = JSON.stringify(document)
  const etag = known ?? textEtagOf(text)
  return {
    status: 200,
    headers: { ...ANSWER_HEADERS, 'content-type': REDFISH_JSON_TYPE, ...headers, etag },
    body: `{"@odata.etag":${JSON.stringify(etag)},${text.slice(1)}`,
  }
}

/** A document with its ETag, where it is a resource. */
export const withEtag = (document: RedfishDocument): RedfishDocument =>
  document['@odata.id'] === undefined ? document : { '@odata.etag': etagOf(document), ...document }

/** The ETag of a resource as it is now: of its contents. */
export const etagOf = (document: RedfishDocument): string => textEtagOf(JSON.stringify(document))

const textEtagOf = (text: string): string => `"${createHash('sha1').update(text).digest('base64url').slice(0, 16)}"`

/** An error of the service as clients get it. */
export const redfishRefusal = (
  status: number,
  key: BaseMessage,
  args: readonly string[],
  headers: Readonly<Record<string, string>>,
): WireResponse => jsonAnswer(status, errorBody([baseMessage(key, args)]), headers)

/** Refuses what is not yet a request in the form in which clients of Redfish get errors (DSP0266, error responses). */
export const refuseUnreadRequest: NonNullable<HttpServerOptions['refuse']> = (status, why) =>
  jsonAnswer(status, errorBody([baseMessage('GeneralError', [], { resolution: `Correct the request: ${why}.` })]))
