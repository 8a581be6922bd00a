import { defined, errorChain, seconds, type Clock } from '../../runtime/index.js'
import { HttpTransport, type WireResponse } from '../../wire/index.js'
import { isMembers, type JsonMembers, type KubeJson } from '../kube-json.js'
import { groupVersion, type KindEntry } from '../kinds/kind-entry.js'
import type { ObjectStore, ObservedWrite } from '../object-store.js'
import { kubeRefusal } from '../refusals.js'
import { makeSelector } from '../selectors.js'
import { inVersion } from '../sent-object.js'
import type { Stored } from '../stored-object.js'
import type { ValidatingWebhook, WebhookRule, WebhookSelector } from './webhook-configuration.js'

/** Characters of a webhook's answer. */
const MAX_REVIEW = 1024 * 1024

/** A write, as a webhook is asked about it. */
interface ReviewedWrite extends ObservedWrite {
  operation: 'CREATE' | 'UPDATE' | 'DELETE'
  /** Version of the request. */
  version: string
  isDryRun: boolean
}

/**
 * The validating webhooks of the clients of an API, which its objects name: each write is reviewed before it is made
 * (apiserver pkg/admission/plugin/webhook).
 */
export class AdmissionWebhooks {
  readonly #store: ObjectStore
  readonly #clock: Clock

  constructor(store: ObjectStore, clock: Clock) {
    this.#store = store
    this.#clock = clock
  }

  /** True if there is one at all. */
  get isAny(): boolean {
    return this.#store.list(CONFIGURATIONS).length > 0
  }

  /**
   * Asks about writes that are about to be made.
   *
   * @returns warnings
   * @throws KubeRefusal with the status of a denial, 500 where one cannot be asked and must be
   */
  async review(writes: readonly ObservedWrite[], request: { version: string; isDryRun: boolean }): Promise<string[]> {
    const warnings: string[] = []
    for (const write of writes) {
      const reviewed = { ...write, ...request, operation: operationOf(write) }
      const asked = this.#webhooks().flatMap((webhook) => {
        const version = this.#matchedVersion(webhook, reviewed)
        return version === undefined ? [] : [this.#ask(webhook, { ...reviewed, version })]
      })
      warnings.push(...(await Promise.all(asked)).flat())
    }
    return warnings
  }

  #webhooks(): ValidatingWebhook[] {
    return this.#store
      .list(CONFIGURATIONS)
      .flatMap(({ webhooks }) => (webhooks as unknown as ValidatingWebhook[] | undefined) ?? [])
  }

  /** The version in which a webhook is asked; undefined for one that is not asked. */
  #matchedVersion(
    { rules = [], matchPolicy, namespaceSelector, objectSelector }: ValidatingWebhook,
    { entry, operation, version, before, after }: ReviewedWrite,
  ): string | undefined {
    const { namespace } = (after ?? before)!.metadata
    const place = namespace === undefined ? undefined : this.#store.find('Namespace', { name: namespace })
    if (place && !isSelected(place, namespaceSelector)) return undefined
    if (![before, after].some((each) => each && isSelected(each, objectSelector))) return undefined
    const own = rules.filter((rule) => isOfRule(rule, entry, operation))
    const others = matchPolicy === 'Exact' ? [] : entry.versions.map(({ name }) => name)
    return [version, ...others].find((name) => own.some(({ apiVersions }) => includes(apiVersions, name)))
  }

  async #ask(webhook: ValidatingWebhook, write: ReviewedWrite): Promise<string[]> {
    const { name, failurePolicy = 'Fail' } = webhook
    const uid = this.#store.makeUid()
    let response: JsonMembers
    try {
      response = reviewOf(await this.#send(webhook, { uid, ...reviewRequest(write) }), uid)
    } catch (error) {
      if (failurePolicy === 'Ignore') return []
      const why = `failed calling webhook ${JSON.stringify(name)}: failed to call webhook: ${errorChain(error).join(': ')}`
      throw kubeRefusal(500, 'InternalError', `Internal error occurred: ${why}`, { causes: [{ message: why }] })
    }
    if (response['allowed'] !== true) throw deniedReview(name, response['status'])
    return Array.isArray(response['warnings']) ? (response['warnings'] as readonly unknown[]).map(String) : []
  }

  async #send({ clientConfig, timeoutSeconds = 10 }: ValidatingWebhook, request: JsonMembers): Promise<WireResponse> {
    const { url, caBundle } = clientConfig
    await using transport = new HttpTransport({
      clock: this.#clock,
      timeoutMs: seconds(timeoutSeconds),
      largestAnswer: MAX_REVIEW,
    })
    return await transport.send({
      method: 'POST',
      url: `${url}?timeout=${timeoutSeconds}s`,
      headers: { 'content-type': 'application/json', accept: 'application/json' },
      body: JSON.stringify({ kind: 'AdmissionReview', apiVersion: 'admission.k8s.io/v1', request }),
      ...defined({ ca: caBundle === undefined ? undefined : Buffer.from(caBundle, 'base64').toString() }),
    })
  }
}

const CONFIGURATIONS = 'validatingwebhookconfigurations.admissionregistration.k8s.io'

const includes = (list: readonly string[], name: string): boolean => list.includes('*') || list.includes(name)

const operationOf = ({ before, after }: ObservedWrite): ReviewedWrite['operation'] =>
  !after ? 'DELETE' : before ? 'UPDATE' : 'CREATE'

function isOfRule({ operations, apiGroups, resources, scope = '*' }: WebhookRule, entry: KindEntry, operation: string) {
  const isInScope = scope === '*' || (scope === 'Namespaced') === entry.isNamespaced
  const isResource = resources.some((each) => ['*', '*/*', entry.plural].includes(each))
  return isInScope && isResource && includes(operations, operation) && includes(apiGroups, entry.group)
}

function isSelected(object: Stored, { matchLabels = {}, matchExpressions = [] }: WebhookSelector = {}): boolean {
  const parts = Object.entries(matchLabels).map(([key, value]) => `${key}=${value}`)
  for (const { key, operator, values = [] } of matchExpressions) parts.push(expressionText(key, operator, values))
  return makeSelector({ labelSelector: parts.join(',') })(object)
}

function expressionText(key: string, operator: string, values: readonly string[]): string {
  switch (operator) {
    case 'In':
      return `${key} in (${values.join(',')})`
    case 'NotIn':
      return `${key} notin (${values.join(',')})`
    case 'Exists':
      return key
    default:
      return `!${key}`
  }
}

const OPTIONS: Readonly<Record<ReviewedWrite['operation'], string>> = {
  CREATE: 'CreateOptions',
  UPDATE: 'UpdateOptions',
  DELETE: 'DeleteOptions',
}

/** `request` of an AdmissionReview: k8s.io/api admission/v1. */
function reviewRequest({ entry, operation, version, isDryRun, before, after }: ReviewedWrite): JsonMembers {
  const { group, kind, plural } = entry
  const { name, namespace } = (after ?? before)!.metadata
  const shown = (object: Stored | undefined): KubeJson => (object ? inVersion(entry, object, version) : null)
  const type = { group, version, kind }
  const resource = { group, version, resource: plural }
  return {
    kind: type,
    resource,
    requestKind: type,
    requestResource: resource,
    name,
    ...defined({ namespace }),
    operation,
    userInfo: { username: 'ironstage', groups: ['system:authenticated'] },
    object: shown(after),
    oldObject: shown(before),
    dryRun: isDryRun,
    options: { kind: OPTIONS[operation], apiVersion: groupVersion('meta.k8s.io', 'v1') },
  }
}

/** @throws Error for an answer that is no review of the request */
function reviewOf({ status, body = '' }: WireResponse, uid: string): JsonMembers {
  if (status !== 200) throw new Error(`the server answers with ${status}`)
  const review = JSON.parse(body) as KubeJson
  const response = isMembers(review) ? review['response'] : undefined
  if (!isMembers(response)) throw new Error('the webhook response has no response')
  if (response['uid'] !== uid)
    throw new Error(`expected response.uid=${JSON.stringify(uid)}, got ${JSON.stringify(response['uid'] ?? '')}`)
  return response
}

/** apiserver pkg/admission/plugin/webhook/errors/statuserror.go. */
function deniedReview(name: string, status: KubeJson | undefined) {
  const { message, code } = isMembers(status) ? status : {}
  const refused = `admission webhook ${JSON.stringify(name)} denied the request`
  const sentence =
    typeof message === 'string' && message !== '' ? `${refused}: ${message}` : `${refused} without explanation`
  const wanted = typeof code === 'number' && code >= 400 && code < 600 ? code : 403
  return kubeRefusal(wanted, wanted === 403 ? 'Forbidden' : '', sentence)
}
