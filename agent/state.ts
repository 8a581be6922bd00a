import type { ImageRules } from '../steps/index.js'
import type { CommandError, CommandStatus, JsonObject, TlsIdentity } from '../wire/index.js'

/** A command that was accepted, from its start to the end of the boot. */
export interface CommandRecord {
  readonly id: string
  /** Without extension: `execute_deploy_step`. */
  readonly name: string
  /** With extension: `deploy.execute_deploy_step`. */
  readonly fullName: string
  readonly status: CommandStatus
  readonly error: CommandError | null
  readonly result: unknown
  /** What it was called with; only while it runs, so that it can be taken up again. */
  readonly params?: Readonly<Record<string, unknown>>
  /** The last program that it started on the target to change something; only while it runs. */
  readonly run?: string
}

/** What an agent keeps over its own restarts on one boot. Written before what it stands for is answered or acted on. */
export interface KeptState {
  readonly format: 1
  readonly bootId: string
  /** Where Ironic reaches this boot's agent; Ironic refuses heartbeats with another one. */
  readonly callbackUrl: string
  readonly token: string | null
  /** Set by the lookup. */
  readonly nodeUuid: string | null
  /** The highest microversion of this Ironic. */
  readonly ironicVersion: string | null
  /** Seconds between heartbeats that Ironic tolerates. */
  readonly heartbeatTimeout: number
  /** Whether this boot's inventory needs no more posting. */
  readonly inspected: boolean
  /** Oldest first; at most the last one runs. */
  readonly commands: readonly CommandRecord[]
  /** What {@link KeptState.callbackUrl} is served with in this boot; null without TLS, absent until that is decided. */
  readonly tls?: TlsIdentity | null
  /** The node's root device hints when it was last seen. */
  readonly hints?: JsonObject | null
  /** What Ironic said of images when it was asked for the node. */
  readonly images?: ImageRules
  /** How Ironic wants to be served by TLS. */
  readonly tlsRules?: TlsRules
  /** A command has ended the agent's work for this boot. */
  readonly closed?: Closing
}

/** Null leaves it to the agent's own options. */
export interface TlsRules {
  readonly minVersion: 'TLSv1.2' | 'TLSv1.3' | null
  /** As OpenSSL lists them. */
  readonly ciphers: string | null
}

/** Why an agent that was at work is not any more: the machine is somebody else's, or must not be touched. */
export type Closing = 'rescued' | 'locked down'

/**
 * - `new`: not started
 * - `inspecting`, `looking up`: at the start of a boot; the API is not served yet
 * - `serving`: known to Ironic, heartbeating, taking commands
 * - `locked down`: Ironic gave the token to somebody else, so nobody may command this agent until the next boot
 * - `gave up`: the lookup found nothing for too long; starts over in a moment, as its service manager would have it
 * - `idle`: nothing was asked for beyond an inspection
 * - `rescued`: the machine is its user's, who logs in to the ramdisk
 * - `standalone`: taking commands without any Ironic
 */
export type Phase = 'new' | 'inspecting' | 'looking up' | 'idle' | 'serving' | 'standalone' | Closing | 'gave up'

/** Whether the API is there for others. */
export const isServing = (phase: Phase): boolean => phase === 'serving' || phase === 'standalone'

export interface LiveState {
  readonly phase: Phase
  /** The node that the inspection found, for the lookup. */
  readonly inspectedNode: string | null
  /** Attempts at what the phase is about. */
  readonly attempts: number
  /** How many of them met a locked node. */
  readonly conflicts: number
  /** When the lookup began. */
  readonly lookupSince: number
  readonly heartbeat: HeartbeatState
}

export interface HeartbeatState {
  /** Set while one is on its way; `urgent` is what `urgent` was when it left. */
  readonly underWay: { readonly urgent: boolean } | null
  /** When the last one was sent. */
  readonly lastAt: number | null
  /** Something has happened that no heartbeat has told since. */
  readonly urgent: boolean
  /** Ironic has asked for nothing since something happened. */
  readonly unheard: boolean
  /** How often that was said again. */
  readonly repeats: number
  /** In a row. */
  readonly failures: number
  /** The last one was refused for its token. */
  readonly tokenRefused: boolean
}

export interface AgentState {
  readonly kept: KeptState
  readonly live: LiveState
}

/** What the agent was told at its start, by its kernel's command line or its configuration. */
export interface AgentConfig {
  /** Roots of Ironic's API, without trailing slash, in the order in which they are tried. */
  readonly apiUrls: readonly string[]
  readonly inspectionUrls: readonly string[]
  /** Milliseconds. */
  readonly lookupTimeout: number
  /** Milliseconds. */
  readonly lookupInterval: number
  /** A token that was put into the ramdisk beforehand. */
  readonly agentToken: string | null
}

export function newBoot(bootId: string, callbackUrl: string, config: AgentConfig): KeptState {
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

export function initialState(kept: KeptState): AgentState {
  return {
    kept,
    live: {
      phase: 'new',
      inspectedNode: null,
      attempts: 0,
      conflicts: 0,
      lookupSince: 0,
      heartbeat: {
        underWay: null,
        lastAt: null,
        urgent: false,
        unheard: false,
        repeats: 0,
        failures: 0,
        tokenRefused: false,
      },
    },
  }
}

/** The command under way. */
export function runningCommand(kept: KeptState): CommandRecord | undefined {
  const last = kept.commands.at(-1)
  return last?.status === 'RUNNING' ? last : undefined
}
