import { etagOf, ANSWER_HEADERS, jsonAnswer, matchesEtag, resourceAnswer, withEtag } from './redfish-answers.js'
import { defined } from '../../../base/runtime/index.js'
import type { RedfishDocument } from './redfish-document.js'
import { applyQuery, refuseQuery } from './query.js'
import { messageRefusal } from './redfish-refusal.js'
import type { RedfishCall, MachineCall, ResourceMethod, RedfishOutcome, RedfishResource } from './resource.js'
import { spokenDialectOf } from '../dialects/spoken-dialect.js'
import { withLiveProperties } from '../dumps/live-properties.js'
import { routeRedfishPath } from '../route-path.js'
import type { WireResponse } from '../../../base/wire/index.js'

/** Carries out a call whose method the resource has. */
export async function carryOut(
  resource: RedfishResource,
  method: ResourceMethod,
  call: RedfishCall | MachineCall,
  path: string,
): Promise<WireResponse> {
  if (method === 'get') return readResource(resource, call, path)
  const isDropped = await checkPreconditions(resource, method, call)
  const change = resource[method] as (call: RedfishCall) => RedfishOutcome | void | Promise<RedfishOutcome | void>
  const isLeftOut = isDropped || (call.isLie && !(method === 'post' && resource.liesItself))
  const { status, document, headers } = (isLeftOut ? undefined : await change(call)) ?? {}
  const { spoken } = call
  const shown = shownHeaders(call, headers)
  const { etags, errors } = spoken.dialect
  if (document) return jsonAnswer(status ?? 200, withEtag(spoken.document(document), etags), shown)
  if (status !== undefined) return { status, headers: { ...ANSWER_HEADERS, ...shown } }
  if (errors.success === 'message') return jsonAnswer(200, spoken.success, shown)
  if (isDropped || errors.success === 'nothing' || method === 'post' || method === 'delete' || !resource.get)
    return { status: 204, headers: { ...ANSWER_HEADERS, ...shown } }
  const changed = await getDocument(resource, call)
  return changed ? resourceAnswer(answerForm(call), changed) : { status: 204, headers: ANSWER_HEADERS }
}

const answerForm = ({ allow, spoken }: RedfishCall) => ({ allow, etags: spoken.dialect.etags })

/** Headers of an outcome, whose paths are those of the BMC. */
function shownHeaders(
  { spoken }: RedfishCall,
  headers: RedfishOutcome['headers'] = {},
): Readonly<Record<string, string>> {
  const { location } = headers
  return { ...headers, ...defined({ location: location === undefined ? undefined : spoken.path(location) }) }
}

/**
 * Checks If-Match.
 *
 * @returns true if the BMC answers as if it had made the change, and does not make it
 * @throws Refusal 412 or 428
 */
async function checkPreconditions(
  resource: RedfishResource,
  method: ResourceMethod,
  call: RedfishCall | MachineCall,
): Promise<boolean> {
  const { request, service, spoken } = call
  const { etags } = spoken.dialect
  const { 'if-match': expected } = request.headers
  if (method === 'post') {
    if (expected !== undefined && etags.onActions === 'refused' && resource.path.includes('/Actions/'))
      throw messageRefusal(412, 'PreconditionFailed', [], { resolution: 'Leave If-Match out.' })
    return false
  }
  if (expected !== undefined) {
    await checkMatch(resource, call, expected)
    return false
  }
  if (service.requiresIfMatch && resource.get) throw messageRefusal(428, 'PreconditionRequired')
  if (method === 'delete' || !resource.get) return false
  if (etags.without === 'refused') throw messageRefusal(etags.withoutStatus, 'PreconditionRequired')
  return etags.without === 'dropped'
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
  const form = answerForm(call)
  const shown = call.spoken.answer(wanted)
  const answer = resourceAnswer(form, shown, shown === document ? undefined : etagOf(document))
  const status = (resource.statusOf as ((call: RedfishCall) => number) | undefined)?.(call) ?? 200
  if (status !== 200) return { ...answer, status }
  const { 'if-none-match': known } = request.headers
  const isKnown =
    known !== undefined && (known === '*' || etagsIn(known).includes(etagsIn(answer.headers['etag'] ?? '')[0]!))
  return isKnown ? { status: 304, headers: answer.headers } : answer
}

/** Another resource for the same caller; undefined for what the caller may not see. */
async function fetched(call: RedfishCall, path: string): Promise<RedfishDocument | undefined> {
  const { service, caller } = call
  const found = await routeRedfishPath(service, path.replace(/^\/redfish\/v1/, ''))
  if (!found?.resource.get || !caller) return undefined
  const { resource, params, machine, dumped } = found
  const spoken = spokenDialectOf(service.machines, machine)
  const { dumped: _, ...rest } = call
  const asked = { ...rest, params, spoken, query: new URLSearchParams(), ...defined({ dumped }) }
  const { etags } = spoken.dialect
  if (resource.kind === 'service') return withEtag((await getDocument(resource, asked)) ?? {}, etags)
  if (!machine || !service.sees(machine, caller)) return undefined
  const document = await getDocument(resource, { ...asked, machine })
  return document && withEtag(document, etags)
}

/** A resource as its BMC shows it. */
async function getDocument(
  resource: RedfishResource,
  call: RedfishCall | MachineCall,
): Promise<RedfishDocument | undefined> {
  const read = resource.get as
    ((call: RedfishCall) => RedfishDocument | undefined | Promise<RedfishDocument | undefined>) | undefined
  const document = await read?.(call)
  return document && shownDocument(resource, call, document)
}

/** A document as the BMC has it: that of its dump with what lives, where the dump has it. */
function shownDocument(
  resource: RedfishResource,
  { dumped: answer, spoken }: RedfishCall,
  document: RedfishDocument,
): RedfishDocument {
  if (!answer) return spoken.document(document)
  const { view, resource: found, hasOtherMembers } = answer
  if (!found) return spoken.document(document)
  const dumped = view.document(found)
  const live = () => spoken.document(document)
  return withLiveProperties(resource, spoken.dialect, { dumped, live, hasOtherMembers })
}

const etagsIn = (header: string): string[] => header.split(/\s*,\s*/).map((each) => each.replace(/^W\//, ''))

async function checkMatch(resource: RedfishResource, call: RedfishCall | MachineCall, expected: string): Promise<void> {
  const document = await getDocument(resource, call)
  if (!document) return
  if (!matchesEtag(expected, etagOf(document), call.spoken.dialect.etags))
    throw messageRefusal(412, 'PreconditionFailed', [], { resolution: 'Read the resource again.' })
}
