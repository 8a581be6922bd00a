import { basename } from 'node:path'
import { gzipSync } from 'node:zlib'
import { stringify } from 'yaml'
import { UserError, defined } from '../../base/runtime/index.js'
import { parseIgnition } from '../../ignition/index.js'
import { normalConsole } from './console.js'
import { consoleNote } from './console-note.js'
import { IGNITION_FILE, keyfileFiles, type Keyfile } from './contents.js'
import { requireNetwork, type OsFeatures } from './features.js'
import type { InitramfsFiles } from './initramfs.js'
import { checkInstallerConfig } from './installer-config.js'
import { scriptName, scriptUnit, type InstallMoment } from './install-script.js'
import { LiveImageError } from '../live-image-error.js'

/** A file of the user, with its contents. */
export interface NamedFile {
  path: string
  bytes: Uint8Array
}

/** Things that a customized live image does at boot. */
export interface Customization {
  /** Ignition configs for the installed system. This and each other field that begins with `dest` makes the image install at boot. */
  destIgnition?: readonly NamedFile[]
  /** Disk that is overwritten without confirmation. */
  destDevice?: string
  /** Consoles such as `ttyS0,115200n8`. */
  destConsole?: readonly string[]
  destKargAppend?: readonly string[]
  destKargDelete?: readonly string[]
  /** NetworkManager keyfiles, for the live and the installed system. */
  networkKeyfile?: readonly NamedFile[]
  /** Keyfiles that nmstate generated, with its names. */
  networkNmstate?: readonly Keyfile[]
  /** PEM bundles that Ignition trusts in both systems. */
  ignitionCa?: readonly NamedFile[]
  preInstall?: readonly NamedFile[]
  postInstall?: readonly NamedFile[]
  /** Config files of the installer, read before the settings of the `dest` fields. */
  installerConfig?: readonly NamedFile[]
  /** Ignition configs for the live system. */
  liveIgnition?: readonly NamedFile[]
}

/** Files to embed in an image for a {@link Customization}. */
export interface Customized {
  files: InitramfsFiles
  /** Set when the image runs the installer at boot; `device` is the disk that it overwrites, if the customization names it. */
  installs: { device: string | undefined } | undefined
}

/** Newest Ignition spec that every customizable image supports. */
const CUSTOMIZE_SPEC = '3.3.0'
const DEST_CONFIG = '/etc/coreos/dest.ign'

interface CompressedSource {
  compression: 'gzip'
  source: string
}

/**
 * Builds the files that coreos-installer 0.27.0 embeds for the same options: an Ignition config for the live system,
 * which holds everything else, and keyfiles. Checks and messages have its order, so a message may come before an error.
 *
 * @param features features of the image
 * @param report called with each message, without a line break at its end
 * @throws LiveImageError for an invalid file, and for an option that the image does not support
 */
export function customize(
  customization: Customization,
  features: OsFeatures,
  report: (message: string) => void = () => {},
): Customized {
  const { destConsole = [], destKargAppend = [] } = customization
  const live = new LiveConfig()
  const destination = (customization.destIgnition ?? []).map(checkedConfig)
  if (destConsole.length > 0 && !features['installer-config-directives']?.['console'])
    throw new LiveImageError('This OS image does not support customizing the destination console.')
  const note = consoleNote(destKargAppend, { karg: '--dest-karg-append', console: '--dest-console' })
  if (note !== undefined) report(note)
  const files = networkFiles(customization, features)
  for (const { bytes } of customization.ignitionCa ?? []) live.authorities.push(compressSource(bytes))
  for (const file of customization.preInstall ?? []) live.addScript('pre', file)
  for (const file of customization.postInstall ?? []) live.addScript('post', file)
  const addInstallerConfig = installerConfigs(live, features)
  for (const { path, bytes } of customization.installerConfig ?? []) {
    try {
      checkInstallerConfig(Buffer.from(bytes).toString())
    } catch (cause) {
      throw new LiveImageError(`parsing installer config ${path}`, cause)
    }
    addInstallerConfig(basename(path), bytes)
  }
  for (const file of customization.liveIgnition ?? []) live.merge.push(compressSource(checkedConfig(file)))
  if (destination.length > 0)
    live.addFile(DEST_CONFIG, 0o600, Buffer.from(destinationConfig(destination, customization.ignitionCa ?? [])))
  const own = destinationSettings(customization)
  const installs = own || customization.installerConfig?.length ? { device: customization.destDevice } : undefined
  if (installs) {
    report(
      installs.device === undefined
        ? 'Boot media will automatically run installer.'
        : `Boot media will automatically install to ${installs.device} without confirmation.`,
    )
    const config = { ...own, ...defined({ 'copy-network': files.size > 0 ? true : undefined }) }
    if (Object.keys(config).length > 0) addInstallerConfig('customize.yaml', yaml(config))
  }
  const config = live.text()
  if (config !== undefined) files.set(IGNITION_FILE, Buffer.from(config))
  return { files, installs }
}

function networkFiles(
  { networkKeyfile = [], networkNmstate = [] }: Customization,
  features: OsFeatures,
): Map<string, Uint8Array> {
  if (networkKeyfile.length + networkNmstate.length > 0) requireNetwork(features)
  const files = new Map<string, Uint8Array>()
  const add = (keyfile: Keyfile, nameOf: (path: string) => string) => {
    const [[path, bytes]] = [...keyfileFiles([keyfile])] as [[string, Uint8Array]]
    if (files.has(path)) throw new LiveImageError(`config already specifies keyfile ${nameOf(path)}`)
    files.set(path, bytes)
  }
  for (const { path, bytes } of networkKeyfile) add({ name: basename(path), bytes }, () => basename(path))
  for (const keyfile of networkNmstate) add(keyfile, (path) => path)
  return files
}

/** Returns a function that adds a config file of the installer, numbered in the order of calls. */
function installerConfigs(live: LiveConfig, features: OsFeatures): (name: string, bytes: Uint8Array) => void {
  let number = 0
  return (name, bytes) => {
    if (!features['installer-config'])
      throw new LiveImageError('This OS image does not support customizing installer configuration.')
    live.addFile(`/etc/coreos/installer.d/${`${number++}`.padStart(4, '0')}-${name}`, 0o600, bytes)
  }
}

/** Installer settings from the `dest` fields; undefined when there are none. */
function destinationSettings(customization: Customization): Record<string, unknown> | undefined {
  const { destIgnition = [], destDevice, destConsole = [], destKargAppend = [], destKargDelete = [] } = customization
  const own = defined({
    'ignition-file': destIgnition.length > 0 ? DEST_CONFIG : undefined,
    console: destConsole.length > 0 ? destConsole.map(normalConsole) : undefined,
    'append-karg': destKargAppend.length > 0 ? destKargAppend : undefined,
    'delete-karg': destKargDelete.length > 0 ? destKargDelete : undefined,
    'dest-device': destDevice,
  })
  return Object.keys(own).length > 0 ? own : undefined
}

/** Writes the settings in the installer's order. */
function yaml(config: Record<string, unknown>): Buffer {
  const order = ['ignition-file', 'console', 'append-karg', 'delete-karg', 'copy-network', 'dest-device']
  const sorted = Object.fromEntries(order.flatMap((key) => (key in config ? [[key, config[key]]] : [])))
  return Buffer.from(stringify(sorted, { version: '1.1', indentSeq: false, lineWidth: 0 }))
}

/** Merges the configs for the installed system. A single config without authorities stays as it is. */
function destinationConfig(configs: readonly Buffer[], authorities: readonly NamedFile[]): string {
  const [only] = configs
  if (configs.length === 1 && authorities.length === 0) return `${only!.toString()}\n`
  const config = new LiveConfig()
  config.merge.push(...configs.map(compressSource))
  config.authorities.push(...authorities.map(({ bytes }) => compressSource(bytes)))
  return config.text()!
}

/** Validates a config, and removes its white space. */
function checkedConfig({ path, bytes }: NamedFile): Buffer {
  try {
    return Buffer.from(JSON.stringify(parseIgnition(bytes)))
  } catch (error) {
    const unknown = error instanceof UserError && /^ignition-(old|unknown)-version$/.test(error.code)
    const cause = unknown ? new LiveImageError(`unsupported config version: ${versionIn(bytes)}`) : error
    throw new LiveImageError(`parsing Ignition config ${path}`, cause)
  }
}

/** Version of a config that is known to have one. */
const versionIn = (bytes: Uint8Array): string =>
  (JSON.parse(Buffer.from(bytes).toString()) as { ignition: { version: string } }).ignition.version

function compressSource(bytes: Uint8Array): CompressedSource {
  const gzip = gzipSync(bytes, { level: 9 })
  // Operating system "unknown", as coreos-installer writes: every host makes the same image.
  gzip[9] = 0xff
  return { compression: 'gzip', source: `data:;base64,${gzip.toString('base64')}` }
}

/** Names that are valid in a unit's name and as a word of a command line. */
const SCRIPT_NAME = /^[\w.:-]+$/

class LiveConfig {
  readonly merge: CompressedSource[] = []
  readonly authorities: CompressedSource[] = []
  readonly #files: { contents: CompressedSource; mode: number; path: string }[] = []
  readonly #units: { contents: string; enabled: true; name: string }[] = []

  addFile(path: string, mode: number, bytes: Uint8Array): void {
    if (this.#files.some((file) => file.path === path))
      throw new LiveImageError(`config already specifies path ${path}`)
    this.#files.push({ contents: compressSource(bytes), mode, path })
  }

  addScript(moment: InstallMoment, { path, bytes }: NamedFile): void {
    const name = basename(path)
    if (!SCRIPT_NAME.test(name))
      throw new LiveImageError(`script ${JSON.stringify(name)} cannot be named in a unit: use letters, digits, . : _ -`)
    this.addFile(`/usr/local/bin/${scriptName(moment, name)}`, 0o700, bytes)
    this.#units.push({
      contents: scriptUnit(moment, name),
      enabled: true,
      name: `${scriptName(moment, name)}.service`,
    })
  }

  /** The config as text; undefined when it is empty. */
  text(): string | undefined {
    const config = {
      ignition: {
        ...defined({
          config: this.merge.length > 0 ? { merge: this.merge } : undefined,
          security: this.authorities.length > 0 ? { tls: { certificateAuthorities: this.authorities } } : undefined,
        }),
        version: CUSTOMIZE_SPEC,
      },
      ...defined({
        storage: this.#files.length > 0 ? { files: this.#files } : undefined,
        systemd: this.#units.length > 0 ? { units: this.#units } : undefined,
      }),
    }
    const empty = Object.keys(config).length === 1 && Object.keys(config.ignition).length === 1
    return empty ? undefined : `${JSON.stringify(config)}\n`
  }
}
