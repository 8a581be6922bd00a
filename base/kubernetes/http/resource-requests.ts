import { defined, seconds } from '../../runtime/index.js'
import { answerOfStream, type WireResponse } from '../../wire/index.js'
import { unevaluatedRules } from '../crds/unevaluated-rules.js'
import { isMembers, type KubeJson, type JsonMembers } from '../kube-json.js'
import { groupVersion, type KindEntry } from '../kinds/kind-entry.js'
import type { KubeListOptions } from '../kube-client.js'
import {
  badRequest,
  invalidListOption,
  invalidPatch,
  invalidPatchOption,
  noSuchResource,
  tooLargeVersion,
  unknownValidation,
} from '../refusals.js'
import type { ChangeOptions, DeleteOptions } from '../object-store.js'
import { isUnqualifiedFinalizer } from '../object-metadata.js'
import type { Stored } from '../stored-object.js'
import { unknownFields } from '../validation.js'
import { jsonAnswer, listAnswer, shownTo, type ObjectRenderer } from './kube-answers.js'
import { isJsonBody, objectIn, optionsIn, patchIn, type PatchType } from './bodies.js'
import { duplicateFields, duplicateYamlKeys } from './duplicate-keys.js'
import type { ResourcePath } from './kube-paths.js'
import { isDryRun, methodNotAllowed, objectNameIn, patchedBy, type ResourceRequest } from './resource-call.js'
import { scaleAnswer } from './scale.js'
import { selectorOfView, sentToView, shownInView } from './resource-view.js'
import { watchLines } from './watch-stream.js'

/** @throws KubeRefusal */
export function resourceAnswer(call: ResourceRequest): WireResponse {
  const { deprecation } = call.at.version
  return withWarnings(ownAnswer(call), deprecation === undefined ? [] : [deprecation])
}

/** An answer with further warnings, before its own. */
export function withWarnings(answer: WireResponse, warnings: readonly string[]): WireResponse {
  const { warning } = warningHeaders(warnings)
  if (warning === undefined) return answer
  const { warning: own } = answer.headers
  return { ...answer, headers: { ...answer.headers, warning: own === undefined ? warning : `${warning}, ${own}` } }
}

function ownAnswer(call: ResourceRequest): WireResponse {
  const { request, at } = call
  if (at.subresource === 'scale') return scaleAnswer(call)
  switch (request.method) {
    case 'GET':
    case 'HEAD':
      return isWatch(call)
        ? watch(call)
        : at.name === undefined
          ? listObjects(call)
          : answerObject(call, 200, call.store.get(at.entry.resource, objectNameIn(at)))
    case 'POST':
      // A CustomResource may be sent to any path of its kind: its own name counts.
      if (at.name === undefined || (at.entry.isCustom && !at.subresource)) return createKubeObject(call)
      break
    case 'PUT':
      if (at.name !== undefined) return update(call)
      break
    case 'PATCH':
      if (at.name !== undefined) return patch(call)
      break
    case 'DELETE':
      if (at.subresource === undefined) return at.name === undefined ? deleteAll(call) : deleteOne(call)
      break
  }
  throw methodNotAllowed()
}

/** Kinds of Kubernetes itself may be replaced without a version, and have patches that merge lists; CustomResources have not. */
const isCoreKind = ({ isCustom }: KindEntry): boolean => !isCustom

const isSet = (value: string | null): boolean => value === 'true' || value === '1'
const isWatch = ({ query }: ResourceRequest): boolean => isSet(query.get('watch'))

const shownIn = ({ request, at, query, now }: ResourceRequest): ObjectRenderer =>
  shownTo(request.headers['accept'] ?? '', at, query.get('includeObject') ?? 'Metadata', now)

const answerObject = (
  call: ResourceRequest,
  status: number,
  object: Stored,
  headers: Record<string, string> = {},
): WireResponse => jsonAnswer(status, `${shownIn(call).one(object)}\n`, headers)

/** An object that was sent, as its kind has it. */
const asSent = ({ at }: ResourceRequest, sent: JsonMembers): JsonMembers =>
  at.view ? sentToView(sent, at.view, apiVersionAt(at)) : sent

const apiVersionAt = ({ entry, version }: ResourcePath): string => groupVersion(entry.group, version.name)

const sentObject = (call: ResourceRequest): JsonMembers => asSent(call, objectIn(call.request))

function selectionOf({ at: { namespace, name, view }, query }: ResourceRequest): KubeListOptions {
  const labels = query.get('labelSelector')
  const selector = query.get('fieldSelector')
  const fields = view && selector !== null ? selectorOfView(selector, view) : selector
  const field = name === undefined ? (fields ?? undefined) : `metadata.name=${name}`
  return defined({ namespace, labelSelector: labels ?? undefined, fieldSelector: field })
}

function listObjects(call: ResourceRequest): WireResponse {
  const { at, query, store } = call
  const version = askedVersion(query, store.resourceVersion)
  const all =
    version === undefined
      ? store.list(at.entry.resource, selectionOf(call))
      : store.listAt(at.entry.resource, version, selectionOf(call))
  const { items, metadata } = takePage(all, query, String(version ?? store.resourceVersion))
  return listAnswer(shownIn(call).many(items, metadata))
}

/**
 * The version whose state a list shows; undefined for the present one, which is not older than any that a client can name.
 *
 * @throws KubeRefusal 400, 422, 504: apimachinery pkg/apis/meta/internalversion/validation
 */
function askedVersion(query: URLSearchParams, present: number): number | undefined {
  const version = query.get('resourceVersion') ?? ''
  const match = query.get('resourceVersionMatch') ?? ''
  const refuse = (detail: string): never => {
    throw invalidListOption({ field: 'resourceVersionMatch', reason: 'FieldValueForbidden', detail })
  }
  if (match !== '' && (query.get('continue') ?? '') !== '')
    refuse('resourceVersionMatch is forbidden when continue is provided')
  if (match !== '' && version === '') refuse('resourceVersionMatch is forbidden unless resourceVersion is provided')
  if (match !== '' && match !== 'Exact' && match !== 'NotOlderThan')
    throw invalidListOption({
      field: 'resourceVersionMatch',
      reason: 'FieldValueNotSupported',
      value: match,
      detail: 'supported values: "Exact", "NotOlderThan", ""',
    })
  if (match === 'Exact' && version === '0') refuse('resourceVersionMatch "exact" is forbidden for resourceVersion "0"')
  if (version === '' || version === '0') return undefined
  if (!/^\d{1,15}$/.test(version)) throw badRequest(`Invalid value: "${version}": resourceVersion`)
  if (Number(version) > present) throw tooLargeVersion(version, present)
  // A page of a version without a match is of that very version, as before there were matches.
  const isExact = match === 'Exact' || (match === '' && (wholeNumber(query, 'limit') ?? 0) > 0)
  return isExact ? Number(version) : undefined
}

const namespacedNameOf = ({ metadata: { name, namespace = '' } }: Stored): string => `${namespace}/${name}`

/**
 * A page goes on after the last object of the one before, in the objects of now. Its version is that of the first page, so
 * that a watch from there misses nothing.
 */
function takePage(
  all: readonly Stored[],
  query: URLSearchParams,
  present: string,
): { items: readonly Stored[]; metadata: JsonMembers } {
  // Version 0 is answered out of the cache of an API server, which has no pages.
  const limit = query.get('resourceVersion') === '0' ? 0 : (wholeNumber(query, 'limit') ?? 0)
  const token = query.get('continue') ?? ''
  const { version, after } = token === '' ? { version: present, after: undefined } : continued(token)
  const rest = after === undefined ? all : all.filter((each) => namespacedNameOf(each) > after)
  if (limit === 0 || rest.length <= limit) return { items: rest, metadata: { resourceVersion: version } }
  const items = rest.slice(0, limit)
  const next = Buffer.from(JSON.stringify([version, namespacedNameOf(items.at(-1)!)])).toString('base64url')
  return {
    items,
    metadata: { resourceVersion: version, continue: next, remainingItemCount: rest.length - limit },
  }
}

function continued(token: string): { version: string; after: string } {
  try {
    const [version, after] = JSON.parse(Buffer.from(token, 'base64url').toString()) as unknown[]
    if (typeof version === 'string' && typeof after === 'string') return { version, after }
  } catch {
    // Refused below.
  }
  throw badRequest('continue key is not valid')
}

function wholeNumber(query: URLSearchParams, name: string): number | undefined {
  const text = query.get(name)
  if (text === null || text === '') return undefined
  if (!/^\d{1,9}$/.test(text)) throw badRequest(`${name} must be a whole number: ${JSON.stringify(text)}`)
  return Number(text)
}

/** A watch without a limit of its own ends after this time, as one of the API server does. */
const WATCH_TIMEOUT_SECONDS = 3600

function watch(call: ResourceRequest): WireResponse {
  const { at, query, store } = call
  if (query.get('sendInitialEvents') !== null)
    throw invalidListOption({
      field: 'sendInitialEvents',
      reason: 'FieldValueForbidden',
      detail: 'sendInitialEvents is forbidden for watch unless the WatchList feature gate is enabled',
    })
  const resourceVersion = query.get('resourceVersion')
  const options = {
    shown: shownIn(call),
    watch: store.watch(at.entry.resource, {
      ...selectionOf(call),
      ...defined({ resourceVersion: resourceVersion ?? undefined }),
    }),
    present: () => store.resourceVersion,
    timeout: seconds(wholeNumber(query, 'timeoutSeconds') || WATCH_TIMEOUT_SECONDS),
    hasBookmarks: isSet(query.get('allowWatchBookmarks')),
  }
  return answerOfStream(200, { 'content-type': 'application/json', 'cache-control': 'no-cache, private' }, (signal) =>
    watchLines(options, signal),
  )
}

function createKubeObject(call: ResourceRequest): WireResponse {
  const { at, store } = call
  const object = sentObject(call)
  if (at.entry.isNamespaced && at.namespace === undefined) throw methodNotAllowed()
  const warnings = checkFields(call, object, bodyFindings(call))
  const options = { ...writeOptions(call), needsNamespace: true }
  const made = store.create(at.entry.resource, inNamespace(object, at), options)
  return answerObject(call, 201, made, warningHeaders([...warnings, ...writeWarnings(at.entry, made, undefined)]))
}

/** Warnings about an object that was written. */
function writeWarnings(entry: KindEntry, written: Stored, before: Stored | undefined): string[] {
  const isDefinition = entry.resource.startsWith('customresourcedefinitions.')
  const rules = isDefinition && written !== before ? unevaluatedRules(written) : undefined
  return [...finalizerWarnings(entry, written, before), ...(rules === undefined ? [] : [rules])]
}

/** Finalizers of a write that have no domain: apiextensions-apiserver pkg/registry/customresource/strategy.go. */
function finalizerWarnings(entry: KindEntry, { metadata }: Stored, before: Stored | undefined): string[] {
  if (isCoreKind(entry)) return []
  const present = new Set(before?.metadata.finalizers)
  const added = (metadata.finalizers ?? []).filter((each) => !present.has(each) && isUnqualifiedFinalizer(each))
  return added
    .sort()
    .map(
      (each) =>
        `metadata.finalizers: ${JSON.stringify(each)}: prefer a domain-qualified finalizer name to avoid accidental conflicts with other finalizer writers`,
    )
}

function inNamespace(object: JsonMembers, { namespace }: ResourcePath): JsonMembers {
  if (namespace === undefined) return object
  const metadata = isMembers(object['metadata']) ? object['metadata'] : {}
  const own = metadata['namespace'] ?? ''
  if (own !== '' && own !== namespace)
    throw badRequest('the namespace of the provided object does not match the namespace sent on the request')
  return { ...object, metadata: { ...metadata, namespace } }
}

const writeOptions = (call: ResourceRequest) => ({
  isDryRun: isDryRun(call),
  version: call.at.version.name,
  manager: managerOf(call),
})

/** Bytes of a manager's name: apimachinery pkg/apis/meta/v1/validation. */
const MAX_MANAGER = 128

/** The manager of a write: the one that the request names, or its client. */
function managerOf({ request, query }: ResourceRequest): string {
  const named = query.get('fieldManager') ?? ''
  if (Buffer.byteLength(named) > MAX_MANAGER)
    throw invalidPatchOption({
      field: 'fieldManager',
      reason: 'FieldValueTooLong',
      detail: `may not be more than ${MAX_MANAGER} bytes`,
    })
  const client = (request.headers['user-agent'] ?? '').split('/')[0]!
  return named === '' ? client.slice(0, MAX_MANAGER) || 'unknown' : named
}

const changeOptions = (call: ResourceRequest): ChangeOptions => ({
  ...writeOptions(call),
  ...defined({ subresource: call.at.subresource === 'status' ? ('status' as const) : undefined }),
})

function update(call: ResourceRequest): WireResponse {
  const { at } = call
  const object = inNamespace(sentObject(call), at)
  const warnings = checkFields(call, object, bodyFindings(call))
  const options = { ...changeOptions(call), isUnconditional: isCoreKind(at.entry) }
  return answerChange(call, options, () => ({ object, warnings }))
}

/** Carries out a change, and answers with the object and with what its writer should know. */
function answerChange(
  call: ResourceRequest,
  options: ChangeOptions,
  modify: (current: Stored) => { object: KubeJson; warnings: readonly string[] },
): WireResponse {
  const { at, store } = call
  let before: Stored | undefined
  let warnings: readonly string[] = []
  const changed = store.change(
    at.entry.resource,
    objectNameIn(at),
    (current) => {
      const wanted = modify(current)
      before = current
      warnings = wanted.warnings
      return wanted.object
    },
    options,
  )
  return answerObject(call, 200, changed, warningHeaders([...warnings, ...writeWarnings(at.entry, changed, before)]))
}

function patch(call: ResourceRequest): WireResponse {
  const { request, at } = call
  const { type, patch: changes } = patchIn(request, isCoreKind(at.entry))
  if (type === 'apply') return serverSideApply(call, changes)
  if (call.query.get('force') !== null)
    throw invalidPatchOption({
      field: 'force',
      reason: 'FieldValueForbidden',
      detail: 'may not be specified for non-apply patch',
    })
  if (type !== 'json' && !isMembers(changes)) throw badRequest('the patch is not an object')
  const duplicates = findingsOf(call, () => duplicateFields(request.body ?? ''))
  const findings = duplicates.map((path) => `${type === 'json' ? 'json patch ' : ''}${duplicateField(path)}`)
  return answerChange(call, changeOptions(call), (current) => {
    const object = patchedIn(call, type, current, changes)
    const warnings = isMembers(object)
      ? checkFields(call, object, findings, (problem) => invalidPatch(object, problem))
      : []
    return { object, warnings }
  })
}

/** A patch is written in the names of the group that it is sent to. */
function patchedIn(
  { at }: ResourceRequest,
  type: Exclude<PatchType, 'apply'>,
  current: Stored,
  changes: KubeJson,
): KubeJson {
  if (!at.view) return patchedBy(type, current, changes)
  const patched = patchedBy(type, shownInView(current, at.view), changes)
  return isMembers(patched) ? sentToView(patched, at.view, apiVersionAt(at)) : patched
}

/** Server-side apply: the object is made, or what is applied is merged into it, by who owns which fields. */
function serverSideApply(call: ResourceRequest, applied: KubeJson): WireResponse {
  const { at, store, query } = call
  if (!query.get('fieldManager'))
    throw invalidPatchOption({
      field: 'fieldManager',
      reason: 'FieldValueRequired',
      detail: 'is required for apply patch',
    })
  if (!isMembers(applied)) throw badRequest('the applied configuration is not an object')
  const object = inNamespace(asSent(call, applied), at)
  const warnings = checkFields(call, object, appliedFindings(call))
  const metadata = isMembers(object['metadata']) ? object['metadata'] : {}
  if (metadata['managedFields'] !== undefined) throw badRequest('metadata.managedFields must be nil')
  const name = metadata['name'] ?? at.name!
  if (name !== at.name) throw noSuchResource()
  const before = store.find(at.entry.resource, objectNameIn(at))
  const { subresource } = changeOptions(call)
  const { object: written, isNew } = store.apply(
    at.entry.resource,
    objectNameIn(at),
    { ...object, metadata: { ...metadata, name } },
    {
      ...writeOptions(call),
      isForced: isSet(query.get('force')),
      ...defined({ subresource }),
    },
  )
  const own = writeWarnings(at.entry, written, before)
  return answerObject(call, isNew ? 201 : 200, written, warningHeaders([...warnings, ...own]))
}

const FIELD_VALIDATIONS: ReadonlySet<string> = new Set(['Ignore', 'Strict', 'Warn'])

function validationOf({ request, query }: ResourceRequest): string {
  const mode = query.get('fieldValidation') || 'Warn'
  if (!FIELD_VALIDATIONS.has(mode)) throw unknownValidation(request.method, mode)
  return mode
}

/** Findings of a strict decoder; none where the client does not ask for them. */
const findingsOf = (call: ResourceRequest, find: () => string[]): string[] =>
  validationOf(call) === 'Ignore' ? [] : find()

const duplicateField = (path: string): string => `duplicate field ${JSON.stringify(path)}`

/** Fields that the body of a request has twice. Of them the last counts. */
const bodyFindings = (call: ResourceRequest): string[] =>
  findingsOf(call, () => {
    const { headers, body = '' } = call.request
    if (call.request.bytes) return []
    if (isJsonBody(headers)) return duplicateFields(body).map(duplicateField)
    const keys = duplicateYamlKeys(body)
    return keys.length === 0 ? [] : [yamlFinding(keys)]
  })

/** All keys of a YAML text that are there twice are one error of its decoder. */
const yamlFinding = (keys: readonly string[]): string => `${YAML_ERRORS}${keys.map((key) => `\n  ${key}`).join('')}`
const YAML_ERRORS = 'yaml: unmarshal errors:'

/** @throws KubeRefusal for what is applied with a key twice, if the client is strict: its decoder is another one */
function appliedFindings(call: ResourceRequest): string[] {
  const findings = findingsOf(call, () => duplicateYamlKeys(call.request.body ?? ''))
  if (findings.length === 0) return []
  const finding = yamlFinding(findings)
  if (validationOf(call) === 'Strict')
    throw badRequest(`error strict decoding YAML: error converting YAML to JSON: ${finding}`)
  return [finding]
}

/**
 * Unknown and duplicate fields produce warnings, or a refusal if the client requests one. Unknown ones are not stored.
 *
 * @param found earlier findings of the body
 */
function checkFields(
  call: ResourceRequest,
  object: JsonMembers,
  found: readonly string[],
  refusal = (problem: string) => {
    const { entry, version } = call.at
    const { kind } = entry
    return badRequest(`${kind} in version "${version.name}" cannot be handled as a ${kind}: ${problem}`)
  },
): string[] {
  const mode = validationOf(call)
  if (mode === 'Ignore') return []
  const unknown = unknownFields(call.at.version, object).map((field) => `unknown field "${field}"`)
  const findings = [...found, ...unknown]
  if (findings.length > 0 && mode === 'Strict') throw refusal(`strict decoding error: ${findings.join(', ')}`)
  return findings.flatMap(warningsIn)
}

/** The header with which kubectl prints warnings. */
function warningHeaders(warnings: readonly string[]): Record<string, string> {
  if (warnings.length === 0) return {}
  // A header is Latin-1 and one line.
  const quoted = warnings
    .slice(0, 20)
    .map((text) => `299 - "${text.replaceAll(/["\\]/g, '\\$&').replaceAll(/[^ -~]/g, '?')}"`)
  return { warning: quoted.join(', ') }
}

/** The warnings of a finding: one for each line of the YAML decoder's. */
const warningsIn = (finding: string): string[] =>
  finding.startsWith(YAML_ERRORS)
    ? finding
        .split('\n')
        .slice(1)
        .map((line) => line.trim())
    : [finding]

function deleteOptions(call: ResourceRequest): DeleteOptions {
  const options = optionsIn(call.request)
  const propagation = call.query.get('propagationPolicy') ?? options['propagationPolicy']
  const { uid, resourceVersion } = isMembers(options['preconditions']) ? options['preconditions'] : {}
  const isDry = isDryRun(call) || (Array.isArray(options['dryRun']) && options['dryRun'].includes('All'))
  return {
    isDryRun: isDry,
    orphansDependents: propagation === 'Orphan' || options['orphanDependents'] === true,
    preconditions: {
      ...(typeof uid === 'string' ? { uid } : {}),
      ...(typeof resourceVersion === 'string' ? { resourceVersion } : {}),
    },
  }
}

function deleteOne(call: ResourceRequest): WireResponse {
  const { at, store } = call
  const options = deleteOptions(call)
  const last = store.delete(at.entry.resource, objectNameIn(at), options)
  const { uid, finalizers } = last.metadata
  // It waits for its finalizers, or a namespace for what is in it.
  if (finalizers || goesWithItsObjects(at.entry)) return answerObject(call, 200, last)
  const { group, plural: kind } = at.entry
  return jsonAnswer(200, {
    kind: 'Status',
    apiVersion: 'v1',
    metadata: {},
    status: 'Success',
    details: { name: at.name, ...defined({ group: group === '' ? undefined : group }), kind, uid },
  })
}

/** A namespace and a definition go with the last of their objects. */
const goesWithItsObjects = ({ resource }: KindEntry): boolean =>
  resource === 'namespaces' || resource.startsWith('customresourcedefinitions.')

function deleteAll(call: ResourceRequest): WireResponse {
  const { at, store } = call
  const { preconditions: _, ...options } = deleteOptions(call)
  const items = store.list(at.entry.resource, selectionOf(call))
  const deleted = items.map(({ metadata }) => store.delete(at.entry.resource, metadata, options))
  return listAnswer(shownIn(call).many(deleted, { resourceVersion: String(store.resourceVersion) }))
}
