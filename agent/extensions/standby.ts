import { finish, type Capability, type Command, type Target } from '../../steps/index.js'
import { AgentError } from '../../wire/index.js'
import type { CommandContext, Extension } from './extension.js'

/** The extension `standby`: what ends the ramdisk's work. */
export const standbyExtension: Extension = {
  power_off: {
    kind: 'async',
    required: [],
    optional: [],
    run: (_params, context) => shutDown(['systemctl', 'poweroff'], 'power', 'powered off', context),
  },
  run_image: {
    kind: 'async',
    required: [],
    optional: [],
    run: (_params, context) => shutDown(['systemctl', 'reboot'], 'reboot', 'rebooted', context),
  },
  sync: {
    kind: 'sync',
    required: [],
    optional: [],
    run: async (_params, { target, signal }) => {
      await flush(target, signal)
      return null
    },
  },
  // What prepare_image learned of the partitions it wrote; without that command there are none.
  get_partition_uuids: { kind: 'sync', required: [], optional: [], run: async () => ({}) },
}

async function shutDown(
  argv: Command['argv'],
  capability: Capability,
  what: string,
  { target, signal }: CommandContext,
): Promise<null> {
  if (!target.has(capability))
    throw new AgentError('SystemRebootError', `${target.name} may not be ${what}: its target does not allow it`)
  await flush(target, signal)
  const { exit, stderr } = await finish(target.executor, argv, { effect: 'writes', signal })
  // A machine that goes down takes the program along, so only an exit code says that it stayed up.
  if (exit.kind === 'exited' && exit.code !== 0)
    throw new AgentError('SystemRebootError', `${argv.join(' ')} ended with exit code ${exit.code}: ${stderr.trim()}`)
  return null
}

async function flush(target: Target, signal: AbortSignal): Promise<void> {
  const { exit, stderr } = await finish(target.executor, ['sync'], { effect: 'writes', signal })
  if (exit.kind === 'exited' && exit.code !== 0)
    throw new AgentError('CommandExecutionError', `sync ended with exit code ${exit.code}: ${stderr.trim()}`)
}
