import { readFileSync } from 'node:fs'
import type { Shape } from './conforms.js'

/** A look at the node: what matters of it. */
export interface Look {
  state: [string, string | null]
  power: [string | null, string | null]
  locked: boolean
  last_error?: string
  step?: string
  /** Where the node was in maintenance. */
  fault?: string | null
  /** Row of {@link LifecycleRecording.internals}. */
  internal: number
}

/** One exchange of a lifecycle with a real Ironic and a real agent, as `distil-lifecycle.mjs` keeps it. */
export interface LifecycleExchange {
  seq: number
  step: string
  from: 'client' | 'agent' | 'ironic'
  to: 'ironic' | 'agent'
  method: string
  path: string
  /** Microversion asked for. */
  version?: string
  /** The body of a client's request, which the replay sends again. */
  body?: unknown
  /** Row of the shapes: what an agent or Ironic sent. */
  request?: number
  command?: string
  status: number
  error?: string
  answer?: number
  node?: Look
  history?: string[]
  /** True if a lookup gave the token. */
  token?: 'given' | 'masked'
}

export interface LifecycleRecording {
  /** Keys of driver_internal_info. */
  internals: string[][]
  shapes: Shape[]
  exchanges: LifecycleExchange[]
}

export const readLifecycle = (name: string): LifecycleRecording =>
  JSON.parse(
    readFileSync(new URL(`../fixtures/recordings/${name}.json`, import.meta.url), 'utf8'),
  ) as LifecycleRecording
