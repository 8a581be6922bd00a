import { seededRandom, sharedAbort, type SeededRandom, type SharedAbort } from '../../base/runtime/index.js'
import type { PointKind } from '../points.js'
import { pointsOf, type Fault, type FaultReport } from '../../control/index.js'

/** A fault in force. */
export class ActiveFault {
  struck = 0
  passed = 0
  /** BMCs that are dark because of it, with the lab time until which they are. */
  readonly dark = new Map<string, number>()
  readonly random: SeededRandom
  // Made when something waits for them: there may be a hundred thousand faults.
  #lifted: SharedAbort | undefined
  #ended: SharedAbort | undefined
  /** Kinds of probe points at which it can strike. */
  readonly kinds: readonly PointKind[]
  /** Position among the faults. */
  readonly order: number

  constructor(
    readonly id: string,
    readonly fault: Fault,
    seed: number,
  ) {
    this.random = seededRandom(spreadSeed(seed))
    this.kinds = pointsOf(fault)
    this.order = Number(id.replace(/^\D+/, ''))
  }

  /** Aborted when the fault is lifted. */
  get lifted(): AbortSignal {
    return (this.#lifted ??= sharedAbort()).signal
  }

  /** Aborted when the lab ends, or goes back to a snapshot. */
  get ended(): AbortSignal {
    return (this.#ended ??= sharedAbort()).signal
  }

  /** Lets go of what waits until it is lifted. */
  lift(): void {
    // One that is decided, and strikes only now, waits for nothing either.
    this.#lifted ??= sharedAbort()
    this.#lifted.abort()
  }

  /** Lets go of all that it makes wait: delays end with an error. */
  end(): void {
    this.lift()
    this.#ended ??= sharedAbort()
    this.#ended.abort(new Error('the lab has ended, or gone back to a snapshot'))
  }

  report(): FaultReport {
    return { id: this.id, ...this.fault, struck: this.struck }
  }
}

/**
 * Small seeds begin with numbers that are all close to 1, so that no fault with a probability would strike at its first match.
 * These are the last steps of MurmurHash3, of which each bit changes about half of the result's.
 */
function spreadSeed(seed: number): number {
  let bits = seed | 0
  bits = Math.imul(bits ^ (bits >>> 16), 0x85ebca6b)
  bits = Math.imul(bits ^ (bits >>> 13), 0xc2b2ae35)
  return bits ^ (bits >>> 16)
}
