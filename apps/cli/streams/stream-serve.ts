import { serveStreams } from '../../../coreos/index.js'
import { systemClock, systemRandom } from '../../../base/runtime/index.js'
import { stopAsked, type Environment } from '../environment.js'
import type { STREAM_SERVE_OPTIONS } from '../options/option-lists.js'
import type { CommandOptionValues } from '../options/resolve-options.js'
import { logTo } from '../output/command-log.js'

/** `ironstage stream serve DIR`: serves until a signal stops it. */
export async function streamServe(
  options: CommandOptionValues<(typeof STREAM_SERVE_OPTIONS)[number]>,
  environment: Environment,
  folder: string,
): Promise<number> {
  const { host = '127.0.0.1', 'stream-port': port = 0, json = false } = options
  const { stdout, stopped } = environment
  const print = (event: object, text: string) => void stdout.either(json, event, `${text}`)
  await using server = await serveStreams({
    folder,
    host,
    port,
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
