import { isNestedDeeper, isObject } from '../../../base/runtime/index.js'
import type { WireRequest } from '../../../base/wire/index.js'
import { type RedfishDocument } from './redfish-document.js'
import { messageRefusal } from './redfish-refusal.js'

/**
 * The JSON object of a request.
 *
 * @param mayBeEmpty an action without parameters needs no body
 * @throws Refusal 400 or 415
 */
export function readRedfishBody({ body, headers }: WireRequest, mayBeEmpty: boolean): RedfishDocument {
  if (body === undefined || body.trim() === '') {
    if (mayBeEmpty) return {}
    throw messageRefusal(400, 'UnrecognizedRequestBody', [], { resolution: 'Send a JSON object.' })
  }
  const type = headers['content-type']?.split(';')[0]!.trim().toLowerCase()
  if (type !== undefined && type !== 'application/json' && !type.endsWith('+json'))
    throw messageRefusal(415, 'HeaderInvalid', ['Content-Type'], { resolution: 'Send application/json.' })
  const document = parseRedfishJson(body)
  if (isNestedDeeper(document))
    throw messageRefusal(400, 'MalformedJSON', [], { resolution: 'Nest objects and arrays less deeply.' })
  if (!isObject(document))
    throw messageRefusal(400, 'UnrecognizedRequestBody', [], { resolution: 'Send a JSON object.' })
  return document
}

function parseRedfishJson(body: string): unknown {
  try {
    return JSON.parse(body)
  } catch {
    throw messageRefusal(400, 'MalformedJSON', [], { resolution: 'Send a JSON object.' })
  }
}
