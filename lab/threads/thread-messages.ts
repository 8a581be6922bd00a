import type { LabEvent } from '../lab-events.js'
import type { Fault } from '../../control/index.js'
import type { MachineSpec } from '../../machine/index.js'
import type { DeployRequest } from '../lab.js'
import type { ThreadedLabOptions } from './threaded-lab-types.js'
import type { CrossingError } from './crossing-error.js'

/** Starts a thread: what each of its shards is made of. */
export interface ThreadSettings {
  options: Omit<ThreadedLabOptions, 'threads'>
  shardSize: number
}

/** A request that has an answer. A node is named by its number in the lab, from 1. */
export type Question =
  /** Makes the shard, if there is none. */
  | { kind: 'open'; id: number }
  | {
      kind: 'enroll'
      id: number
      node: number
      machine?: MachineSpec
      fields?: Record<string, unknown>
      deployment: DeployRequest
    }
  | { kind: 'get' | 'makeAvailable' | 'deploy' | 'settled'; id: number; node: number }
  | { kind: 'provision'; id: number; node: number; target: string; more?: object }

/** A request to a shard. */
export type Request =
  | Question
  | { kind: 'add-fault'; fault: number; settings: Fault }
  | { kind: 'remove-fault'; fault: number }
  | { kind: 'listen'; on: boolean }
  /** The caller waits for nothing any more. */
  | { kind: 'forget' }

/** Asks a thread to let its shards go on: each up to its next answer, and not beyond a limit in lab time. */
export interface Round {
  /** Requests by the number of their shard, in the order in which they were made. */
  requests: [shard: number, requests: Request[]][]
  /** A shard that has stood still goes on to this time, in milliseconds since the start, before it takes requests. */
  from: number
  until: number
  /** Moves the clocks of all shards, not only of those that owe an answer. */
  all: boolean
}

export type ShardAnswer = { id: number; value: unknown } | { id: number; error: CrossingError }

/** Result of a round in one thread. */
export interface RoundReport {
  answers: ShardAnswer[]
  /** Each shard's are in their order. */
  events: { shard: number; at: number; event: LabEvent }[]
  /** The farthest that a clock has come, in milliseconds since the start. */
  reached: number
  /** True if a timer is set that may lead to an answer. */
  goesOn: boolean
}
