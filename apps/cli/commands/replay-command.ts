import { hostname } from 'node:os'
import { parse } from 'yaml'
import { selfSigned } from '../../../agent/index.js'
import { IdMap, ironicUrl, readRecording, replayAgents, replayClient } from '../../recording/index.js'
import { defined, readNested, seconds, systemClock, systemRandom, UserError } from '../../../base/runtime/index.js'
import { HttpTransport } from '../../../base/wire/index.js'
import type { Environment } from '../environment.js'
import { accessBy } from '../options/https-trust.js'
import { readTextFile } from '../options/input-files.js'
import type { REPLAY_OPTIONS } from '../options/option-lists.js'
import type { CommandOptionValues } from '../options/resolve-options.js'
import { DifferenceReport } from '../output/differences.js'
import { usageError } from '../usage-error.js'

// One file of the package has both, whose number has a limit.
export { diff } from './diff-command.js'

/** An answer may take as long as the slowest command that Ironic waits for. */
const REPLAY_ANSWER_TIMEOUT = seconds(300)

/** `ironstage replay RECORDING`: plays a recording against another Ironic. Exits with 1 if that Ironic answers differently. */
export async function replay(
  options: CommandOptionValues<(typeof REPLAY_OPTIONS)[number]>,
  environment: Environment,
  file: string,
): Promise<number> {
  const { against, as, host, known, partial = false, wait, json = false } = options
  if (against === undefined)
    throw usageError('--against is missing: the Ironic to replay against', '--against http://127.0.0.1:6385')
  const { url, authorization } = ironicUrl(against)
  const report = await DifferenceReport.open(known, environment, json)
  const secrets = await secretValues(options['secret-values'])
  const { headers, tls } = await accessBy(options, environment)
  const recording = await readRecording(file, { partial })
  report.about(recording)
  const clock = systemClock()
  await using transport = new HttpTransport({ clock, tls, timeoutMs: REPLAY_ANSWER_TIMEOUT })
  const shared = {
    recording,
    url,
    transport,
    secrets,
    clock,
    ids: new IdMap(),
    signal: environment.stopped,
    credentials: authorization === null ? headers : { authorization },
    ...defined({ wait: wait === undefined ? undefined : seconds(wait) }),
  }
  const { differences, calls } =
    as === 'agent'
      ? await replayAgents({
          ...shared,
          ...defined({ host }),
          identity: (address) => selfSigned({ hostname: hostname(), address, random: systemRandom, clock }),
        })
      : await replayClient(shared)
  return report.end(differences, calls)
}

/** @throws UserError `secret-values` */
async function secretValues(file: string | undefined): Promise<Map<string, string>> {
  if (file === undefined) return new Map()
  const text = await readTextFile(file, 'file with the values of secrets')
  const usage = (message: string, cause?: unknown) =>
    new UserError('secret-values', message, {
      kind: 'usage',
      remedy: "write one line per secret, as in '***1': value",
      ...defined({ cause }),
    })
  let values: unknown
  try {
    values = readNested(text, file, (yaml) => parse(yaml) as unknown) ?? {}
  } catch (cause) {
    throw usage(`the values of secrets in ${file} cannot be read`, cause)
  }
  if (typeof values !== 'object' || values === null || Array.isArray(values))
    throw usage(`${file} is not a set of labels and values`)
  for (const [label, value] of Object.entries(values)) {
    if (!/^\*\*\*\d+$/.test(label)) throw usage(`${file} has ${JSON.stringify(label)}, which is no label such as ***1`)
    if (typeof value !== 'string') throw usage(`the value of ${label} in ${file} is not a text`)
  }
  return new Map(Object.entries(values as Record<string, string>))
}
