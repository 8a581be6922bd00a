import { COMPLETION, IpmiCommandError } from '../protocol/completion.js'
import { checkChannel } from './app-commands.js'
import type { CommandBmc, IpmiCall } from './command.js'

/** Parameters of a configuration, by their numbers; those that are not there are not supported. */
export type Parameters = Readonly<Record<number, ((bmc: CommandBmc) => readonly number[]) | undefined>>

/** Revision of the parameters: 1.1. */
const REVISION = 0x11
const REVISION_ONLY = 0x80

/**
 * Carries out a command that reads a parameter: the channel, its number.
 *
 * @throws CommandFailed for another channel, and for an unknown parameter
 */
export const parameterReader =
  (parameters: Parameters) =>
  ({ bmc, data }: IpmiCall): number[] => {
    checkChannel(data[0]!)
    if ((data[0]! & REVISION_ONLY) !== 0) return [REVISION]
    const value = parameters[data[1]!]
    if (!value) throw new IpmiCommandError(COMPLETION.parameterNotSupported)
    return [REVISION, ...value(bmc)]
  }
