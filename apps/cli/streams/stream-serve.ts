import { serveStreams } from '../../../coreos/index.js'
import { systemClock, systemRandom } from '../../../base/runtime/index.js'
import { stopAsked, type Environment } from '../environment.js'
import { logTo } from '../output/command-log.js'

export interface ServeFlags {
  host: string
  port: string
  json?: boolean
}

/** `ironstage stream serve DIR`: serves until a signal stops it. */
export async function streamServe(
  folder: string,
  { host, port, json = false }: ServeFlags,
  environment: Environment,
): Promise<number> {
  const { stdout, stopped } = environment
  const print = (event: object, text: string) => void stdout.either(json, event, `${text}`)
  await using server = await serveStreams({
    folder,
    host,
    port: Number(port),
    clock: systemClock(),
    random: systemRandom,
    logger: logTo(environment, json),
    onRequest: (request) =>
      print({ event: 'request', ...request }, `${request.method} ${request.path} ${request.status}`),
  })
  print({ event: 'ready', url: server.url }, `serving ${folder} at ${server.url}`)
  await stopAsked(stopped)
  return 0
}
