import { etagOf, ANSWER_HEADERS, jsonAnswer, resourceAnswer, withEtag } from './redfish-answers.js'
import type { RedfishDocument } from './redfish-document.js'
import { applyQuery, refuseQuery } from './query.js'
import { messageRefusal } from './redfish-refusal.js'
import type { RedfishCall, MachineCall, ResourceMethod, RedfishOutcome, RedfishResource } from './resource.js'
import type { WireResponse } from '../../../base/wire/index.js'

/** Carries out a call whose method the resource has. */
export async function carryOut(
  resource: RedfishResource,
  method: ResourceMethod,
  call: RedfishCall | MachineCall,
  path: string,
): Promise<WireResponse> {
  const { request, service } = call
  if (method === 'get') return readResource(resource, call, path)
  const { 'if-match': expected } = request.headers
  if (method !== 'post') {
    if (expected === undefined && service.requiresIfMatch && resource.get)
      throw messageRefusal(428, 'PreconditionRequired')
    if (expected !== undefined) await checkMatch(resource, call, expected)
  }
  const change = resource[method] as (call: RedfishCall) => RedfishOutcome | void | Promise<RedfishOutcome | void>
  const isLeftOut = call.isLie && !(method === 'post' && resource.liesItself)
  const { status, document, headers } = (isLeftOut ? undefined : await change(call)) ?? {}
  if (document) return jsonAnswer(status ?? 200, withEtag(document), headers)
  if (status !== undefined || method === 'post' || method === 'delete' || !resource.get)
    return { status: status ?? 204, headers: { ...ANSWER_HEADERS, ...headers } }
  const changed = await getDocument(resource, call)
  return changed ? resourceAnswer(resource, changed) : { status: 204, headers: ANSWER_HEADERS }
}

async function readResource(
  resource: RedfishResource,
  call: RedfishCall | MachineCall,
  path: string,
): Promise<WireResponse> {
  if (resource.raw) {
    refuseQuery(call.query)
    return (resource.raw as (call: RedfishCall) => WireResponse)(call)
  }
  const document = await getDocument(resource, call)
  if (!document) throw messageRefusal(404, 'ResourceMissingAtURI', [path])
  const { query, request } = call
  const find = (other: string) => fetched(call, other)
  const wanted = query.size === 0 ? document : await applyQuery(document, query, find)
  const answer = resourceAnswer(resource, wanted, wanted === document ? undefined : etagOf(document))
  const status = (resource.statusOf as ((call: RedfishCall) => number) | undefined)?.(call) ?? 200
  if (status !== 200) return { ...answer, status }
  const { 'if-none-match': known } = request.headers
  const isKnown = known !== undefined && (known === '*' || etagsIn(known).includes(answer.headers['etag'] ?? ''))
  return isKnown ? { status: 304, headers: answer.headers } : answer
}

/** Another resource for the same caller; undefined for what the caller may not see. */
async function fetched(call: RedfishCall, path: string): Promise<RedfishDocument | undefined> {
  const { service, caller } = call
  const found = service.routes.find(path.replace(/^\/redfish\/v1/, ''))
  if (!found?.resource.get || !caller) return undefined
  const { resource, params } = found
  const asked = { ...call, params, query: new URLSearchParams() }
  if (resource.kind === 'service') return withEtag((await getDocument(resource, asked)) ?? {})
  const machine = service.machines.get(params['machine']!)
  if (!machine || !service.sees(machine, caller)) return undefined
  const document = await getDocument(resource, { ...asked, machine })
  return document && withEtag(document)
}

const getDocument = async (
  resource: RedfishResource,
  call: RedfishCall | MachineCall,
): Promise<RedfishDocument | undefined> =>
  (
    resource.get as
      ((call: RedfishCall) => RedfishDocument | undefined | Promise<RedfishDocument | undefined>) | undefined
  )?.(call)

const etagsIn = (header: string): string[] => header.split(/\s*,\s*/).map((each) => each.replace(/^W\//, ''))

async function checkMatch(resource: RedfishResource, call: RedfishCall | MachineCall, expected: string): Promise<void> {
  const document = await getDocument(resource, call)
  if (!document) return
  const etag = etagOf(document)
  const listed = etagsIn(expected)
  if (!listed.includes('*') && !listed.includes(etag))
    throw messageRefusal(412, 'PreconditionFailed', [], { resolution: 'Read the resource again.' })
}
