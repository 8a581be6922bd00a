import { sha256Hex } from '../../../base/bytes/index.js'
import { UserError } from '../../../base/runtime/index.js'
import type { RealTarget } from '../../runs/index.js'
import { ERRORS } from '../errors.js'

export interface AttachedOptions {
  /** Begins the ids of programs; the same for each attempt of a process that goes on with this one. */
  prefix: string
  /** Ids of programs that an earlier process has started, in order. */
  known: readonly string[]
  /** Stores an id; the program is started after that. */
  starting: (id: string) => Promise<void>
}

/**
 * A target on which every program that changes something has an id that is stored before it starts: a process that goes on
 * after another attaches to that program, and starts none twice.
 */
export function attachedTarget(on: RealTarget, { prefix, known, starting }: AttachedOptions): RealTarget {
  const { executor } = on.target
  let count = 0
  return {
    ...on,
    target: {
      ...on.target,
      executor: {
        files: executor.files,
        attach: (id, offset) => executor.attach(id, offset),
        start: async (command) => {
          if (command.effect === 'reads') return executor.start(command)
          const digest = sha256Hex(JSON.stringify(command.argv.map(lasting))).slice(0, 8)
          const place = `${prefix}.${count++}`
          const id = `${place}.${digest}`
          const other = known.find((each) => each.startsWith(`${place}.`) && each !== id)
          // The run's command line was another one: a start would be a second program beside it.
          if (other !== undefined)
            throw outcomeUnknownError(on.target.name, `its program ${other} was started with other arguments`)
          await starting(id)
          return executor.start({ ...command, id })
        },
      },
    },
  }
}

/** An argument without what differs between processes: port and token of an image that this machine sends. */
const lasting = (argument: string): string => argument.replace(/^http:\/\/[^/]+:\d+\/[0-9a-f]{24}\//, 'http://here/')

export const outcomeUnknownError = (name: string, why: string): UserError =>
  new UserError('outcome-unknown', `${name}: ${why}; nothing more was written`, {
    remedy: ERRORS['outcome-unknown'].remedy,
  })
