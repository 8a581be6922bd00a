import type { ProxySettings } from '../base/bytes/index.js'
import type { Clock, ConfigFile, Logger, Probe, Random } from '../base/runtime/index.js'
import type { HardwareManager } from '../steps/index.js'
import type { Target } from '../targets/index.js'
import type { Dispatch, TlsIdentity, Transport } from '../base/wire/index.js'
import type { AgentSearch } from './agent-events.js'
import type { AgentCommandProgress } from './command-runner.js'
import type { HardwareReader } from './agent-inspection.js'
import type { AgentPace } from './pace.js'
import type { AgentPhase, TlsRules } from './agent-phases.js'

export interface AgentOptions {
  target: Target
  managers: readonly HardwareManager[]
  /** Boot of the machine, with the kernel parameters of its ramdisk (`ipa-api-url` ...). */
  boot: { id: string; parameters: Readonly<Record<string, string>> }
  /** Proxies to the servers of images; none by default. */
  proxies?: ProxySettings
  /** Folders of this host whose files `file:` URLs of images may name; by default those of Ironic. */
  fileFolders?: readonly string[]
  /** Environment of the agent's process: `IPA_COREOS_IP_OPTIONS` ... */
  environment: Readonly<Record<string, string>>
  /**
   * URL at which Ironic reaches {@link Agent.dispatch}. That of the first start of a boot is used until the next boot.
   */
  callbackUrl: string
  /**
   * Serves {@link callbackUrl} by TLS, with `https` in the URL; without it, there is no TLS. Called once Ironic is
   * known to accept certificates, unless the configuration has `enable_auto_tls = False`.
   */
  tls?: AgentTlsServer
  /** Configuration files, which override the boot's parameters; a later file wins. */
  configFiles?: readonly ConfigFile[]
  /** Transport to Ironic. */
  transport: Transport
  /** Storage of one JSON value across restarts of this process; `write` resolves when it is safe. */
  saved: { read(): unknown; write(value: unknown): Promise<void> }
  /** Reads the target's hardware; {@link readHardware} by default. */
  hardware?: HardwareReader
  clock: Clock
  random: Random
  probe?: Probe
  logger: Logger
  /** UUID of the node, for a machine that cannot be looked up by its MAC addresses. */
  nodeUuid?: string
  /**
   * Serves the API without any Ironic: no inspection, no lookup, no heartbeats. Callers authenticate with this token.
   */
  standalone?: { token: string }
  /** Pace of waits and heartbeats; {@link PROMPT_PACE} by default. */
  pace?: AgentPace
  /** Called with the progress of a running step. */
  onProgress?: (progress: AgentCommandProgress) => void
  /** Called after each attempt at finding Ironic, or the node there, that did not succeed. */
  onSearch?: (search: AgentSearch) => void
  /** Called with the reason when the agent does not send its inspection data again. */
  onGaveUp?: (why: string) => void
}

export interface AgentTlsServer {
  /**
   * Resolves when TLS is served.
   *
   * @param identity identity before this agent restarted; null when there is none yet
   * @param hostname of the machine, for a new certificate's common name
   * @param rules of Ironic, which override the agent's own options
   * @returns the identity in use: a listener that several agents share has one for all
   */
  serve(identity: TlsIdentity | null, hostname: string, rules?: TlsRules): Promise<TlsIdentity>
}

/** An agent that works on a target. */
export interface Agent extends AsyncDisposable {
  /** HTTP API, relative to its mount point. */
  readonly dispatch: Dispatch
  readonly phase: AgentPhase
  /** True if a command runs. */
  readonly isBusy: boolean
  /** UUID of the node, from the lookup. */
  readonly nodeUuid: string | null
  /** Stops like a killed process: running commands stay RUNNING in the saved state. */
  stop(): Promise<void>
}
