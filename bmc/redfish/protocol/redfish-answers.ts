import { createHash } from 'node:crypto'
import type { BmcDialect } from '../../dialects/index.js'
import { defined } from '../../../base/runtime/index.js'
import type { HttpServerOptions, WireResponse } from '../../../base/wire/index.js'
import type { RedfishDocument } from './redfish-document.js'
import { baseMessage, type BaseMessage } from './redfish-messages.js'
import { errorBody } from './redfish-refusal.js'

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
export function resourceAnswer(
  { allow, etags }: { allow: string; etags: BmcDialect['etags'] },
  document: RedfishDocument,
  known?: string,
): WireResponse {
  const type = /^#(\w+)\./.exec(String(document['@odata.type']))?.[1]
  const headers = {
    allow,
    ...defined({ link: type === undefined ? undefined : `</redfish/v1/JsonSchemas/${type}>; rel=describedby` }),
  }
  if (document['@odata.id'] === undefined) return jsonAnswer(200, document, headers)
  const text = JSON.stringify(document)
  const etag = writtenEtag(known ?? textEtagOf(text), etags)
  if (etag === undefined) return jsonAnswer(200, document, headers)
  return {
    status: 200,
    headers: { ...ANSWER_HEADERS, 'content-type': REDFISH_JSON_TYPE, ...headers, etag },
    body: `{"@odata.etag":${JSON.stringify(etag)},${text.slice(1)}`,
  }
}

/** A document with its ETag, where it is a resource. */
export function withEtag(document: RedfishDocument, etags: BmcDialect['etags']): RedfishDocument {
  if (document['@odata.id'] === undefined) return document
  const etag = writtenEtag(etagOf(document), etags)
  return etag === undefined ? document : { '@odata.etag': etag, ...document }
}

/** The ETag of a resource as it is now, of its contents, without its quotes. */
export const etagOf = (document: RedfishDocument): string => textEtagOf(JSON.stringify(document))

const textEtagOf = (text: string): string => createHash('sha1').update(text).digest('base64url').slice(0, 16)

/** An ETag as a BMC writes it; undefined for one that writes none. */
function writtenEtag(tag: string, { form }: BmcDialect['etags']): string | undefined {
  switch (form) {
    case 'strong':
      return `"${tag}"`
    case 'weak':
      return `W/"${tag}"`
    case 'quoted':
      return `"W/'${tag}'"`
    case 'bare':
      return tag
    case 'none':
      return undefined
  }
}

/** True if a header If-Match names an ETag, in a form that the BMC takes. */
export function matchesEtag(header: string, tag: string, { form, match }: BmcDialect['etags']): boolean {
  if (form === 'none') return true
  const listed = header.split(/\s*,\s*/)
  switch (match) {
    case 'any':
      return listed.some((each) => each === '*' || [`"${tag}"`, `W/"${tag}"`, `"W/'${tag}'"`].includes(each))
    case 'strong':
      return listed.some((each) => each === '*' || each === `"${tag}"`)
    case 'bare':
      return listed.some((each) => each === '*' || each === tag)
    case 'never':
      return false
  }
}

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
