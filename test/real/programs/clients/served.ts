import { seededRandom } from '../../../../base/runtime/index.js'
import { serve, type ServedLab } from '../../../../lab/index.js'
import { systemClock } from '../../../../base/runtime/index.js'
import type { IronicConfigRequest } from '../../../../ironic-mock/index.js'

/** Milliseconds that clients may take with a cold cache; most of it is their installation. */
export const INSTALLATION = 900_000

export interface ServedIronic extends ServedLab {
  /** Log lines above the debug level. */
  readonly logged: readonly string[]
}

/** Starts the servers of `ironstage up` on a free port. */
export async function served(ironic: IronicConfigRequest = {}): Promise<ServedIronic> {
  const logged: string[] = []
  const running = await serve({
    ironic,
    host: '127.0.0.1',
    port: 0,
    nodes: 0,
    stateDir: null,
    realistic: false,
    clock: systemClock(),
    random: seededRandom(5),
    logger: (level, message) => void (level === 'debug' || logged.push(`${level} ${message}`)),
  })
  return Object.assign(running, { logged })
}
