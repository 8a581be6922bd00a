import { controlRefusal } from './caller-refusal.js'
import { withHealth } from './health.js'
import { serveHttp, type HttpServer, type HttpServerOptions } from '../../base/wire/index.js'

/**
 * Serves the control API of a fleet or run, with the probes of its health: on loopback alone, since it asks for no password.
 * The process is ready once it listens here: everything else was opened before.
 */
export const serveControl = (
  options: Pick<HttpServerOptions, 'dispatch' | 'port' | 'clock' | 'logger' | 'allowedHosts' | 'publicUrl'>,
): Promise<HttpServer> =>
  serveHttp({
    ...options,
    dispatch: withHealth(options.dispatch, () => null),
    host: '127.0.0.1',
    bodyLimit: MAX_BODY,
    refuseCaller: controlRefusal,
  })

/** Bytes of a request: a list of many machines or faults. */
const MAX_BODY = 64 * 2 ** 20
