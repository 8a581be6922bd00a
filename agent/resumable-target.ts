import { defined } from '../base/runtime/index.js'
import { sha256Hex } from '../base/bytes/index.js'
import type { TargetCommand, Target } from '../targets/index.js'

/**
 * Target on which every program that changes something has an id, derived from its command, its argv and its number. An
 * agent that restarts and runs the command again so attaches to the earlier programs instead of starting them twice:
 * {@link Executor.start} is idempotent by id.
 *
 * @param starting called before a program starts; saves its id
 */
export function resumableTarget(target: Target, commandId: string, starting: (run: string) => Promise<void>): Target {
  let count = 0
  const identified = (command: TargetCommand): string => {
    const digest = sha256Hex(JSON.stringify(command.argv)).slice(0, 8)
    return command.id ?? `${commandId}.${count++}.${digest}`
  }
  return {
    name: target.name,
    disks: target.disks,
    clock: target.clock,
    ...defined({
      scratch: target.scratch,
      stage: target.stage,
      diskFile: target.diskFile,
      readsPartitions: target.readsPartitions,
      installerFails: target.installerFails,
    }),
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
