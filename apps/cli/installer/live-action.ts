import { FormatError } from '../../../base/bytes/index.js'
import { systemClock } from '../../../base/runtime/index.js'
import type { LiveCommand } from './live-input.js'
import type { CommandAction } from '../command-action.js'
import { failureText, isSystemError } from '../../../coreos/index.js'

/** Work on live images as an action; it fails with coreos-installer's words and exit code. */
export const liveAction =
  <O>(
    work: (operands: (string | undefined)[], options: O, command: LiveCommand) => Promise<void> | void,
  ): CommandAction<O> =>
  async (operands, options, environment) => {
    try {
      await work(operands as (string | undefined)[], options, { environment, clock: systemClock() })
      return 0
    } catch (error) {
      if (!(error instanceof FormatError) && !isSystemError(error)) throw error
      environment.stderr.program(failureText(error))
      return 1
    }
  }
