import { defined, isObject, type UserError } from '../../base/runtime/index.js'
import { schemaCheck } from '../../base/schemas/index.js'
import {
  DRIVER_INTERFACES,
  IRONIC_RELEASES,
  type DriverInterface,
  type IronicRelease,
  type JsonObject,
  type JsonSchema,
  type Microversion,
} from '../../base/wire/index.js'
import { UPSTREAM_INSPECTION, type InspectionConf } from '../conductor/inspection/inspection-conf.js'
import { UPSTREAM_CONF, type ConductorConf } from '../conductor/core/conductor-conf.js'
import type { DriverSettings } from '../drivers/enabled.js'
import { DEFAULT_OPTIONS, driverNames, ENABLED_OPTIONS, HARDWARE_TYPES_OPTION } from './driver-options.js'
import { checkLayers, type EffectiveOptions } from './check-layers.js'
import { placeName } from './known-options.js'
import { assignedLayer, badConfig, fileLayer, Layers, placesOf } from './layers.js'
import type { IronicOption } from './option.js'
import { DOCUMENT_OPTIONS, INSPECTION_OPTIONS, CONDUCTOR_OPTIONS } from './conductor-options.js'
import { CONFIG_PROFILES, type ProfileName } from './config-profiles.js'
import { readSiteSchema } from './site-schema.js'
import { SERVICE_DEFAULTS, SERVICE_OPTIONS, type ServiceSettings } from './service-options.js'

/** Configuration of the mock Ironic, in Ironic's own terms. */
export interface IronicConfigRequest {
  /** Set of defaults, `metal3` by default. */
  profile?: ProfileName
  /** Release of Ironic to act as, by default the newest that is known. */
  release?: IronicRelease
  /** `ironic.conf` files; a later one wins. */
  files?: readonly { readonly name: string; readonly text: string }[]
  /** Single options, which win over all files: `section.option=value`. */
  set?: readonly string[]
}

export interface IronicConfig {
  readonly profile: ProfileName
  readonly release: IronicRelease
  readonly maxMicroversion: Microversion
  readonly conf: ConductorConf
  readonly service: ServiceSettings
  readonly drivers: DriverSettings
  /** Files that {@link withDocuments} reads, by the member of {@link ConductorConf}. */
  readonly documents: Partial<Readonly<Record<keyof typeof DOCUMENT_OPTIONS, string>>>
  /** Sentences for the log about settings that are not carried out as they stand. */
  readonly notes: readonly string[]
  /** Sentences that name each option without an effect, for a log with all details. */
  readonly details: readonly string[]
}

/**
 * Reads an operator's configuration: a profile's options, over them files in Ironic's own format, over them single
 * options.
 *
 * ```ts
 * const config = readIronicConfig({ profile: 'upstream', release: '2025.1', set: ['api.max_limit=10'] })
 * ```
 *
 * @throws UserError `ironic-config` for an unknown option or a value that it does not take, naming file, section,
 *   option and what is allowed
 */
export function readIronicConfig(request: IronicConfigRequest = {}): IronicConfig {
  const { profile = 'metal3', release = 'master', files = [], set = [] } = request
  const profileLayer = fileLayer({ name: `the profile ${profile}`, text: CONFIG_PROFILES[profile] })
  const operatorLayers = [...files.map(fileLayer), assignedLayer(set, '--set')]
  const all = new Layers([profileLayer, ...operatorLayers])
  const inert = [...checkLayers(operatorLayers, all, EFFECTIVE_OPTIONS)]
  const notes = inert.map(([layer, names]) => inertNote(layer, names.length))
  const conf: ConductorConf = {
    ...withDefaults(UPSTREAM_CONF, CONDUCTOR_OPTIONS, all),
    inspection: withDefaults(UPSTREAM_INSPECTION, INSPECTION_OPTIONS, all),
  }
  // Both templates derive inspectionPowerOff from fastTrack.
  if (profile !== 'upstream' && !all.find(CONDUCTOR_OPTIONS.inspectionPowerOff))
    conf.inspectionPowerOff = !conf.fastTrack
  const service = withDefaults(SERVICE_DEFAULTS, SERVICE_OPTIONS, all)
  if (all.find(SERVICE_OPTIONS.authStrategy)?.text === 'keystone') notes.push(KEYSTONE_NOTE)
  const documents = Object.fromEntries(
    Object.entries(DOCUMENT_OPTIONS).flatMap(([member, option]) => {
      const file = all.read(option)
      return file === undefined ? [] : [[member, file]]
    }),
  )
  return {
    profile,
    release,
    maxMicroversion: IRONIC_RELEASES[release],
    conf,
    documents,
    service,
    drivers: readDrivers(all, new Layers(operatorLayers), notes),
    notes,
    details: inert.map(([layer, names]) => `${layer} sets these without an effect here: ${names.join(', ')}`),
  }
}

const KEYSTONE_NOTE =
  '[DEFAULT]auth_strategy is keystone, which is not simulated: the API asks for no password, as with noauth'

function inertNote(layer: string, count: number): string {
  const what = count === 1 ? 'an option of Ironic that has' : `${count} options of Ironic that have`
  return `${layer} sets ${what} no effect here; ironstage up --verbose lists them`
}

/** Reads the files of {@link IronicConfig.documents}. */
export async function withDocuments(
  config: IronicConfig,
  load: (file: string) => Promise<unknown>,
): Promise<IronicConfig> {
  const inspection: Partial<InspectionConf> = {}
  const wrong = (member: keyof typeof DOCUMENT_OPTIONS, expected: string, cause?: unknown) => {
    const { section, name } = DOCUMENT_OPTIONS[member]
    return badConfig(`the file ${config.documents[member]} of [${section}]${name} cannot be used`, expected, cause)
  }
  const read = async (member: keyof typeof DOCUMENT_OPTIONS): Promise<unknown> => {
    const file = config.documents[member]
    if (file === undefined) return undefined
    return load(file).catch((cause: unknown) => Promise.reject(wrong(member, 'name a YAML file', cause)))
  }
  const rules = await read('builtInRules')
  if (rules !== undefined) {
    if (!Array.isArray(rules)) throw wrong('builtInRules', 'write a list of inspection rules')
    inspection.builtInRules = rules as InspectionConf['builtInRules']
  }
  const known = await read('knownAccelerators')
  if (known !== undefined) {
    const devices = (known as { pci_devices?: unknown } | null)?.pci_devices
    if (!Array.isArray(devices)) throw wrong('knownAccelerators', 'write a list of devices under pci_devices')
    inspection.knownAccelerators = devices as InspectionConf['knownAccelerators']
  }
  const schema = await read('networkDataSchema')
  if (schema !== undefined && !isObject(schema)) throw wrong('networkDataSchema', 'write a JSON Schema')
  const networkDataSchema = schema === undefined ? null : usableSchema(schema, wrong)
  return {
    ...config,
    conf: { ...config.conf, inspection: { ...config.conf.inspection, ...inspection } },
    service: { ...config.service, networkDataSchema },
  }
}

/** @throws what `wrong` makes of a schema that cannot be compiled */
function usableSchema(
  schema: JsonObject,
  wrong: (member: 'networkDataSchema', expected: string, cause: unknown) => UserError,
): JsonSchema {
  const usable = readSiteSchema(schema) as JsonSchema
  try {
    schemaCheck(usable).accepts({})
  } catch (cause) {
    throw wrong('networkDataSchema', 'write a JSON Schema of draft 7', cause)
  }
  return usable
}

function withDefaults<T extends object>(
  defaults: T,
  options: { readonly [K in keyof T]?: IronicOption<T[K]> },
  layers: Layers,
): T {
  const values: T = { ...defaults }
  for (const name of Object.keys(options) as (keyof T)[]) {
    const value = layers.read(options[name]!)
    if (value !== undefined) values[name] = value
  }
  return values
}

/**
 * Reads the enabled hardware types and interfaces. A profile may name ones that are not simulated (yet); a name from
 * the operator that is not simulated makes a note, an unknown one an error.
 */
function readDrivers(all: Layers, operator: Layers, notes: string[]): DriverSettings {
  const names = (option: IronicOption<readonly string[]>, kind: DriverInterface | 'types'): string[] | undefined => {
    checkNames(operator.find(option), operator.read(option) ?? [], kind, notes)
    const { simulated } = driverNames(kind)
    const known = all.read(option)
    const usable = known?.filter((name) => simulated.includes(name))
    if (known?.length !== 0 && usable?.length === 0) {
      notes.push(`${operator.find(option)!.where} enables nothing that is simulated; all that is simulated is enabled`)
      return undefined
    }
    return usable
  }
  const types = names(HARDWARE_TYPES_OPTION, 'types')
  const enabled: Partial<Record<DriverInterface, readonly string[]>> = {}
  const defaults: Partial<Record<DriverInterface, string>> = {}
  for (const kind of DRIVER_INTERFACES) {
    const implementations = names(ENABLED_OPTIONS[kind], kind)
    if (implementations) enabled[kind] = implementations
    const preferred = operator.read(DEFAULT_OPTIONS[kind])
    if (preferred !== undefined) checkNames(operator.find(DEFAULT_OPTIONS[kind]), [preferred], kind, notes)
    const first = all.read(DEFAULT_OPTIONS[kind])
    if (first !== undefined) defaults[kind] = first
  }
  return { ...defined({ types }), enabled, defaults }
}

function checkNames(
  found: ReturnType<Layers['find']>,
  names: readonly string[],
  kind: DriverInterface | 'types',
  notes: string[],
): void {
  const { simulated, others } = driverNames(kind)
  for (const name of names) {
    if (simulated.includes(name)) continue
    if (!others.includes(name))
      throw badConfig(`${found!.where} names ${name}, which does not exist`, `use one of ${simulated.join(', ')}`)
    notes.push(`${found!.where} names ${name}, which is not simulated`)
  }
}

const IRONIC_OPTIONS: readonly IronicOption<unknown>[] = [
  ...Object.values(CONDUCTOR_OPTIONS),
  ...Object.values(INSPECTION_OPTIONS),
  ...Object.values(DOCUMENT_OPTIONS),
  ...Object.values(SERVICE_OPTIONS),
  HARDWARE_TYPES_OPTION,
  ...Object.values(ENABLED_OPTIONS),
  ...Object.values(DEFAULT_OPTIONS),
]

/** Options that have an effect, by `[section]name` under each name that they have. */
const EFFECTIVE_OPTIONS: EffectiveOptions = new Map(
  IRONIC_OPTIONS.flatMap((option) =>
    placesOf(option).map((place): [string, IronicOption<unknown>] => [placeName(place), option]),
  ),
)
