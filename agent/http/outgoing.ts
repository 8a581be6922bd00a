import { errorChain } from '../../runtime/index.js'
import type { AgentTls } from '../agent-options.js'
import type { AgentSettings } from '../configuration.js'
import type { AgentEvent } from '../events.js'
import { IronicLink } from '../ironic-link.js'
import type { KeptState } from '../state.js'
import type { Surroundings } from '../surroundings.js'
import type { Transport } from '../../wire/index.js'

/** What an Ironic is taken for that never said its version. */
const OLDEST_IRONIC = '1.1'

/**
 * What the agent sets about of its own accord, towards Ironic above all, with what it knows of its machine. Each gives the
 * event that comes of it, and rejects only when the agent is stopped.
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
    const { surroundings, settings } = this.#options
    try {
      return await this.#link.inspect(await surroundings.inspectionData(settings.collectors))
    } catch (error) {
      return { kind: 'inspection failed', why: errorChain(error).join(': ') }
    }
  }

  async discover(): Promise<AgentEvent> {
    const { ironicVersion: version } = this.#options.settings
    return version === null ? this.#link.discover() : { kind: 'version found', version }
  }

  async secure({ tls: kept = null, tlsRules }: KeptState): Promise<AgentEvent> {
    const { surroundings, signal, tls } = this.#options
    try {
      const { hostname } = (await surroundings.hardware()).inventory
      return { kind: 'secured', identity: await tls!.serve(kept, hostname, tlsRules) }
    } catch (error) {
      signal.throwIfAborted()
      return { kind: 'not secured', why: errorChain(error).join(': ') }
    }
  }

  async lookUp({ ironicVersion }: KeptState, nodeUuid: string | null): Promise<AgentEvent> {
    try {
      const macs = await this.#options.surroundings.macs()
      return await this.#link.lookUp(macs, nodeUuid, ironicVersion ?? OLDEST_IRONIC)
    } catch (error) {
      return { kind: 'lookup failed', why: errorChain(error).join(': '), conflict: false }
    }
  }

  heartbeat(kept: KeptState): Promise<AgentEvent> {
    return this.#link.heartbeat(kept.nodeUuid ?? '', kept, kept.ironicVersion ?? OLDEST_IRONIC)
  }
}

export interface OutgoingOptions {
  transport: Transport
  settings: AgentSettings
  surroundings: Surroundings
  tls: AgentTls | undefined
  /** Aborted when the agent is stopped. */
  signal: AbortSignal
}
