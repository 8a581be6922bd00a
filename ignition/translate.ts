import { UserError, defined } from '../base/runtime/index.js'
import type { SpecConfig } from './spec/config-types.js'
import type { StructValue, ConfigValue } from './spec/decode.js'
import { ignitionSpecOf, type FieldType, type Struct } from './spec/spec.js'
import { pathText } from './spec/text-tree.js'
import { atLeast, SPEC_VERSIONS, type SpecVersion } from './spec/spec-versions.js'
import { isZero } from './merge.js'
import { SPECIAL_BITS } from './rules/storage-rules.js'
import type { ConfigPath } from './findings.js'
import { validateRead } from './validate-config.js'

/** Options of {@link translateIgnition}. */
export interface TranslateOptions {
  /** Whether to lose Tang advertisements, as Ignition's own translation from 3.4.0 does. Default false. */
  asIgnitionDoes?: boolean
}

/**
 * Translates a config to another version of the spec: to a newer one always, to an older one only when nothing is lost.
 *
 * Special bits of a mode, which Ignition ignores below 3.6.0, are removed on the way to 3.6.0.
 *
 * @throws UserError `ignition-loss` with the fields that the older version lacks
 *
 * @example
 * import { readIgnition, translateIgnition } from 'ironstage/ignition'
 *
 * const { config, version } = readIgnition({ ignition: { version: '3.2.0' } })
 * const newer = translateIgnition(config, version, '3.4.0')
 */
export function translateIgnition(
  config: SpecConfig,
  from: SpecVersion,
  to: SpecVersion,
  { asIgnitionDoes = false }: TranslateOptions = {},
): SpecConfig {
  if (!atLeast(to, from)) return downward(config, from, to)
  let translated = config
  for (let at = SPEC_VERSIONS.indexOf(from); at < SPEC_VERSIONS.indexOf(to); at++) {
    translated = translateStep(translated, SPEC_VERSIONS[at]!, SPEC_VERSIONS[at + 1]!)
    if (asIgnitionDoes && SPEC_VERSIONS[at] === '3.4.0') translated = withoutAdvertisements(translated)
  }
  return translated
}

function translateStep(config: SpecConfig, from: SpecVersion, to: SpecVersion): SpecConfig {
  const lost: string[] = []
  const raised = convert(
    config as StructValue,
    ignitionSpecOf(from).root,
    ignitionSpecOf(to).root,
    [],
    lost,
  ) as SpecConfig
  return withVersion(to === '3.6.0' ? withoutSpecialBits(raised) : raised, to)
}

function downward(config: SpecConfig, from: SpecVersion, to: SpecVersion): SpecConfig {
  const lost: string[] = []
  const lowered = withVersion(
    convert(config as StructValue, ignitionSpecOf(from).root, ignitionSpecOf(to).root, [], lost) as SpecConfig,
    to,
  )
  // Fields that the older version has, but not with these values: URL schemes, pins, formats, mode bits.
  const known = new Set(validateRead(config, from).map(({ path, message }) => `${path} ${message}`))
  for (const { path, message } of validateRead(lowered, to)) if (!known.has(`${path} ${message}`)) lost.push(path)
  if (lost.length > 0)
    throw new UserError('ignition-loss', `spec ${to} has no place for ${[...new Set(lost)].join(', ')}`, {
      remedy: `Keep the config at ${from}, or take these out of it first.`,
    })
  return lowered
}

/** @param lost receives the paths of fields that `to` lacks */
function convert(value: StructValue, from: Struct, to: Struct, at: ConfigPath, lost: string[]): StructValue {
  const converted: StructValue = {}
  for (const { key, type } of from.fields) {
    const own = value[key]
    const target = to.byKey.get(key)?.type
    if (!target) {
      if (own !== undefined && !isEmptyValue(own, type)) lost.push(pathText([...at, key]))
      continue
    }
    // Required text that becomes optional is present even when empty.
    const present = own ?? (target.kind === 'text' && target.optional && !isOptional(type) ? '' : undefined)
    if (present !== undefined) converted[key] = convertValue(present, type, target, [...at, key], lost)
  }
  return converted
}

function convertValue(value: ConfigValue, from: FieldType, to: FieldType, at: ConfigPath, lost: string[]): ConfigValue {
  if (from.kind === 'struct' && to.kind === 'struct')
    return convert(value as StructValue, from.struct, to.struct, at, lost)
  if (from.kind === 'list' && to.kind === 'list')
    return (value as ConfigValue[]).map((item, index) => convertValue(item, from.items, to.items, [...at, index], lost))
  return value
}

const isOptional = (type: FieldType): boolean => type.kind === 'list' || type.optional

/** Whether dropping a value loses nothing: an empty list or object means the same as none. */
function isEmptyValue(value: ConfigValue, type: FieldType): boolean {
  if (type.kind === 'list') return (value as ConfigValue[]).length === 0
  if (type.kind === 'struct')
    return type.struct.fields.every(({ key, type: inner }) => {
      const part = (value as StructValue)[key]
      return part === undefined || isEmptyValue(part, inner)
    })
  return isZero(value, type)
}

const withVersion = (config: SpecConfig, version: SpecVersion): SpecConfig => ({
  ...config,
  ignition: { ...config.ignition, version },
})

function withoutSpecialBits(config: SpecConfig): SpecConfig {
  const { storage } = config
  if (!storage) return config
  const plain = <T extends { mode?: number }>(node: T): T =>
    node.mode === undefined ? node : { ...node, mode: node.mode & ~SPECIAL_BITS }
  const { files, directories } = storage
  return {
    ...config,
    storage: {
      ...storage,
      ...defined({
        files: files ? files.map(plain) : undefined,
        directories: directories ? directories.map(plain) : undefined,
      }),
    },
  }
}

function withoutAdvertisements(config: SpecConfig): SpecConfig {
  const { storage } = config
  if (!storage?.luks) return config
  const luks = storage.luks.map((volume) => {
    const { clevis } = volume
    if (!clevis?.tang) return volume
    return { ...volume, clevis: { ...clevis, tang: clevis.tang.map(({ advertisement: _, ...tang }) => tang) } }
  })
  return { ...config, storage: { ...storage, luks } }
}
