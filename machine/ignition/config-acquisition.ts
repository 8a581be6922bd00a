import { createHash } from 'node:crypto'
import { maskedUrl } from '../../base/bytes/index.js'
import { errorChain, minutes, UserError } from '../../base/runtime/index.js'
import {
  atLeast,
  findingLine,
  maskConfigLine,
  mergeIgnition,
  NEWEST_STABLE,
  readIgnition,
  renderIgnition,
  SPEC_VERSIONS,
  translateIgnition,
  validateIgnition,
  type IgnitionReport,
  type SpecConfig,
  type SpecVersion,
} from '../../ignition/index.js'
import type { ConfigDrive } from './find-config-drive.js'
import { goQuoted, IgnitionFailure, type IgnitionLog } from './ignition-log.js'
import { NEEDS_NETWORK, type Resources } from './ignition-resources.js'

/** The version that Ignition translates every config to. */
const OWN_VERSION = SPEC_VERSIONS.at(-1)!
const CONFIG_FOLDER = '/usr/lib/ignition'
const CONFIG_FETCH_TIMEOUT = minutes(2)

/** CoreOS's own config for every machine. */
export const BASE_CONFIG = JSON.stringify({
  ignition: { version: '3.0.0' },
  passwd: {
    users: [{ name: 'core', gecos: 'CoreOS Admin', groups: ['adm', 'sudo', 'systemd-journal', 'wheel'] }],
  },
})

/**
 * Source of the user's config; null for a machine without one. The platform `openstack` has it in a config drive, undefined
 * where there is none.
 */
export type ConfigSource =
  | { from: 'system'; bytes: Uint8Array }
  | { from: 'cmdline'; url: string }
  | { from: 'openstack'; drive: ConfigDrive | undefined }
  | null

export interface AcquiredConfig {
  /** The user's config, with all that it refers to merged in. */
  config: SpecConfig
  /** The newest version among the configs before translation; null without a config. */
  version: SpecVersion | null
  /** URLs that were fetched for it, without the parts that may be secret. */
  fetched: string[]
}

/** Configs that were fetched until now, for the journal. */
export type FetchedConfigs = { kind: 'base' | 'user'; source: string; referenced: boolean }[]

/** Reads the base config, as every stage does. */
export function readBaseConfig(log: IgnitionLog, seen: FetchedConfigs): SpecConfig {
  log.line('info', `reading system config file "${CONFIG_FOLDER}/base.d/00-core.ign"`)
  log.line('debug', `parsing config with SHA512: ${sha512(Buffer.from(BASE_CONFIG))}`)
  log.line('info', `no config dir at "${CONFIG_FOLDER}/base.platform.d/metal"`)
  seen.push({ kind: 'base', source: 'system', referenced: false })
  return (baseConfig ??= raised(readIgnition(BASE_CONFIG)))
}

/** {@link BASE_CONFIG} as every stage of every boot reads it; merging changes neither of its configs. */
let baseConfig: SpecConfig | undefined

export const withBase = (base: SpecConfig, config: SpecConfig): SpecConfig => mergeIgnition(base, config, OWN_VERSION)

/**
 * Reads the user's config and all that it refers to.
 *
 * @param offline whether there is no network yet; the result is null when one is needed
 * @throws IgnitionFailure
 */
export async function acquireConfig(
  source: ConfigSource,
  resources: Resources,
  log: IgnitionLog,
  seen: FetchedConfigs,
  offline: boolean,
): Promise<AcquiredConfig | null> {
  const needsNetwork = (): null => {
    log.line('info', `failed to fetch config: ${NEEDS_NETWORK}`)
    return null
  }
  const url = source?.from === 'cmdline' ? source.url : ''
  log.line('debug', `parsed url from cmdline: ${goQuoted(url)}`)
  if (url === '') {
    log.line('info', 'no config URL provided')
    log.line('info', `reading system config file "${CONFIG_FOLDER}/user.ign"`)
  }
  try {
    if (url !== '' && offline && !/^data:/i.test(url)) return needsNetwork()
    resources.limit(CONFIG_FETCH_TIMEOUT)
    // Without a network the provider does not even look for a drive (coreos/ignition internal/providers/openstack).
    if (source?.from === 'openstack' && offline) return needsNetwork()
    const bytes = await fetchConfigBytes(source, resources, log)
    if (bytes) log.line('debug', `parsing config with SHA512: ${sha512(bytes)}`)
    else if (source?.from !== 'openstack') {
      log.line('info', `no config at "${CONFIG_FOLDER}/user.ign"`)
      log.line('debug', 'metal provider fetching empty config')
    }
    if (!bytes?.length) {
      log.line('info', 'not a config (empty): provider config was empty, continuing with empty cache config')
      await resources.configure()
      return { config: raised(readIgnition({ ignition: { version: '3.0.0' } })), version: null, fetched: [] }
    }
    if (!report(bytes, log).valid) readIgnition(bytes)
    seen.push({ kind: 'user', source: source!.from, referenced: false })
    const found = await render(bytes, resources, log, seen, offline)
    if (found === 'offline') return needsNetwork()
    refuseNewer(found.version, resources.newest)
    return found
  } catch (error) {
    if (!(error instanceof UserError) && !(error instanceof IgnitionFailure)) throw error
    const why = error instanceof UserError ? refusalOf(error) : error.message
    log.line('warning', `failed to fetch config: ${why}`)
    log.line('crit', `failed to acquire config: ${why}`)
    throw new IgnitionFailure(why, error instanceof IgnitionFailure ? error.explanation : errorChain(error).join(': '))
  }
}

async function fetchConfigBytes(
  source: ConfigSource,
  resources: Resources,
  log: IgnitionLog,
): Promise<Uint8Array | undefined> {
  if (source?.from === 'cmdline') return resources.bytes({ source: source.url })
  if (source?.from !== 'openstack') return source?.bytes
  const { drive } = source
  if (!drive) {
    for (const label of ['config-2', 'CONFIG-2'])
      log.line('debug', `config drive ("/dev/disk/by-label/${label}") not found. Waiting...`)
    return resources.never()
  }
  log.line('debug', 'creating temporary mount point')
  await log.operation('mounting config drive', () => {
    const argv = ['mount', '-o', 'ro', '-t', 'auto', drive.path, '/tmp/ignition-configdrive0']
    log.line('debug', `executing: ${argv.map(goQuoted).join(' ')}`)
  })
  return drive.userData ?? undefined
}

/** An older Ignition than the simulated one reads no config of a later spec. */
function refuseNewer(version: SpecVersion | null, newest: SpecVersion): void {
  if (version === null || newest === NEWEST_STABLE || atLeast(newest, version)) return
  throw new IgnitionFailure(
    'unsupported config version',
    `the config is of version ${version}, and the Ignition of this system reads at most ${newest}`,
  )
}

async function render(
  bytes: Uint8Array,
  resources: Resources,
  log: IgnitionLog,
  seen: FetchedConfigs,
  offline: boolean,
): Promise<AcquiredConfig | 'offline'> {
  class Offline extends Error {}
  const referenced: string[] = []
  try {
    const rendered = await renderIgnition(
      bytes,
      (resource) => {
        if (offline) throw new Offline()
        return resources.raw(resource)
      },
      {
        settings: async (config) => {
          const isRemote = ({ source = '' }) => !/^data:/i.test(source)
          if (offline && config.ignition?.security?.tls?.certificateAuthorities?.some(isRemote)) throw new Offline()
          await resources.configure(config.ignition)
        },
        fetched: ({ source = '' }, text) => {
          const isData = /^data:/i.test(source)
          const from = isData ? 'from data url' : `at ${maskedUrl(source)}`
          log.line('debug', `fetched referenced config ${from} with SHA512: ${sha512(text)}`)
          report(text, log)
          const path = isData ? '' : new URL(source).pathname
          referenced.push(path)
        },
      },
    )
    for (const path of referenced) seen.push({ kind: 'user', source: path, referenced: true })
    const config = raised(rendered)
    for (const finding of validateIgnition(config).findings)
      log.line(finding.kind === 'error' ? 'crit' : 'warning', maskConfigLine(findingLine(finding)))
    return { config, version: rendered.version, fetched: rendered.fetched }
  } catch (error) {
    if (error instanceof Offline) return 'offline'
    throw error
  }
}

export const fetchedLine = ({ kind, source, referenced }: FetchedConfigs[number]): string =>
  `fetched ${referenced ? 'referenced ' : ''}${kind} config from ${goQuoted(source)}`

/** Ignition's own message, which is shorter: its report has already been printed. */
function refusalOf({ code, message }: UserError): string {
  if (code === 'ignition-resource') return /hash verification failed.*$/.exec(message)?.[0] ?? message
  if (code === 'ignition-old-version' || code === 'ignition-unknown-version') return 'unsupported config version'
  return code === 'ignition-cycle' ? message : 'config is not valid'
}

/** Prints Ignition's findings about a config, without secrets. */
function report(bytes: Uint8Array, log: IgnitionLog): IgnitionReport {
  const judged = validateIgnition(bytes)
  for (const finding of judged.findings)
    log.line(finding.kind === 'error' ? 'crit' : 'warning', maskConfigLine(findingLine(finding)))
  return judged
}

const raised = ({ config, version }: Pick<ReturnType<typeof readIgnition>, 'config' | 'version'>): SpecConfig =>
  translateIgnition(config, version, OWN_VERSION, { asIgnitionDoes: true })

const sha512 = (bytes: Uint8Array): string => createHash('sha512').update(bytes).digest('hex')
