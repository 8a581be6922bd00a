import { userError, type Logger } from '../../runtime/index.js'
import type { StateFolder } from '../state/state-folder.js'

/**
 * Listens on the port of the last start, which machines and agents from then still use; on a free port the first time.
 *
 * @param name name of the port in the folder
 * @param lost consequence, for the warning, when the port is taken
 * @throws UserError when it cannot listen
 */
export async function openOnSavedPort<T extends { readonly port: number }>(
  name: string,
  lost: string,
  { folder, logger }: { folder: StateFolder | null; logger: Logger },
  open: (port: number) => Promise<T>,
): Promise<T> {
  const before = Number(folder?.remembered(name) ?? 0)
  const listening = await open(before).catch((error: unknown) => {
    if (before === 0 || userError(error)?.code !== 'port-in-use') throw error
    logger('warn', `port ${before}, used before, is taken: ${lost}`)
    return open(0)
  })
  folder?.remember(name, String(listening.port))
  return listening
}
