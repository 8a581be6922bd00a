import type { Clock, ConfigFile, Logger, Probe, Random } from '../runtime/index.js'
import type { HardwareManager } from '../steps/index.js'
import type { Target } from '../targets/index.js'
import type { Dispatch, TlsIdentity, Transport } from '../wire/index.js'
import type { AgentProgress } from './command-runner.js'
import type { HardwareReader } from './inspection.js'
import type { AgentPace } from './pace.js'
import type { Phase, TlsRules } from './state.js'

export interface AgentOptions {
  target: Target
  managers: readonly HardwareManager[]
  /** This boot of the machine and the kernel parameters that its ramdisk was given (`ipa-api-url` ...). */
  boot: { id: string; parameters: Readonly<Record<string, string>> }
  /** Of the agent's process: `IPA_COREOS_IP_OPTIONS` ... */
  environment: Readonly<Record<string, string>>
  /** Where Ironic reaches {@link Agent.dispatch}. The one of the boot's first start stays in force until the next boot. */
  callbackUrl: string
  /**
   * Makes {@link callbackUrl} be served by TLS, with `https` in its place; without, an agent is served without TLS. Asked
   * once Ironic is known to take certificates, unless the configuration says `enable_auto_tls = False`.
   */
  tls?: AgentTls
  /** Override the boot's parameters, later files the earlier ones. */
  configFiles?: readonly ConfigFile[]
  /** To Ironic. */
  transport: Transport
  /** Keeps one JSON value over restarts of this process; resolves once it is safe. */
  saved: { read(): unknown; write(value: unknown): Promise<void> }
  /** Reads what the target is made of; {@link readHardware} unless told otherwise. */
  hardware?: HardwareReader
  clock: Clock
  random: Random
  probe?: Probe
  logger: Logger
  /** The node to look up by its uuid, where its MAC addresses do not lead to it. */
  nodeUuid?: string
  /** Serves its API without any Ironic: no inspection, no lookup, no heartbeats. Whoever commands it has this token. */
  standalone?: { token: string }
  /** {@link PROMPT_PACE} unless told otherwise. */
  pace?: AgentPace
  /** Told where a running step is. */
  onProgress?: (progress: AgentProgress) => void
}

export interface AgentTls {
  /**
   * Resolves when it is so.
   *
   * @param kept what it was served with before this agent restarted; null when there is nothing yet
   * @param hostname of the machine, for a new certificate's common name
   * @param rules of Ironic; they go before the agent's own options
   * @returns what it is served with now: a listener that several agents share has one identity for all
   */
  serve(kept: TlsIdentity | null, hostname: string, rules?: TlsRules): Promise<TlsIdentity>
}

/** An agent at work on a target. */
export interface Agent extends AsyncDisposable {
  /** Its HTTP API, relative to where it is mounted. */
  readonly dispatch: Dispatch
  readonly phase: Phase
  /** As Ironic called it at the lookup. */
  readonly nodeUuid: string | null
  /** Ends as a killed process would: running commands stay RUNNING in what is kept. */
  stop(): Promise<void>
}
