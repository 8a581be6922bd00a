import { COMPLETION, CommandFailed } from '../protocol/completion.js'
import { checkChannel } from './app.js'
import type { Bmc, Call } from './command.js'

/** Parameters of a configuration, by their numbers; those that are not there are not supported. */
export type Parameters = Readonly<Record<number, ((bmc: Bmc) => readonly number[]) | undefined>>

/** Revision of the parameters: 1.1. */
const REVISION = 0x11
const REVISION_ONLY = 0x80

/**
 * Carries out a command that reads a parameter: the channel, its number.
 *
 * @throws CommandFailed for another channel, and for an unknown parameter
 */
export const reading =
  (parameters: Parameters) =>
  ({ bmc, data }: Call): number[] => {
    checkChannel(data[0]!)
    if ((data[0]! & REVISION_ONLY) !== 0) return [REVISION]
    const value = parameters[data[1]!]
    if (!value) throw new CommandFailed(COMPLETION.parameterNotSupported)
    return [REVISION, ...value(bmc)]
  }
