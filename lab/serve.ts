import { IPA_PACE } from '../agent/index.js'
import { Scope, UserError, type Clock, type Logger, type Random } from '../runtime/index.js'
import type { HardwareManager } from '../steps/index.js'
import type { LabEvent } from './events.js'
import { REALISTIC_MACHINES } from './realistic.js'
import { stage, type Stage } from './stage.js'
import { openStateFolder } from './state-folder.js'

export interface ServeOptions {
  host: string
  port: number
  /** Simulated machines to have, each with a node. */
  nodes: number
  stateDir: string | null
  realistic: boolean
  /** What agents offer; the standard managers unless told otherwise. */
  managers?: readonly HardwareManager[]
  clock: Clock
  random: Random
  logger: Logger
  onEvent?: (event: LabEvent) => void
}

export interface Served extends AsyncDisposable {
  readonly stage: Stage
  /** Of the API, without `/v1`. */
  readonly url: string
}

/**
 * What `ironstage up` runs: an Ironic on a port, with machines.
 *
 * @throws UserError for an address that others can reach, a port that is taken, a folder that cannot be used
 */
export async function serve(options: ServeOptions): Promise<Served> {
  refuseOthers(options.host)
  const { host, port, clock, random, logger, onEvent } = options
  const scope = new Scope()
  try {
    const folder = options.stateDir === null ? null : scope.use(await openStateFolder(options.stateDir))
    const running = scope.use(
      await stage({
        ...{ folder, network: { host, port }, clock, random, logger },
        ...(options.realistic ? { machinePace: REALISTIC_MACHINES, agentPace: IPA_PACE, agentTls: true } : {}),
        ...(options.managers ? { managers: options.managers } : {}),
        ...(onEvent ? { onEvent } : {}),
      }),
    )
    for (let n = 1; n <= options.nodes; n++) await running.enroll(running.spec(n), { name: `node-${n - 1}` })
    return { stage: running, url: running.url, [Symbol.asyncDispose]: () => scope[Symbol.asyncDispose]() }
  } catch (error) {
    await scope[Symbol.asyncDispose]()
    throw error
  }
}

/** Whoever reaches the API may switch machines on and erase their disks, and it asks nobody for a password. */
function refuseOthers(host: string): void {
  if (/^(127(\.\d+){3}|::1|localhost)$/.test(host)) return
  throw new UserError('not-loopback', `${host} can be reached from outside, and this API asks nobody who they are`, {
    remedy: 'listen on 127.0.0.1, and let others in through a proxy that authenticates them or an SSH tunnel',
    kind: 'usage',
  })
}
