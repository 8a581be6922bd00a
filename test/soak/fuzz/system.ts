import type { StoreView } from '../../../ironic-mock/index.js'
import type { NodeRecord, WireRequest, WireResponse } from '../../../base/wire/index.js'

/** A request whose target is below the API's root. */
export type Asked = Omit<WireRequest, 'base'>

/** Something that serves Ironic's API, as a fuzzing session uses it. */
export interface System extends AsyncDisposable {
  /** Where the records are now; another one after a {@link restart}. */
  readonly view: () => StoreView
  /** Resolves with the answer; undefined when this way of asking cannot carry such a request. */
  send(request: Asked): Promise<WireResponse | undefined>
  /** Waits for a promise in the system's own time. */
  wait<T>(awaited: Promise<T>): Promise<T>
  /** Lets milliseconds of the system's time pass. */
  pass(ms: number): Promise<void>
  /** Tells of every node after each of its commits. */
  watch(watcher: Watcher): void
  /** Makes something go wrong for a while: a BMC or an agent that is silent, a broken disk. */
  trouble(node: string, dice: number): void
  /** Ends all trouble. */
  calm(): void
  /** Ends the process, as far as that can be done in one, and begins another on what it had written. */
  restart(): Promise<void>
  /** Documents of nodes as they are registered here. */
  newNode(dice: number): Record<string, unknown>
  /** Answers that are none of Ironic's making: of a BMC that does not answer, or did not lately. */
  readonly excused: readonly number[]
  /** After how many calls it is left alone until it rests. */
  readonly restEvery: number
}

export interface Watcher {
  seen(node: Readonly<NodeRecord>): void
  gone(uuid: string): void
}
