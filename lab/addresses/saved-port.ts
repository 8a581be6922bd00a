import { userError, type Logger } from '../../base/runtime/index.js'
import type { StateFolder } from '../state/state-folder.js'

interface SavedPortOptions {
  folder: StateFolder | null
  logger: Logger
  /** A port that the caller chose, which is neither saved nor replaced by another; 0 for none. */
  wanted?: number
}

/**
 * Listens on the port of the last start, which machines and agents from then still use; on a free port the first time.
 *
 * @param name name of the port in the folder
 * @param lost consequence and remedy, for the warning, when the port is taken
 * @throws UserError when it cannot listen
 */
export async function openOnSavedPort<T extends { readonly port: number }>(
  name: string,
  lost: string,
  { folder, logger, wanted = 0 }: SavedPortOptions,
  open: (port: number) => Promise<T>,
): Promise<T> {
  if (wanted > 0) return open(wanted)
  const before = Number(folder?.remembered(name) ?? 0)
  const listening = await open(before).catch((error: unknown) => {
    if (before === 0 || userError(error)?.code !== 'port-in-use') throw error
    logger('warn', `port ${before}, used before, is taken: ${lost}`)
    return open(0)
  })
  folder?.remember(name, String(listening.port))
  return listening
}

/** Ports of many things that listen, by their names, as the last start had them. */
export interface SavedPorts {
  /** 0 for a name that had none. */
  of(name: string): number
  save(ports: ReadonlyMap<string, number>): void
}

/**
 * The ports under one name of a folder; without a folder there are none.
 *
 * @param first the first of the ports, where the caller chose it: each choice has ports of its own
 */
export function savedPorts(folder: StateFolder | null, what: string, first = 0): SavedPorts {
  const name = first === 0 ? what : `${what} from ${first}`
  const before = JSON.parse(folder?.remembered(name) ?? '{}') as Record<string, number>
  return {
    of: (each) => before[each] ?? 0,
    save: (ports) => folder?.remember(name, JSON.stringify(Object.fromEntries(ports))),
  }
}
