import { hostname } from 'node:os'
import { selfSigned } from '../../../agent/index.js'
import { openRecorder, type RecorderCounts } from '../../recording/index.js'
import type { UserError } from '../../../base/runtime/index.js'
import { defined, systemClock, systemRandom } from '../../../base/runtime/index.js'
import { stopAsked, type Environment } from '../environment.js'
import { accessBy } from '../options/https-trust.js'
import type { RECORD_OPTIONS } from '../options/option-lists.js'
import type { CommandOptionValues } from '../options/resolve-options.js'
import { logTo } from '../output/command-log.js'
import { usageError } from '../usage-error.js'

const IRONIC_PORT = 6385

/** `ironstage record`: passes requests on and records them until a signal stops it. */
export async function record(
  options: CommandOptionValues<(typeof RECORD_OPTIONS)[number]>,
  environment: Environment,
): Promise<number> {
  const { stdout, stopped } = environment
  const {
    upstream,
    output,
    force,
    host,
    port = IRONIC_PORT,
    agents,
    'allowed-host': allowedHosts,
    mask = [],
    json = false,
  } = options
  if (upstream === undefined)
    throw missingOptionError('--upstream', 'the Ironic to record', '--upstream http://192.0.2.1:6385')
  if (output === undefined) throw missingOptionError('--output', 'the file to write', '-o recording.ndjson')
  const say = (text: string | readonly string[], event: object): void => stdout.either(json, event, text)
  const clock = systemClock()
  const recorder = await openRecorder({
    upstream,
    output,
    port,
    allowedHosts,
    clock,
    secretNames: mask,
    logger: logTo(environment, json),
    tls: (await accessBy(options, environment)).tls,
    ...defined({
      force,
      host,
      agentPort: agents,
      bodyLimit: options['body-limit'] === undefined ? undefined : options['body-limit'] * 2 ** 20,
    }),
    identity: (address) => selfSigned({ hostname: hostname(), address, random: systemRandom, clock }),
  })
  const { url, agentPort, counts } = recorder
  {
    await using _ = recorder
    say(readyText(url, agentPort, output), { event: 'ready', url, agent_port: agentPort ?? null, file: output })
    await stopAsked(stopped)
  }
  say(endText(counts, output), { event: 'end', file: output, ...counts })
  return counts.lost > 0 ? 1 : 0
}

const readyText = (url: string, agentPort: number | undefined, file: string): string[] => [
  `Recording into ${file}. Clients and agents reach the Ironic at ${url}`,
  ...(agentPort === undefined ? [] : [`Ironic reaches agents at port ${agentPort}`]),
]

function endText({ recorded, failed, cut, lost }: RecorderCounts, file: string): string {
  const more = [
    failed > 0 ? `${failed} did not come to their end` : '',
    cut > 0 ? `${cut} with a body beyond the limit` : '',
    lost > 0 ? `${lost} were not recorded` : '',
  ].filter(Boolean)
  return `${recorded} exchange${recorded === 1 ? '' : 's'} recorded in ${file}${more.map((one) => `, ${one}`).join('')}`
}

const missingOptionError = (flag: string, what: string, remedy: string): UserError =>
  usageError(`${flag} is missing: ${what}`, remedy)
