import { parseIgnition, withHostname, type IgnitionConfig } from '../../ignition/index.js'
import { isObject, UserError } from '../../base/runtime/index.js'
import type { JsonObject } from '../../base/wire/index.js'
import { StepError } from '../sdk/step.js'
import type { InstallCoreosArgs } from './args.js'
import { checkIgnition } from './check-ignition.js'

/** Input of an installation, merged from all sources. */
export interface InstallInput {
  ignition: IgnitionConfig | null
  /** Warnings of Ignition at first boot. */
  ignitionWarnings: string[]
  /** Null for the image that the live system carries. */
  image: { url: string; insecure: boolean; digest: ImageDigest | null } | null
  appendKargs: string[]
  deleteKargs: string[]
  /** Raw kernel arguments that the agent was started with, added as one. */
  ipOptions: string | null
  copyNetwork: boolean
  ejectMedia: boolean
  platform: string | null
  consoles: string[]
  preserveOnError: boolean
}

/** SHA-256 of an image in hex, and whether a step argument requires its check. */
interface ImageDigest {
  sha256: string
  required: boolean
}

export interface InputSources {
  args: InstallCoreosArgs
  node: JsonObject
  environment: Readonly<Record<string, string>>
  /** Hostname of the running live system; null for localhost. */
  liveHostname: string | null
}

/** Message of the upstream step (recording agent-deploy-failures). */
const PRERENDERED = 'Cannot use a pre-rendered configdrive, please pass it as JSON data'

/**
 * Combines the step's arguments with configdrive and instance_info, which the upstream step reads. An argument replaces its
 * counterpart; values are not merged.
 *
 * @throws StepError for input that cannot be installed, before any disk is written
 */
export function resolveInput({ args, node, environment, liveHostname }: InputSources): InstallInput {
  const instance = readObjectArg(node['instance_info'], 'instance_info')
  const configdrive = readConfigdrive(instance['configdrive'])
  const metaData = readObjectArg(configdrive['meta_data'], 'configdrive meta_data')
  const sourced =
    args.ignition === undefined
      ? readUserData(configdrive['user_data'])
      : readIgnitionArg(args.ignition, 'the argument ignition')
  const hostname = args.hostname ?? nameOf(args.hostname_source, metaHostname(metaData), liveHostname)
  const config = sourced?.config ?? null
  const ignition = hostname ? withHostname(config, hostname, args.own_hostname ?? 'duplicate') : config
  return {
    ignition,
    ignitionWarnings: sourced && ignition && args.check_ignition !== false ? checkConfigSource(sourced, ignition) : [],
    image: imageFrom(args, instance),
    appendKargs: args.append_karg === undefined ? metaKargs(metaData) : toWordList(args.append_karg),
    deleteKargs: toWordList(args.delete_karg),
    ipOptions: environment['IPA_COREOS_IP_OPTIONS']?.trim() || null,
    ejectMedia: args.eject_media ?? environment['IPA_COREOS_EJECT_MEDIA']?.toLowerCase() === 'true',
    copyNetwork:
      args.copy_network ??
      readFlagArg(metaData['coreos_copy_network']) ??
      environment['IPA_COREOS_COPY_NETWORK']?.toLowerCase() === 'true',
    platform: args.platform ?? null,
    consoles: toWordList(args.console),
    preserveOnError: args.preserve_on_error ?? false,
  }
}

function readConfigdrive(configdrive: unknown): JsonObject {
  if (configdrive === '******')
    throw installInputError('the configdrive reached the agent masked; Ironic sends it in clear for deploy steps only')
  // An ISO in base64 or its URL, whose user data cannot be read.
  if (typeof configdrive === 'string' && configdrive !== '') throw new StepError(PRERENDERED)
  return readObjectArg(configdrive, 'configdrive')
}

/** User data; values that are false in Python count as none, as in the upstream step. */
function readUserData(value: unknown): SourcedIgnition | null {
  const empty = value === undefined || value === null || value === '' || (isObject(value) && isEmptyObject(value))
  return empty ? null : readIgnitionArg(value, 'user_data of the configdrive')
}

/** A config with its source text or object, and the name of the source. */
interface SourcedIgnition {
  config: IgnitionConfig
  source: string | object
  what: string
}

/** @returns warnings of Ignition */
function checkConfigSource({ source, what }: SourcedIgnition, installed: IgnitionConfig): string[] {
  const { refusal, warnings } = checkIgnition(source, installed)
  if (refusal !== null)
    throw installInputError(`${what} cannot be used: ${refusal}. (check_ignition: false installs it all the same)`)
  return warnings
}

function readIgnitionArg(value: unknown, what: string): SourcedIgnition {
  if (typeof value !== 'string' && (typeof value !== 'object' || value === null))
    throw installInputError(`${what} is not an Ignition config`)
  try {
    return { config: parseIgnition(value), source: value, what }
  } catch (error) {
    if (!(error instanceof UserError)) throw error
    throw installInputError(`${what} cannot be used: ${error.message}. ${error.remedy ?? ''}`.trim(), error)
  }
}

/** The name of the machine: that of its metadata and that of the live system, in the order that is asked for. */
const nameOf = (source: InstallCoreosArgs['hostname_source'], meta: string | undefined, live: string | null) =>
  source === 'live' ? (live ?? meta) : (meta ?? live)

/** Hostname under the keys of cloud-init and BareMetal Operator, the specific ones first. */
function metaHostname(metaData: JsonObject): string | undefined {
  for (const key of ['local-hostname', 'local_hostname', 'hostname', 'name']) {
    const name = metaData[key]
    if (typeof name !== 'string' || name === '') continue
    if (name.length <= 253 && /^[a-z0-9]([a-z0-9.-]*[a-z0-9])?$/i.test(name)) return name
    throw installInputError(`${key} in meta_data of the configdrive is not a valid host name`)
  }
  return undefined
}

function imageFrom(args: InstallCoreosArgs, instance: JsonObject): InstallInput['image'] {
  const url = args.image_url ?? instance['image_source']
  if (url === undefined || url === null || url === '') return null
  if (typeof url !== 'string' || !/^https?:\/\/\S+$/.test(url))
    throw installInputError(
      'image_source in instance_info is not an http or https URL, and coreos-installer takes no other',
    )
  return { url, insecure: args.insecure ?? true, digest: digestFrom(args, instance) }
}

/** Expected digest; that of instance_info does not apply to an image of the arguments. */
function digestFrom(args: InstallCoreosArgs, instance: JsonObject): ImageDigest | null {
  if (args.image_sha256 !== undefined) return { sha256: args.image_sha256.toLowerCase(), required: true }
  if (args.image_url !== undefined && args.image_url !== instance['image_source']) return null
  const hash =
    instance['image_os_hash_algo'] === 'sha256' ? instance['image_os_hash_value'] : instance['image_checksum']
  return typeof hash === 'string' && /^[0-9a-f]{64}$/i.test(hash)
    ? { sha256: hash.toLowerCase(), required: false }
    : null
}

function metaKargs(metaData: JsonObject): string[] {
  const kargs = metaData['coreos_append_karg']
  if (kargs === undefined || kargs === null) return []
  const all: unknown[] = Array.isArray(kargs) ? kargs : [kargs]
  if (all.every((karg): karg is string => typeof karg === 'string' && /^[^\0\r\n]+$/.test(karg))) return all
  throw installInputError('coreos_append_karg in meta_data of the configdrive must be a list of kernel arguments')
}

/** Reads a flag. Unlike here, the upstream step takes any text as true, also "false". */
function readFlagArg(value: unknown): boolean | undefined {
  if (value === undefined || value === null) return undefined
  if (typeof value === 'string') return !/^(false|no|off|0|)$/i.test(value.trim())
  return Boolean(value)
}

/** Reads an object or its JSON text; an empty value counts as an empty object. */
function readObjectArg(value: unknown, what: string): JsonObject {
  if (value === undefined || value === null || value === '') return {}
  const parsed = typeof value === 'string' ? parseArgJson(value) : value
  if (isObject(parsed)) return parsed
  throw installInputError(`${what} is not a JSON object`)
}

function parseArgJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

const isEmptyObject = (value: JsonObject) => Object.keys(value).length === 0

const toWordList = (value: string | readonly string[] | undefined): string[] =>
  value === undefined ? [] : typeof value === 'string' ? [value] : [...value]

const installInputError = (why: string, cause?: unknown) =>
  new StepError(`install_coreos: ${why.replace(/\.$/, '')}. Nothing was written to any disk.`, { cause })
