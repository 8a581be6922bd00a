import { createHash } from 'node:crypto'
import { userError, type Logger } from '../../runtime/index.js'
import type { GuardedTarget } from '../../targets/index.js'
import { masked } from '../../lab/index.js'

/** What an agent has to find again when its process starts anew. */
export interface KeptOnTarget {
  /** Of the last start in this boot; 0 when there was none. */
  readonly port: number
  keepPort(port: number): Promise<void>
  read(): unknown
  write(value: unknown): Promise<void>
}

/**
 * Keeps an agent's state on the target itself, in its folder in memory, readable for root only: a command that is being
 * carried out has an Ignition config with secrets, which belongs into no file that stays, and a boot of the target makes
 * all of it worthless anyway.
 *
 * @param whose tells agents of one target apart
 */
export async function keptOnTarget(target: GuardedTarget, whose: string, logger: Logger): Promise<KeptOnTarget> {
  const name = createHash('sha256').update(whose).digest('hex').slice(0, 16)
  const path = `${target.scratch ?? '/run/ironstage'}/agent-${name}.json`
  let { port, state } = await earlier(target, path, logger)
  const save = () => target.executor.files.write(path, Buffer.from(JSON.stringify({ port, state })), { mode: 0o600 })
  return {
    port,
    keepPort: async (given) => {
      if (given === port) return
      port = given
      await save()
    },
    read: () => state,
    write: async (value) => {
      state = withoutSecrets(value)
      await save()
    },
  }
}

/**
 * Without the configs that a command which has ended echoes in its result, as its step was given them: whoever reads that
 * looks for the step's name only.
 */
function withoutSecrets(value: unknown): unknown {
  if (typeof value !== 'object' || value === null || !('commands' in value) || !Array.isArray(value.commands))
    return value
  const commands = value.commands as readonly { result?: unknown }[]
  return { ...value, commands: commands.map((command) => ({ ...command, result: masked(command.result) })) }
}

async function earlier(target: GuardedTarget, path: string, logger: Logger): Promise<{ port: number; state: unknown }> {
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
    logger('warn', `${path} on ${target.name} cannot be read as what an agent keeps: it begins anew`)
    return nothing
  }
}

/** Listens where the last start did, so that Ironic finds the agent; elsewhere when somebody has taken that port. */
export async function onPortOf<T extends { readonly port: number }>(
  kept: KeptOnTarget,
  logger: Logger,
  open: (port: number) => Promise<T>,
): Promise<T> {
  const listening = await open(kept.port).catch((error: unknown) => {
    if (kept.port === 0 || userError(error)?.code !== 'port-in-use') throw error
    logger('warn', `port ${kept.port}, used before, is taken: Ironic no longer finds the agent`)
    return open(0)
  })
  await kept.keepPort(listening.port)
  return listening
}
