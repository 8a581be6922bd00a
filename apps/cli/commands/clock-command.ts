import type { AdvanceRequest, ClockReport } from '../../../control/index.js'
import type { ProvisionState } from '../../../base/wire/index.js'
import { defined, durationText, readDuration } from '../../../base/runtime/index.js'
import type { Environment } from '../environment.js'
import { withLab } from '../with-lab.js'
import type { CLOCK_ADVANCE_OPTIONS, CLOCK_OPTIONS } from '../options/option-lists.js'
import { COMMAND_OPTIONS } from '../options/option-table.js'
import type { CommandOptionValues } from '../options/resolve-options.js'
import { usageError } from '../usage-error.js'

// One file of the package has both, whose number has a limit.
export { journal } from './journal-command.js'

type ClockOptions = CommandOptionValues<(typeof CLOCK_OPTIONS)[number]>

/** `ironstage clock show` */
export async function clockShow(options: ClockOptions, environment: Environment): Promise<number> {
  return printClock(await withLab(options.url, environment, (lab) => lab.clock()), options, environment)
}

/** `ironstage clock set MODE` */
export async function clockSet(options: ClockOptions, environment: Environment, mode: string): Promise<number> {
  if (!new RegExp(COMMAND_OPTIONS.clock.schema.pattern).test(mode))
    throw usageError(`${JSON.stringify(mode)} is not a mode of the clock`, `use ${COMMAND_OPTIONS.clock.accepted}`)
  return printClock(await withLab(options.url, environment, (lab) => lab.setClock({ mode })), options, environment)
}

/** `ironstage clock advance [TIME]` */
export async function clockAdvance(
  options: CommandOptionValues<(typeof CLOCK_ADVANCE_OPTIONS)[number]>,
  environment: Environment,
  by: string | undefined,
): Promise<number> {
  const { url, until, within } = options
  if ((by === undefined) === (until === undefined))
    throw usageError('say how far', 'give a time as in 31m, or --until NODE=STATE')
  if (by !== undefined && readDuration(by) === undefined)
    throw usageError(`${by} is not a time`, 'write it as in 31m, 90s or 1h30m')
  return printClock(
    await withLab(url, environment, (lab) => lab.advance(move(by, until, within))),
    options,
    environment,
  )
}

function move(by: string | undefined, until: string | undefined, within: string | undefined): AdvanceRequest {
  if (by !== undefined) return { by }
  const at = until!.lastIndexOf('=')
  const wanted = { node: until!.slice(0, at), state: until!.slice(at + 1) as ProvisionState }
  return { until: wanted, ...defined({ within }) }
}

function printClock(report: ClockReport, { json }: { json?: boolean }, { stdout }: Environment): number {
  const { mode, labTime, elapsed } = report
  stdout.either(json, report, `${labTime}  ${mode}, ${durationText(elapsed)} since the start`)
  return 0
}
