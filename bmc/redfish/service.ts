import {
  defined,
  isSameSecret,
  Probe,
  seconds,
  sharedAbort,
  silent,
  randomUuid,
  type Clock,
  type Logger,
  type Random,
} from '../../base/runtime/index.js'
import { HttpTransport, probeTransport, type Dispatch, type Transport } from '../../base/wire/index.js'
import type { RedfishCredentials, RedfishAccounts } from './access/redfish-credentials.js'
import { Sessions } from './access/redfish-sessions.js'
import { commonDialect } from './dialects/spoken-dialect.js'
import { answerRedfishCall } from './dispatch.js'
import { EventHub } from './events/event-hub.js'
import { REDFISH_ROUTES } from './resources/index.js'
import type { ServedMachines } from './served-machines.js'
import type { FetchFirmware, ServiceParts } from './service-parts.js'
import { Tasks } from './tasks/tasks.js'

export interface RedfishOptions {
  /** The machines whose BMCs are served: all on one listener, or a single one. */
  machines: ServedMachines
  accounts: RedfishAccounts
  clock: Clock
  random: Random
  /** Every call passes here as a call of a BMC. */
  probe?: Probe
  logger?: Logger
  /** UUID of the service; random without. */
  uuid?: string
  /** Most open sessions; by default 16 for each machine, or as many as the BMC that all machines have. */
  sessionLimit?: number
  /** Fetches the images of updates; without it they are not fetched, and all are good. */
  fetchFirmware?: FetchFirmware
  /** Milliseconds of lab time that an update of firmware takes; 2 seconds by default. */
  updateTime?: number
  /** Carries events to those who have subscribed; over HTTP by default. */
  transport?: Transport
  /** True if a PATCH, PUT or DELETE needs an If-Match header, as with some vendors; answer with 428 without. */
  requireIfMatch?: boolean
}

/** BMCs that are served by Redfish. */
export interface RedfishService extends AsyncDisposable {
  readonly dispatch: Dispatch
}

/**
 * A Redfish service in front of machines, each of which is a system, a manager and a chassis of the same id. The state is
 * the machines' own.
 *
 * @example
 * const service = createRedfishService({ machines, accounts, clock, random, probe })
 * await using server = await serveHttp({ dispatch: service.dispatch, port: 8000, clock })
 */
export function createRedfishService(options: RedfishOptions): RedfishService {
  const { machines, accounts, clock, random, probe = new Probe(), logger = silent } = options
  const sessionsOfBmcs = () => commonDialect(machines.list()).sessions
  const most = () => options.sessionLimit ?? sessionsOfBmcs().limit * Math.max(1, machines.list().length)
  const over = sharedAbort()
  const closing = over.signal
  const own = options.transport ? undefined : new HttpTransport({ clock, timeoutMs: seconds(10), connections: 4 })
  const transport = probeTransport(options.transport ?? own!, probe, { from: 'bmc', to: 'subscriber' })
  const events = new EventHub({ machines, transport, clock, random, logger, closing })
  const attached = events.attach(probe)
  const service: ServiceParts = {
    machines,
    accounts,
    clock,
    random,
    probe,
    logger,
    events,
    routes: REDFISH_ROUTES,
    sessions: new Sessions({ clock, random, most, usual: () => sessionsOfBmcs().timeout }),
    tasks: new Tasks({ clock, random, closing }),
    updateTime: options.updateTime ?? seconds(2),
    ...defined({ fetchFirmware: options.fetchFirmware }),
    closing,
    uuid: options.uuid ?? randomUuid(random),
    requiresIfMatch: options.requireIfMatch ?? false,
    visible: (caller) => machines.list().filter((machine) => sees(accounts, machine, caller)),
    sees: (machine, caller) => sees(accounts, machine, caller),
  }
  return {
    dispatch: (request) => answerRedfishCall(service, request),
    [Symbol.asyncDispose]: async () => {
      attached[Symbol.dispose]()
      over.abort()
      await own?.[Symbol.asyncDispose]()
    },
  }
}

/** True if credentials open a machine, without leaving them there as its account. */
function sees(
  accounts: RedfishAccounts,
  machine: Parameters<RedfishAccounts['of']>[0],
  caller: RedfishCredentials,
): boolean {
  const account = accounts.of(machine)
  return (
    account === undefined || (account.username === caller.username && isSameSecret(account.password, caller.password))
  )
}
