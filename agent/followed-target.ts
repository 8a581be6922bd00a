import { createHash } from 'node:crypto'
import type { Command, Target } from '../targets/index.js'

/**
 * A target on which every program that changes something has an id derived from the command that started it, what it is
 * and which one it was. An agent that restarts and runs the command again so finds the programs of the first time
 * instead of starting them twice: {@link Executor.start} is idempotent by id.
 *
 * @param starting told before a program starts, and kept before it does
 */
export function followedTarget(target: Target, commandId: string, starting: (run: string) => Promise<void>): Target {
  let count = 0
  const identified = (command: Command): string => {
    const digest = createHash('sha256').update(JSON.stringify(command.argv)).digest('hex').slice(0, 8)
    return command.id ?? `${commandId}.${count++}.${digest}`
  }
  return {
    name: target.name,
    disks: target.disks,
    clock: target.clock,
    ...(target.scratch === undefined ? {} : { scratch: target.scratch }),
    ...(target.stage === undefined ? {} : { stage: target.stage }),
    ...(target.diskFile === undefined ? {} : { diskFile: target.diskFile }),
    hostPath: (path) => target.hostPath(path),
    has: (capability) => target.has(capability),
    executor: {
      files: target.executor.files,
      attach: (id, offset) => target.executor.attach(id, offset),
      start: async (command) => {
        if (command.effect === 'reads') return target.executor.start(command)
        const id = identified(command)
        await starting(id)
        return target.executor.start({ ...command, id })
      },
    },
  }
}
