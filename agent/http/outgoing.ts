import { errorChain } from '../../runtime/index.js'
import type { AgentTls } from '../agent-options.js'
import type { AgentSettings } from '../configuration.js'
import type { AgentEvent } from '../events.js'
import { IronicLink } from '../ironic-link.js'
import type { SavedState } from '../state.js'
import type { TargetFacts } from '../target-facts.js'
import type { Transport } from '../../wire/index.js'

/** Version assumed of an Ironic that never sent one. */
const OLDEST_IRONIC = '1.1'

/**
 * Actions that the agent starts itself, mostly calls to Ironic. Each returns the resulting event, and rejects only when
 * the agent is stopped.
 */
export class Outgoing {
  readonly #options: OutgoingOptions
  readonly #link: IronicLink

  constructor(options: OutgoingOptions) {
    this.#options = options
    const { transport, signal, settings } = options
    this.#link = new IronicLink({ transport, signal, ...settings })
  }

  async inspect(): Promise<AgentEvent> {
    const { facts, settings } = this.#options
    try {
      return await this.#link.inspect(await facts.inspectionData(settings.collectors))
    } catch (error) {
      return { kind: 'inspection failed', why: errorChain(error).join(': ') }
    }
  }

  async discover(): Promise<AgentEvent> {
    const { ironicVersion: version } = this.#options.settings
    return version === null ? this.#link.discover() : { kind: 'version found', version }
  }

  async secure({ tls: identity = null, tlsRules }: SavedState): Promise<AgentEvent> {
    const { facts, signal, tls } = this.#options
    try {
      const { hostname } = (await facts.hardware()).inventory
      return { kind: 'secured', identity: await tls!.serve(identity, hostname, tlsRules) }
    } catch (error) {
      signal.throwIfAborted()
      return { kind: 'not secured', why: errorChain(error).join(': ') }
    }
  }

  async lookUp({ ironicVersion }: SavedState, nodeUuid: string | null): Promise<AgentEvent> {
    try {
      const macs = await this.#options.facts.macs()
      return await this.#link.lookUp(macs, nodeUuid, ironicVersion ?? OLDEST_IRONIC)
    } catch (error) {
      return { kind: 'lookup failed', why: errorChain(error).join(': '), conflict: false }
    }
  }

  heartbeat(saved: SavedState): Promise<AgentEvent> {
    return this.#link.heartbeat(saved.nodeUuid ?? '', saved, saved.ironicVersion ?? OLDEST_IRONIC)
  }
}

export interface OutgoingOptions {
  transport: Transport
  settings: AgentSettings
  facts: TargetFacts
  tls: AgentTls | undefined
  /** Aborted when the agent is stopped. */
  signal: AbortSignal
}
