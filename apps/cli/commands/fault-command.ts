import { existsSync } from 'node:fs'
import {
  effectText,
  faultDocument,
  membersText,
  readFaults,
  readFaultsFile,
  type Fault,
  type FaultDocument,
  type FaultReport,
} from '../../../control/index.js'
import { defined, packageFile } from '../../../base/runtime/index.js'
import type { Environment } from '../environment.js'
import { withLab } from '../with-lab.js'
import { readInputs } from '../options/input-files.js'
import type { FAULT_ADD_OPTIONS, FAULT_LIFT_OPTIONS, FAULT_LIST_OPTIONS } from '../options/option-lists.js'
import type { CommandOptionValues } from '../options/resolve-options.js'
import { usageError } from '../usage-error.js'

/** `ironstage fault list` */
export async function faultList(
  { url, label, json }: CommandOptionValues<(typeof FAULT_LIST_OPTIONS)[number]>,
  environment: Environment,
): Promise<number> {
  const { faults } = await withLab(url, environment, (lab) => lab.faults(label === undefined ? {} : { label }))
  for (const fault of faults) environment.stdout.either(json, fault, faultLine(fault))
  if (faults.length === 0 && !json) environment.stdout.line('there are no faults')
  return 0
}

/** `ironstage fault add [FILE...]` */
export async function faultAdd(
  options: CommandOptionValues<(typeof FAULT_ADD_OPTIONS)[number]>,
  environment: Environment,
  files: readonly string[],
): Promise<number> {
  // All faults are read before the first is added.
  const added = files.length > 0 ? await faultsIn(files, environment) : readFaults(fromOptions(options), 'the fault')
  if (files.length > 0 && (options.effect !== undefined || options.match !== undefined))
    throw usageError('a fault is either in a file or in options', 'leave out --match and --effect, or the file')
  await withLab(options.url, environment, async (lab) => {
    const all = added.map((fault) => faultDocument(fault) as FaultDocument)
    // One by itself is refused by its own name, not as the first of a list.
    const faults = all.length === 1 ? [await lab.addFault(all[0]!)] : (await lab.addFault(all)).faults
    for (const fault of faults) environment.stdout.either(options.json, fault, faultLine(fault))
  })
  return 0
}

/** `ironstage fault lift [ID...]` */
export async function faultLift(
  { url, label, all }: CommandOptionValues<(typeof FAULT_LIFT_OPTIONS)[number]>,
  environment: Environment,
  ids: readonly string[],
): Promise<number> {
  if ([ids.length > 0, label !== undefined, all === true].filter(Boolean).length !== 1)
    throw usageError('name which faults to lift', 'give ids, or --label, or --all')
  await withLab(url, environment, async (lab) => {
    for (const id of ids) await lab.liftFault(id)
    if (ids.length === 0) await lab.liftFaults(label === undefined ? {} : { label })
  })
  return 0
}

/**
 * Faults in YAML or JSON files.
 *
 * @throws UserError (usage) naming the file
 */
export async function faultsIn(files: readonly string[], environment: Environment): Promise<Fault[]> {
  const inputs = await readInputs(files.map(shippedExample), environment, 'file of faults')
  return inputs.flatMap(({ name, bytes }) => readFaultsFile(Buffer.from(bytes).toString(), name))
}

/** The path of an example in the package, so that the lines of the pages work in any folder; a file of this name comes first. */
function shippedExample(file: string): string {
  const shipped = packageFile(file)
  return /^examples\/[\w-]+\.yaml$/.test(file) && !existsSync(file) && existsSync(shipped) ? shipped : file
}

/** The fault of `--match node=node-3 --effect delay:for=5s`. */
function fromOptions(options: CommandOptionValues<(typeof FAULT_ADD_OPTIONS)[number]>): object {
  const { match = [], effect, times, after, probability, label } = options
  if (effect === undefined) throw usageError('the effect of the fault is missing', '--effect agent-silent, or a file')
  const [kind = '', members = ''] = effect.split(/:(.*)/s)
  return {
    match: Object.fromEntries(match.map(pair)),
    effect: { kind, ...Object.fromEntries(members.split(',').filter(Boolean).map(pair)) },
    ...defined({ times, after, probability, label }),
  }
}

/** `code=1` */
function pair(text: string): [string, string | number] {
  const [key = '', value = ''] = text.split(/=(.*)/s)
  return [key, /^\d+$/.test(value) ? Number(value) : value]
}

export function faultLine({ id, struck, match, effect, times, label, waitsFor }: FaultReport): string {
  const where = membersText(match)
  return [
    id,
    effectText({ effect }),
    where.length === 0 ? 'everywhere' : where.join(' '),
    ...(label === undefined ? [] : [label]),
    `struck ${struck}${times === undefined ? '' : ` of ${times}`}`,
    ...(waitsFor === undefined ? [] : [`waits for ${waitsFor}`]),
  ].join('  ')
}
