import { defined } from '../../base/runtime/index.js'
import { runToEnd } from '../../steps/index.js'
import type { TargetCapability, TargetCommand, Target } from '../../targets/index.js'
import { AgentError } from '../../base/wire/index.js'
import type { CommandRecord } from '../agent-phases.js'
import type { CommandContext, Extension } from './extension.js'
import { checkImageInfo } from './check-image-info.js'
import { managerStep } from '../agent-managers.js'

/** Extension `standby`: writes an image, and switches the machine off or reboots it. */
export const standbyExtension: Extension = {
  prepare_image: {
    kind: 'async',
    required: ['image_info'],
    optional: ['configdrive'],
    validate: ({ image_info: info }, validation) => checkImageInfo(info, validation),
    run: ({ image_info, configdrive = null }, context) =>
      managerStep('write_image', { image_info, configdrive }, { node: context.node(), ports: [] }, context),
  },
  execute_bootc_install: {
    kind: 'async',
    required: ['image_source'],
    optional: ['instance_info', 'pull_secret', 'configdrive'],
    run: ({ image_source, instance_info, configdrive = null, pull_secret: oci_pull_secret = null }, context) => {
      const args = { image_source, configdrive, oci_pull_secret }
      const node = { ...context.node(), ...defined({ instance_info }) }
      return managerStep('execute_bootc_install', args, { node, ports: [] }, context)
    },
  },
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
  get_partition_uuids: {
    kind: 'sync',
    required: [],
    optional: [],
    run: async (_params, { commands }) => partitionUuids(commands()),
  },
}

/** UUIDs of the partitions that the last `prepare_image` wrote; empty without that command. */
function partitionUuids(commands: readonly CommandRecord[]): Record<string, string> {
  const last = commands.findLast(({ name, status }) => name === 'prepare_image' && status === 'SUCCEEDED')
  const text = (last?.result as { result?: unknown } | null | undefined)?.result
  if (typeof text !== 'string') return {}
  const root = / root_uuid=(\S+)/.exec(text)?.[1]
  const efi = / efi_system_partition_uuid=(\S+)/.exec(text)?.[1]
  return defined({ 'root uuid': root, 'efi system partition uuid': efi })
}

async function shutDown(
  argv: TargetCommand['argv'],
  capability: TargetCapability,
  what: string,
  { target, signal }: CommandContext,
): Promise<null> {
  if (!target.has(capability))
    throw new AgentError('SystemRebootError', `${target.name} may not be ${what}: its target does not allow it`)
  await flush(target, signal)
  const { exit, stderr } = await runToEnd(target.executor, argv, { effect: 'writes', signal })
  // The program ends with the machine, so only an exit code means that the machine stayed on.
  if (exit.kind === 'exited' && exit.code !== 0)
    throw new AgentError('SystemRebootError', `${argv.join(' ')} ended with exit code ${exit.code}: ${stderr.trim()}`)
  return null
}

async function flush(target: Target, signal: AbortSignal): Promise<void> {
  const { exit, stderr } = await runToEnd(target.executor, ['sync'], { effect: 'writes', signal })
  if (exit.kind === 'exited' && exit.code !== 0)
    throw new AgentError('CommandExecutionError', `sync ended with exit code ${exit.code}: ${stderr.trim()}`)
}
