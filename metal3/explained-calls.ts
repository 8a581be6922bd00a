import type { MadeCall } from './calls.js'
import { SOME_UID } from './host.js'
import { shownBody, shownSentence, type SecretLabels } from './shown-body.js'

/** A call to Ironic as it was made, with secrets and ids of the rehearsal replaced. */
export interface ExplainedCall {
  method: string
  path: string
  /** What the version headers say; null for the one call that has none. */
  microversion: string | null
  /** Null for a call without. */
  body: unknown
  status: number
  /** What Ironic said, where it refused. */
  refusal: string | null
  why: string
  /** How often it was made in this state: a look at the node is repeated until something has changed. */
  times: number
  /** Made in an earlier state too, with the same answer. */
  known: boolean
}

/** Gathers calls by state: what only looks once for each answer, what asks for something every time. */
export class ExplainedCalls {
  readonly #labels: SecretLabels
  readonly #known = new Set<string>()
  #calls: ExplainedCall[] = []
  #seen = new Map<string, ExplainedCall>()
  #deployments = 0

  constructor(labels: SecretLabels) {
    this.#labels = labels
  }

  /** How often a deployment was asked for. */
  get deployments(): number {
    return this.#deployments
  }

  /** The next state begins; gives what its calls are put into. */
  begin(): ExplainedCall[] {
    for (const key of this.#seen.keys()) this.#known.add(key)
    this.#seen = new Map()
    this.#calls = []
    return this.#calls
  }

  /** A text with the ids of this rehearsal replaced. */
  named(text: string, node: string | undefined): string {
    return (node === undefined ? text : text.replaceAll(node, 'NODE')).replaceAll(SOME_UID, 'UID-OF-THE-HOST')
  }

  /** What Ironic said, with nothing secret. */
  sentence(said: string, node: string | undefined): string {
    return this.named(shownSentence(said, this.#labels), node)
  }

  /** @param node id of the host's node, once there is one */
  add({ why, method, path, headers, body, status, refusal }: MadeCall, node: string | undefined): void {
    const named = (text: string) => this.named(text, node)
    if ((body as { target?: unknown } | undefined)?.target === 'active') this.#deployments++
    const shown = `/v1${named(path)}`
    const key = `${method} ${shown} ${status}`
    const before = method === 'GET' ? this.#seen.get(key) : undefined
    if (before) return void before.times++
    const call: ExplainedCall = {
      ...{ method, path: shown, status, why: named(why), times: 1 },
      microversion: headers['x-openstack-ironic-api-version'] ?? null,
      body: body === undefined ? null : shownBody(body, this.#labels, named),
      refusal: refusal === null ? null : this.sentence(refusal, node),
      known: method === 'GET' && this.#known.has(key),
    }
    this.#calls.push(call)
    if (method === 'GET') this.#seen.set(key, call)
  }
}
