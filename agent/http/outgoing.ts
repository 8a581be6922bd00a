import { errorChain } from '../../base/runtime/index.js'
import type { AgentTlsServer } from '../agent-options.js'
import type { AgentSettings } from '../configuration.js'
import type { AgentEvent } from '../agent-events.js'
import { IronicLink } from '../ironic-link.js'
import type { SavedState } from '../agent-phases.js'
import type { TargetFacts } from '../target-facts.js'
import type { Transport } from '../../base/wire/index.js'

/** Version assumed of an Ironic that never sent one. */
const ASSUMED_IRONIC_VERSION = '1.1'

/**
 * Actions that the agent starts itself, mostly calls to Ironic. Each returns the resulting event, and rejects only when
 * its signal is aborted, since the agent is stopped.
 */
export class Outgoing {
  readonly #options: OutgoingOptions
  readonly #link: IronicLink

  constructor(options: OutgoingOptions) {
    this.#options = options
    const { transport, settings } = options
    const { apiUrls, inspectionUrls, requestId } = settings
    this.#link = new IronicLink({ transport, apiUrls, inspectionUrls, requestId })
  }

  async inspect(signal: AbortSignal): Promise<AgentEvent> {
    const { facts, settings } = this.#options
    try {
      return await this.#link.inspect(await facts.inspectionData(settings.collectors, signal), signal)
    } catch (error) {
      return { kind: 'inspection failed', why: errorChain(error).join(': ') }
    }
  }

  async discover(signal: AbortSignal): Promise<AgentEvent> {
    const { ironicVersion: version } = this.#options.settings
    return version === null ? this.#link.discover(signal) : { kind: 'version found', version }
  }

  async secure({ tls: identity = null, tlsRules }: SavedState, signal: AbortSignal): Promise<AgentEvent> {
    const { facts, tls } = this.#options
    try {
      const { hostname } = (await facts.hardware()).inventory
      return { kind: 'secured', identity: await tls!.serve(identity, hostname, tlsRules) }
    } catch (error) {
      signal.throwIfAborted()
      return { kind: 'not secured', why: errorChain(error).join(': ') }
    }
  }

  async lookUp({ ironicVersion }: SavedState, nodeUuid: string | null, signal: AbortSignal): Promise<AgentEvent> {
    try {
      const macs = await this.#options.facts.macs()
      return await this.#link.lookUp(macs, nodeUuid, ironicVersion ?? ASSUMED_IRONIC_VERSION, signal)
    } catch (error) {
      return { kind: 'lookup failed', why: errorChain(error).join(': '), conflict: false }
    }
  }

  heartbeat(saved: SavedState, signal: AbortSignal): Promise<AgentEvent> {
    return this.#link.heartbeat(saved.nodeUuid ?? '', saved, saved.ironicVersion ?? ASSUMED_IRONIC_VERSION, signal)
  }
}

export interface OutgoingOptions {
  transport: Transport
  settings: AgentSettings
  facts: TargetFacts
  tls: AgentTlsServer | undefined
}
