import { didYouMean, UserError } from '../../base/runtime/index.js'
import { SchemaCompiler, schemaProblem } from '../../base/schemas/index.js'
import { dialectFrom, type BmcDialect, type DialectChanges } from './dialect.js'
import { DIALECT_SCHEMA } from './dialect-schema.js'
import type { DialectName } from './dialect-name.js'
import { BMC_DIALECTS, isDialectName } from './known-dialects.js'

/** A dialect of a user's own, as `docs/bmc.schema.json` has it: differences from a known one, by default from `standard`. */
export interface OwnDialect {
  readonly base?: DialectName
  readonly [part: string]: unknown
}

/** The same, checked. */
type CheckedDialect = DialectChanges & Pick<OwnDialect, 'base'>

/** The dialect of a machine's BMC: a known one by its name, or one of the user's own. */
export type DialectChoice = DialectName | OwnDialect

const ownDialectCheck = new SchemaCompiler().check<CheckedDialect>(DIALECT_SCHEMA)

const unusableDialect = (name: string, what: string): UserError =>
  new UserError('bmc-dialect', `${name} cannot be used: ${what}`, {
    kind: 'usage',
    remedy: 'docs/bmc-dialects.md lists the keys and their values',
  })

/**
 * Reads a dialect of a user's own from a JSON value.
 *
 * @param name of the document, for errors: `the BMC file my-bmc.yaml`
 * @throws UserError `bmc-dialect` (usage) naming the document, the key and what is wrong with it
 */
export function readOwnDialect(document: unknown, name: string): OwnDialect {
  return { ...checkedDialect(document, name).own }
}

/** A record with what it makes of its base. */
function checkedDialect(document: unknown, name: string): { own: CheckedDialect; dialect: BmcDialect } {
  if (!ownDialectCheck.accepts(document)) throw unusableDialect(name, schemaProblem(ownDialectCheck.errors()).message)
  const { base = 'standard', ...changes } = document
  const dialect = dialectFrom(BMC_DIALECTS[base], changes)
  const contradiction = contradictionOf(dialect)
  if (contradiction !== undefined) throw unusableDialect(name, contradiction)
  return { own: document, dialect }
}

/** The rules that no schema tells. */
function contradictionOf({ boot, media, paths, properties, bios }: BmcDialect): string | undefined {
  const ids = media.slots.flatMap(({ id, below }) => below.map((folder) => `${folder} ${id.toLowerCase()}`))
  const twice = media.slots.find(({ id, below }) =>
    below.some(
      (folder) => ids.indexOf(`${folder} ${id.toLowerCase()}`) !== ids.lastIndexOf(`${folder} ${id.toLowerCase()}`),
    ),
  )
  if (twice) return `media.slots has two slots ${twice.id} in the same folder`
  const both = media.required.find((name) => media.refused.includes(name))
  if (both !== undefined) return `media requires and refuses ${both}`
  if (boot.at !== 'system' && boot.settings === null) return `boot.at is ${boot.at}, and boot.settings names none`
  if (boot.targetsAt === 'settings' && boot.settings === null)
    return 'boot.targetsAt is settings, and boot.settings names none'
  if (boot.at !== 'system' && boot.settingsHold === 'order')
    return `boot.at is ${boot.at}, and boot.settingsHold is the order only`
  if (boot.mode === 'absent' && boot.together.includes('BootSourceOverrideMode'))
    return 'boot.together names BootSourceOverrideMode, and boot.mode is absent'
  if (boot.modeDefault === 'Legacy' && boot.mode !== 'writable')
    return 'boot.modeDefault is Legacy, and boot.mode is not writable'
  const plain = properties.leftOut.find((path) => !path.includes('.'))
  if (plain !== undefined) return `properties.leftOut names ${plain}: write SCHEMA.PROPERTY`
  const changed = Object.keys(properties.changed).find((path) => properties.leftOut.includes(path))
  if (changed !== undefined) return `properties leaves ${changed} out, and changes it`
  const wrong = Object.entries(bios.attributes ?? {}).find(
    ([, { value, allowed }]) => allowed !== undefined && !allowed.includes(String(value)),
  )
  if (wrong) return `bios.attributes gives ${wrong[0]} a value that is not among its allowed ones`
  if (paths.lowerCaseBios && !paths.ignoresCase) return 'paths.lowerCaseBios needs paths.ignoresCase'
  const id = [paths.system, paths.manager, paths.chassis, boot.settings].find((each) => each?.includes('/'))
  return id == null ? undefined : `${id} is the last part of a path: it has no slash`
}

const resolved = new WeakMap<OwnDialect, BmcDialect>()
/** The same by what they say: machines of one file have copies of it. */
const resolvedTexts = new Map<string, BmcDialect>()
const MAX_RESOLVED_TEXTS = 1000

function resolveDialect(own: OwnDialect): BmcDialect {
  const known = resolved.get(own)
  if (known) return known
  const text = JSON.stringify(own)
  const made = resolvedTexts.get(text) ?? checkedDialect(own, "the BMC of a machine's hardware").dialect
  if (resolvedTexts.size >= MAX_RESOLVED_TEXTS) resolvedTexts.clear()
  resolvedTexts.set(text, made)
  resolved.set(own, made)
  return made
}

/** The dialect of a machine. @throws UserError `bmc-dialect` for a name that none has, and a record with a mistake */
export function dialectOf({ dialect }: { dialect?: DialectChoice }): BmcDialect {
  if (dialect === undefined) return BMC_DIALECTS.standard
  if (typeof dialect !== 'string') return resolveDialect(dialect)
  if (isDialectName(dialect)) return BMC_DIALECTS[dialect]
  const name = String(dialect)
  throw unusableDialect(
    `the BMC ${JSON.stringify(name)}`,
    `there is none${didYouMean(name, Object.keys(BMC_DIALECTS))}`,
  )
}
