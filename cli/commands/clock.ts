import type { ClockReport } from '../../lab/index.js'
import { durationText, readDuration, UserError } from '../../runtime/index.js'
import type { Environment } from '../environment.js'
import { LabClient } from '../lab-client.js'
import type { CLOCK_ADVANCE_OPTIONS, CLOCK_OPTIONS } from '../options/option-lists.js'
import type { Options } from '../options/options.js'

type ClockOptions = Options<(typeof CLOCK_OPTIONS)[number]>

/** `ironstage clock show` */
export async function clockShow(options: ClockOptions, environment: Environment): Promise<number> {
  return print(await new LabClient(options.url, environment).ask('GET', '/clock'), options, environment)
}

/** `ironstage clock set MODE` */
export async function clockSet(options: ClockOptions, environment: Environment, mode: string): Promise<number> {
  return print(await new LabClient(options.url, environment).ask('PUT', '/clock', { mode }), options, environment)
}

/** `ironstage clock advance [TIME]` */
export async function clockAdvance(
  options: Options<(typeof CLOCK_ADVANCE_OPTIONS)[number]>,
  environment: Environment,
  by: string | undefined,
): Promise<number> {
  const { url, until, within } = options
  const client = new LabClient(url, environment)
  if ((by === undefined) === (until === undefined))
    throw wrong('say how far', 'give a time as in 31m, or --until NODE=STATE')
  if (by !== undefined && readDuration(by) === undefined)
    throw wrong(`${by} is no time`, 'write it as in 31m, 90s or 1h30m')
  if (by !== undefined) return print(await client.ask('POST', '/clock/advance', { by }), options, environment)
  const at = until!.lastIndexOf('=')
  const wanted = { node: until!.slice(0, at), state: until!.slice(at + 1) }
  const body = { until: wanted, ...(within === undefined ? {} : { within }) }
  return print(await client.ask('POST', '/clock/advance', body), options, environment)
}

function print(answer: unknown, { json }: { json?: boolean }, { stdout }: Environment): number {
  const { mode, labTime, elapsed } = answer as ClockReport
  stdout.write(json ? `${JSON.stringify(answer)}\n` : `${labTime}  ${mode}, ${durationText(elapsed)} since the start\n`)
  return 0
}

const wrong = (message: string, remedy: string): UserError => new UserError('usage', message, { kind: 'usage', remedy })
