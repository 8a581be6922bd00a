import type { ImageRules } from '../steps/index.js'
import type { CommandError, CommandStatus, JsonObject, TlsIdentity } from '../base/wire/index.js'

/** An accepted command, from its start to the end of the boot. */
export interface CommandRecord {
  readonly id: string
  /** Without extension: `execute_deploy_step`. */
  readonly name: string
  /** With extension: `deploy.execute_deploy_step`. */
  readonly fullName: string
  readonly status: CommandStatus
  readonly error: CommandError | null
  readonly result: unknown
  /** Parameters; saved only while the command runs, so that it can be resumed. */
  readonly params?: Readonly<Record<string, unknown>>
  /** Last program that it started on the target to change something; only while it runs. */
  readonly run?: string
}

/**
 * State that an agent saves for its restarts on one boot. It is saved before anything that depends on it is answered or
 * done.
 */
export interface SavedState {
  readonly format: 1
  readonly bootId: string
  /** Callback URL of this boot; Ironic refuses heartbeats with another one. */
  readonly callbackUrl: string
  readonly token: string | null
  /** Set by the lookup. */
  readonly nodeUuid: string | null
  /** The highest microversion of this Ironic. */
  readonly ironicVersion: string | null
  /** Seconds between heartbeats that Ironic tolerates. */
  readonly heartbeatTimeout: number
  /** Whether the inventory of this boot has been sent, or need not be. */
  readonly inspected: boolean
  /** Oldest first; at most the last one runs. */
  readonly commands: readonly CommandRecord[]
  /** TLS identity of {@link SavedState.callbackUrl} in this boot; null without TLS, absent until that is decided. */
  readonly tls?: TlsIdentity | null
  /** The node's root device hints when it was last seen. */
  readonly hints?: JsonObject | null
  /** Rules for images from Ironic's answer to the lookup. */
  readonly images?: ImageRules
  /** TLS settings that Ironic demands. */
  readonly tlsRules?: TlsRules
  /** Set when a command has ended the agent's work for this boot. */
  readonly closed?: Closing
}

/** Null means the agent's own options. */
export interface TlsRules {
  readonly minVersion: 'TLSv1.2' | 'TLSv1.3' | null
  /** As OpenSSL lists them. */
  readonly ciphers: string | null
}

/** Reason why an agent stopped working: its user has taken the machine over, or it must not be touched. */
export type Closing = 'rescued' | 'locked down'

/**
 * - `new`: not started
 * - `inspecting`, `looking up`: at the start of a boot; the API is not served yet
 * - `serving`: known to Ironic, sending heartbeats, taking commands
 * - `locked down`: Ironic gave the token to another agent, so no caller can command this one until the next boot
 * - `gave up`: the lookup found nothing for too long; starts over after a pause, as its service manager would have it
 * - `idle`: only an inspection was requested
 * - `rescued`: the machine belongs to its user, who logs in to the ramdisk
 * - `standalone`: taking commands without any Ironic
 */
export type AgentPhase = 'new' | 'inspecting' | 'looking up' | 'idle' | 'serving' | 'standalone' | Closing | 'gave up'

/** Whether the API is served. */
export const isServing = (phase: AgentPhase): boolean => phase === 'serving' || phase === 'standalone'

export interface LiveState {
  readonly phase: AgentPhase
  /** Node of the inspection's answer, for the lookup. */
  readonly inspectedNode: string | null
  /** Attempts in this phase. */
  readonly attempts: number
  /** Attempts that met a locked node. */
  readonly conflicts: number
  /** Start of the lookup. */
  readonly lookupSince: number
  readonly heartbeat: HeartbeatState
}

export interface HeartbeatState {
  /** The heartbeat in flight; `urgent` as it was when that one was sent. */
  readonly inFlight: { readonly urgent: boolean } | null
  /** Time of the last heartbeat. */
  readonly lastAt: number | null
  /** Whether something has happened that no heartbeat has reported. */
  readonly urgent: boolean
  /** Whether Ironic has sent no request since something happened. */
  readonly unanswered: boolean
  /** Number of repeated heartbeats since then. */
  readonly repeats: number
  /** Failed heartbeats in a row. */
  readonly failures: number
  /** Whether the last heartbeat was refused for its token. */
  readonly tokenRefused: boolean
}

export interface AgentState {
  readonly saved: SavedState
  readonly live: LiveState
}

/** Configuration of the agent from its kernel parameters or files. */
export interface AgentConfig {
  /** Roots of Ironic's API, without trailing slash, in the order in which they are tried. */
  readonly apiUrls: readonly string[]
  readonly inspectionUrls: readonly string[]
  /** Milliseconds. */
  readonly lookupTimeout: number
  /** Milliseconds. */
  readonly lookupInterval: number
  /** A token that was built into the ramdisk. */
  readonly agentToken: string | null
}

export function newBoot(bootId: string, callbackUrl: string, config: AgentConfig): SavedState {
  return {
    format: 1,
    bootId,
    callbackUrl,
    token: config.agentToken,
    nodeUuid: null,
    ironicVersion: null,
    heartbeatTimeout: 300,
    inspected: config.inspectionUrls.length === 0,
    commands: [],
  }
}

export function initialState(saved: SavedState): AgentState {
  return {
    saved,
    live: {
      phase: 'new',
      inspectedNode: null,
      attempts: 0,
      conflicts: 0,
      lookupSince: 0,
      heartbeat: {
        inFlight: null,
        lastAt: null,
        urgent: false,
        unanswered: false,
        repeats: 0,
        failures: 0,
        tokenRefused: false,
      },
    },
  }
}

/** The running command. */
export function runningCommand(saved: SavedState): CommandRecord | undefined {
  const last = saved.commands.at(-1)
  return last?.status === 'RUNNING' ? last : undefined
}

export const withSaved = (state: AgentState, changes: Partial<SavedState>): AgentState => ({
  ...state,
  saved: { ...state.saved, ...changes },
})

export const inPhase = (state: AgentState, phase: LiveState['phase']): AgentState => ({
  ...state,
  live: { ...state.live, phase },
})
