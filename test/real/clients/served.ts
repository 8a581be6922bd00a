import { seededRandom } from '../../../runtime/index.js'
import { serve, systemClock, type IronicConfigRequest, type Served } from '../../../lab/index.js'

/** What `ironstage up` runs, on a free port, and what it logged. */
export async function served(ironic: IronicConfigRequest = {}): Promise<Served & { readonly logged: string[] }> {
  const logged: string[] = []
  const running = await serve({
    ...{ ironic, host: '127.0.0.1', port: 0, nodes: 0, stateDir: null, realistic: false },
    clock: systemClock(),
    random: seededRandom(5),
    logger: (level, message) => void (level === 'debug' || logged.push(`${level} ${message}`)),
  })
  return Object.assign(running, { logged })
}
