import { controlRefusal } from './caller-refusal.js'
import { serveHttp, type HttpServer, type HttpServerOptions } from '../../base/wire/index.js'

/** Serves the control API of a fleet or run: on loopback alone, since it asks for no password. */
export const serveControl = (
  options: Pick<HttpServerOptions, 'dispatch' | 'port' | 'clock' | 'logger' | 'allowedHosts' | 'publicUrl'>,
): Promise<HttpServer> =>
  serveHttp({ ...options, host: '127.0.0.1', bodyLimit: MAX_BODY, refuseCaller: controlRefusal })

/** Bytes of a request: a list of many machines or faults. */
const MAX_BODY = 64 * 2 ** 20
