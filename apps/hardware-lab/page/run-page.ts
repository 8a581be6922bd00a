import { join } from 'node:path'
import { machineControl, PAGE_PATH, serveControl, type MachineControl } from '../../../lab/index.js'
import { NO_PACE, openMachines } from '../../../machine/index.js'
import { openInScope, Probe, seconds, type Clock, type Logger, type Random } from '../../../base/runtime/index.js'
import type { Dispatch, HttpServer } from '../../../base/wire/index.js'
import { SavedAddresses } from '../saved-addresses.js'
import type { RunFollower } from './run-follower.js'

/** The dashboard of a run, on loopback. */
export interface RunPage extends AsyncDisposable {
  readonly url: string
  /** Waits until the pages that follow the run have seen its end; not for long, nor after the signal. */
  seen(signal: AbortSignal): Promise<void>
}

/** A page that has not asked for longer is closed, or was never opened. */
const FOLLOWER_TIMEOUT = seconds(3)
const FOLLOWER_POLL_INTERVAL = 50

export interface RunPageOptions {
  /** Control API of the machines of a rehearsal; real hosts have none that it could show. */
  control?: MachineControl
  /** State folder of the run: a page that is open in a browser finds the process that goes on with it. */
  folder?: string
  clock: Clock
  random: Random
  logger: Logger
}

export function openRunPage(
  follower: RunFollower,
  { control, folder, clock, random, logger }: RunPageOptions,
): Promise<RunPage> {
  return openInScope(async (scope) => {
    const api = (control ?? (await controlOfRealHosts())).dispatch()
    let asked = -Infinity
    let askedWhenOver = false
    const dispatch: Dispatch = async (request) => {
      const answer = await api(request)
      if (/\/_lab\/run$/.test(request.target)) {
        asked = clock.now()
        askedWhenOver ||= follower.isOver
      }
      return answer
    }
    const open = (port: number) => serveControl({ dispatch, port, clock, logger })
    const server = scope.use(await (folder === undefined ? open(0) : openWhereItWas(folder, open)))
    return {
      url: `${server.url}${PAGE_PATH}/#/run`,
      seen: async (signal) => {
        while (!askedWhenOver && !signal.aborted && clock.now() - asked < FOLLOWER_TIMEOUT)
          await clock.sleep(FOLLOWER_POLL_INTERVAL)
        // The answer is on its way.
        if (askedWhenOver) await clock.sleep(FOLLOWER_POLL_INTERVAL)
      },
      [Symbol.asyncDispose]: () => scope[Symbol.asyncDispose](),
    }

    async function controlOfRealHosts(): Promise<MachineControl> {
      const probe = new Probe()
      const events = { ramdiskUp: () => {}, down: () => {} }
      const machines = scope.use(
        await openMachines({ stateDir: null, clock, random, probe, logger, pace: NO_PACE, events }),
      )
      const real = machineControl({
        probe,
        clock,
        logger,
        seed: 1,
        machines: () => machines,
        page: true,
        run: follower.progress,
        isReal: true,
        spec: () => {
          throw new Error('machines of real hosts are not made')
        },
        source: { kind: 'boot order' },
        made: () => Promise.resolve(),
        setAccount: () => {},
      })
      scope.onClose(() => real.end())
      return real
    }
  })
}

async function openWhereItWas(folder: string, open: (port: number) => Promise<HttpServer>): Promise<HttpServer> {
  const addresses = await SavedAddresses.read(join(folder, 'page-address.json'))
  const server = await addresses.openAnywhere('the page of the run', open)
  await addresses.save()
  return server
}
