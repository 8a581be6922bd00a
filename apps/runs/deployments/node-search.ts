import type { AgentSearch } from '../../../agent/index.js'
import { seconds, UserError, type Clock, type Logger } from '../../../base/runtime/index.js'
import { ERRORS } from '../errors.js'

export interface NodeSearchParts {
  clock: Clock
  logger: Logger
  /** Called when the agent will not find its node. */
  onFailure: (why: UserError) => void
}

/** Wait for an agent that does not find its node, in milliseconds. */
const MAX_SEARCH_TIME = seconds(30)

/** Limits the search of an agent for its node: the Ironic itself would wait for half an hour, and say nothing. */
export class NodeSearch {
  readonly #parts: NodeSearchParts
  #since: number | undefined

  constructor(parts: NodeSearchParts) {
    this.#parts = parts
  }

  /** Must be called for each new agent. */
  restart(): void {
    this.#since = undefined
  }

  /** Must be called after each attempt that did not succeed. */
  tried({ why }: AgentSearch): void {
    const { clock, logger, onFailure } = this.#parts
    const now = clock.now()
    if (this.#since === undefined) logger('warn', `agent: the node is not found yet: ${why}`)
    this.#since ??= now
    if (now - this.#since < MAX_SEARCH_TIME) return
    onFailure(
      new UserError('no-agent', `the agent has not found its node for ${MAX_SEARCH_TIME / 1000} s: ${why}`, {
        remedy: ERRORS['no-agent'].remedy,
      }),
    )
  }
}
