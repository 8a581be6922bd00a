import { BMC_DIALECTS, dialectOf, isDialectName, type BmcDialect } from '../../../bmc/dialects/index.js'
import { didYouMean, UserError } from '../../../base/runtime/index.js'
import type { Environment } from '../environment.js'
import { isBmcFile, readBmcFile } from '../options/hardware-file.js'
import type { BMC_OPTIONS } from '../options/option-lists.js'
import type { CommandOptionValues } from '../options/resolve-options.js'

// One file of the package has both, whose number has a limit.
export { bmcDump, bmcImport } from './bmc-dump-command.js'

type BmcCommandOptions = CommandOptionValues<(typeof BMC_OPTIONS)[number]>

/** `ironstage bmc list`: the BMCs that a hardware file can name. */
export function bmcList({ json = false }: BmcCommandOptions, { stdout }: Environment): Promise<number> {
  const width = Math.max(...Object.keys(BMC_DIALECTS).map((name) => name.length))
  for (const [name, { description, basis }] of Object.entries(BMC_DIALECTS))
    stdout.either(json, { name, description, basis }, `${name.padEnd(width)}  ${description}`)
  return Promise.resolve(0)
}

/**
 * `ironstage bmc show NAME`: all values of a BMC, by its name or its file.
 *
 * @throws UserError (bmc-dialect) for a name that none has, and for a file with a mistake
 */
export async function bmcShow({ json = false }: BmcCommandOptions, { stdout }: Environment, name: string) {
  const dialect = await dialectNamed(name)
  const { stringify } = await import('yaml')
  stdout.either(json, { name, ...dialect }, stringify(dialect).trimEnd().split('\n'))
  return 0
}

async function dialectNamed(name: string): Promise<BmcDialect> {
  if (isDialectName(name)) return BMC_DIALECTS[name]
  if (isBmcFile(name)) return dialectOf({ dialect: await readBmcFile(name) })
  throw new UserError('bmc-dialect', `there is no BMC ${name}${didYouMean(name, Object.keys(BMC_DIALECTS))}`, {
    kind: 'usage',
    remedy: 'ironstage bmc list shows the names; a file is named as in ./my-bmc.yaml',
  })
}

/**
 * `ironstage bmc check FILE`: a file with a BMC of a user's own.
 *
 * @throws UserError (bmc-dialect) for a file with a mistake
 */
export async function bmcCheck({ json = false }: BmcCommandOptions, { stdout }: Environment, file: string) {
  const { base = 'standard', ...parts } = await readBmcFile(file)
  const changed = Object.keys(parts)
  const text = changed.length === 0 ? 'and nothing else' : `but for ${changed.join(', ')}`
  stdout.either(json, { file, base, changed }, `${file} is good: it is as ${base}, ${text}`)
  return 0
}
