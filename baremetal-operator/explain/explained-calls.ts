import type { MadeCall } from '../provisioner/ironic-calls.js'
import { shownBody, shownSentence, type SecretLabels } from '../manifests/shown-body.js'

/** A request to Ironic, with secrets and the ids of the rehearsal replaced. */
export interface ExplainedCall {
  method: string
  path: string
  /** Value of the version header; null for version discovery. */
  microversion: string | null
  /** Null for a call without a body. */
  body: unknown
  status: number
  /** Ironic's error message; null for a success. */
  refusal: string | null
  why: string
  /** Count within this state: reads of the node repeat until it changes. */
  times: number
  /** True for a read that an earlier state made too, with the same status. */
  known: boolean
}

/** Groups calls by state: a repeated read is listed once, a change each time. */
export class ExplainedCalls {
  readonly #labels: SecretLabels
  readonly #known = new Set<string>()
  #calls: ExplainedCall[] = []
  #seen = new Map<string, ExplainedCall>()
  #deployments = 0

  constructor(labels: SecretLabels) {
    this.#labels = labels
  }

  /** Number of deployment requests. */
  get deployments(): number {
    return this.#deployments
  }

  /** Starts the next state; returns the list that {@link add} fills. */
  begin(): ExplainedCall[] {
    for (const key of this.#seen.keys()) this.#known.add(key)
    this.#seen = new Map()
    this.#calls = []
    return this.#calls
  }

  /** Replaces the ids of this rehearsal in a text. */
  withoutIds(text: string, node: string | undefined, uid?: string): string {
    const anonymous = node === undefined ? text : text.replaceAll(node, 'NODE')
    return uid === undefined ? anonymous : anonymous.replaceAll(uid, 'UID-OF-THE-HOST')
  }

  /** Ironic's error message without secrets. */
  sentence(message: string, node: string | undefined): string {
    return this.withoutIds(shownSentence(message, this.#labels), node)
  }

  /** @param node id of the host's node, when it has one */
  add({ why, method, path, headers, body, status, refusal }: MadeCall, node: string | undefined, uid: string): void {
    const withoutIds = (text: string) => this.withoutIds(text, node, uid)
    if ((body as { target?: unknown } | undefined)?.target === 'active') this.#deployments++
    const shownPath = `/v1${withoutIds(path)}`
    const key = `${method} ${shownPath} ${status}`
    const earlier = method === 'GET' ? this.#seen.get(key) : undefined
    if (earlier) return void earlier.times++
    const call: ExplainedCall = {
      method,
      path: shownPath,
      status,
      why: withoutIds(why),
      times: 1,
      microversion: headers['x-openstack-ironic-api-version'] ?? null,
      body: body === undefined ? null : shownBody(body, this.#labels, withoutIds),
      refusal: refusal === null ? null : this.sentence(refusal, node),
      known: method === 'GET' && this.#known.has(key),
    }
    this.#calls.push(call)
    if (method === 'GET') this.#seen.set(key, call)
  }
}
