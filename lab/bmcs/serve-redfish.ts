import { createRedfishService, refuseUnreadRequest, type RedfishService } from '../../bmc/redfish/index.js'
import { defined, systemRandom, type Clock, type Logger, type Probe } from '../../base/runtime/index.js'
import { serveHttp, type HttpServer, type TlsOptions } from '../../base/wire/index.js'
import type { Machines } from '../../machine/index.js'
import type { OutsideRequests } from '../snapshots/outside-requests.js'
import type { BmcAccounts } from './bmc-accounts.js'
import { firmwareImages } from './firmware-images.js'
import { redfishAccounts } from './redfish-accounts.js'

/** The BMCs of a lab behind one port. */
export interface RedfishListener extends AsyncDisposable {
  /** `http://127.0.0.1:8000`, without `/redfish/v1`. */
  readonly url: string
  readonly port: number
  readonly service: RedfishService
}

export interface RedfishListenOptions {
  /** Default 127.0.0.1. */
  host?: string
  /** 0 picks a free one. */
  port: number
  tls?: TlsOptions
  /** Names by which clients may call besides those of this host. */
  allowedHosts?: readonly string[] | undefined
  /** Longer updates of firmware, in milliseconds of lab time. */
  updateTime?: number
}

/** Parts of a lab that its BMCs need. */
export interface BmcParts {
  machines: Machines
  accounts: BmcAccounts
  clock: Clock
  probe: Probe
  logger: Logger
  outsideRequests: OutsideRequests
  /** Throws for a URL that is not reached. */
  allow?: ((url: string) => void) | undefined
}

/**
 * Serves the BMCs of all machines by Redfish. Its tokens come from the system's randomness: what strangers ask changes no
 * later id of the lab.
 *
 * @throws UserError when it cannot listen
 */
export async function serveRedfish(
  { machines, accounts, clock, probe, logger, outsideRequests, allow }: BmcParts,
  { host = '127.0.0.1', port, tls, allowedHosts, updateTime }: RedfishListenOptions,
): Promise<RedfishListener> {
  const service = createRedfishService({
    machines,
    clock,
    probe,
    logger,
    random: systemRandom,
    accounts: redfishAccounts(accounts),
    fetchFirmware: firmwareImages({ clock, allow }),
    ...defined({ updateTime }),
  })
  try {
    const dispatch = outsideRequests.serving('redfish', service.dispatch)
    const server: HttpServer = await serveHttp({
      dispatch,
      host,
      port,
      allowedHosts,
      clock,
      logger,
      bodyLimit: MAX_REDFISH_BODY_BYTES,
      refuse: refuseUnreadRequest,
      ...defined({ tls }),
    })
    return {
      url: server.url,
      port: server.port,
      service,
      [Symbol.asyncDispose]: async () => {
        await server[Symbol.asyncDispose]()
        await service[Symbol.asyncDispose]()
      },
    }
  } catch (error) {
    await service[Symbol.asyncDispose]()
    throw error
  }
}

/** Bytes of a request: settings and certificates are small. */
const MAX_REDFISH_BODY_BYTES = 2 ** 20
