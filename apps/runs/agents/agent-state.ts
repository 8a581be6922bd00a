import { sha256Hex } from '../../../base/bytes/index.js'
import { userError, type Logger } from '../../../base/runtime/index.js'
import type { GuardedTarget } from '../../../targets/index.js'
import { maskValue } from '../../../control/index.js'

/** State that an agent needs again when its process restarts. */
export interface AgentStateStore {
  /** Port of the last start in this boot; 0 when there was none. */
  readonly port: number
  savePort(port: number): Promise<void>
  read(): unknown
  write(value: unknown): Promise<void>
}

/**
 * Stores an agent's state on the target, in a folder in memory, readable by root only. A running command contains an
 * Ignition config with secrets, which must not be written to a permanent file, and the next boot of the target makes
 * the state useless.
 *
 * @param agent identifies the agent among those of one target
 */
export async function agentStateOnTarget(
  target: GuardedTarget,
  agent: string,
  logger: Logger,
): Promise<AgentStateStore> {
  const name = sha256Hex(agent).slice(0, 16)
  const path = `${target.scratch ?? '/run/ironstage'}/agent-${name}.json`
  let { port, state } = await readState(target, path, logger)
  const save = () => target.executor.files.write(path, Buffer.from(JSON.stringify({ port, state })), { mode: 0o600 })
  return {
    port,
    savePort: async (newPort) => {
      if (newPort === port) return
      port = newPort
      await save()
    },
    read: () => state,
    write: async (value) => {
      state = maskCommandResults(value)
      await save()
    },
  }
}

/**
 * Masks the results of ended commands. A result repeats the step with its Ignition config, of which Ironic reads only
 * the step's name.
 */
function maskCommandResults(value: unknown): unknown {
  if (typeof value !== 'object' || value === null || !('commands' in value) || !Array.isArray(value.commands))
    return value
  const commands = value.commands as readonly { result?: unknown }[]
  return { ...value, commands: commands.map((command) => ({ ...command, result: maskValue(command.result) })) }
}

async function readState(
  target: GuardedTarget,
  path: string,
  logger: Logger,
): Promise<{ port: number; state: unknown }> {
  const nothing = { port: 0, state: undefined }
  const bytes = await target.executor.files.read(path).catch((error: unknown) => {
    if ((error as { code?: unknown }).code === 'ENOENT') return null
    throw error
  })
  if (bytes === null) return nothing
  try {
    const { port, state } = JSON.parse(Buffer.from(bytes).toString('utf8')) as { port?: unknown; state?: unknown }
    return { port: typeof port === 'number' ? port : 0, state }
  } catch {
    logger('warn', `${path} on ${target.name} is not the saved state of an agent: the agent starts without it`)
    return nothing
  }
}

/** Listens on the port of the last start, so that Ironic finds the agent; on another one when that port is taken. */
export async function listenOnSavedPort<T extends { readonly port: number }>(
  state: AgentStateStore,
  logger: Logger,
  open: (port: number) => Promise<T>,
): Promise<T> {
  const listening = await open(state.port).catch((error: unknown) => {
    if (state.port === 0 || userError(error)?.code !== 'port-in-use') throw error
    logger('warn', `port ${state.port}, used before, is taken: Ironic no longer finds the agent; reboot its machine`)
    return open(0)
  })
  await state.savePort(listening.port)
  return listening
}
