import { basename } from 'node:path'
import { gzipSync } from 'node:zlib'
import { stringify } from 'yaml'
import { UserError } from '../../runtime/index.js'
import { parseIgnition } from '../../ignition/index.js'
import { normalConsole } from './console.js'
import { consoleNote } from './console-note.js'
import { IGNITION_FILE, keyfileFiles, type Keyfile } from './contents.js'
import { requireNetwork, type OsFeatures } from './features.js'
import type { Files } from './initramfs.js'
import { checkInstallerConfig } from './installer-config.js'
import { scriptName, scriptUnit, type InstallMoment } from './install-script.js'
import { LiveImageError } from '../live-image-error.js'

/** A file that somebody named, with its contents. */
export interface NamedFile {
  path: string
  bytes: Uint8Array
}

/** What a live image can be made to do by itself. */
export interface Customization {
  /** Configs for the installed system. This and what else begins with `dest` makes the image install at boot. */
  destIgnition?: readonly NamedFile[]
  /** The disk that is overwritten without asking. */
  destDevice?: string
  /** As in `ttyS0,115200n8`. */
  destConsole?: readonly string[]
  destKargAppend?: readonly string[]
  destKargDelete?: readonly string[]
  /** NetworkManager keyfiles, for the live and the installed system. */
  networkKeyfile?: readonly NamedFile[]
  /** Keyfiles that nmstate made, by the names that it gave them. */
  networkNmstate?: readonly Keyfile[]
  /** PEM bundles that Ignition trusts in both. */
  ignitionCa?: readonly NamedFile[]
  preInstall?: readonly NamedFile[]
  postInstall?: readonly NamedFile[]
  /** Config files of the installer, which come before what is said here. */
  installerConfig?: readonly NamedFile[]
  /** Configs for the live system. */
  liveIgnition?: readonly NamedFile[]
}

/** What to embed in an image for a {@link Customization}. */
export interface Customized {
  files: Files
  /** Whether the machine that boots it runs the installer, and which disk that overwrites if it is said here. */
  installs: { device: string | undefined } | undefined
}

/** The newest spec that all images have which can be customised. */
const VERSION = '3.3.0'
const DEST_CONFIG = '/etc/coreos/dest.ign'

interface Source {
  compression: 'gzip'
  source: string
}

/**
 * Puts together what coreos-installer 0.27.0 embeds for the same wishes: an Ignition config for the live system, which
 * holds all the rest, and keyfiles beside it. Checks and messages come in its order, so a message may precede a refusal.
 *
 * @param features of the image
 * @param say is given each message, without the line break at its end
 * @throws LiveImageError for a file that is not what it should be, and for what the image does not support
 */
export function customize(
  wishes: Customization,
  features: OsFeatures,
  say: (message: string) => void = () => {},
): Customized {
  const { destConsole = [], destKargAppend = [] } = wishes
  const live = new LiveConfig()
  const destination = (wishes.destIgnition ?? []).map(checkedConfig)
  if (destConsole.length > 0 && !features['installer-config-directives']?.['console'])
    throw new LiveImageError('This OS image does not support customizing the destination console.')
  const note = consoleNote(destKargAppend, { karg: '--dest-karg-append', console: '--dest-console' })
  if (note !== undefined) say(note)
  const files = networkFiles(wishes, features)
  for (const { bytes } of wishes.ignitionCa ?? []) live.authorities.push(packed(bytes))
  for (const file of wishes.preInstall ?? []) live.addScript('pre', file)
  for (const file of wishes.postInstall ?? []) live.addScript('post', file)
  const addInstallerConfig = installerConfigs(live, features)
  for (const { path, bytes } of wishes.installerConfig ?? []) {
    try {
      checkInstallerConfig(Buffer.from(bytes).toString())
    } catch (cause) {
      throw new LiveImageError(`parsing installer config ${path}`, cause)
    }
    addInstallerConfig(basename(path), bytes)
  }
  for (const file of wishes.liveIgnition ?? []) live.merge.push(packed(checkedConfig(file)))
  if (destination.length > 0)
    live.addFile(DEST_CONFIG, 0o600, Buffer.from(destinationConfig(destination, wishes.ignitionCa ?? [])))
  const own = ownConfig(wishes)
  const installs = own || wishes.installerConfig?.length ? { device: wishes.destDevice } : undefined
  if (installs) {
    say(
      installs.device === undefined
        ? 'Boot media will automatically run installer.'
        : `Boot media will automatically install to ${installs.device} without confirmation.`,
    )
    const config = { ...own, ...(files.size > 0 ? { 'copy-network': true } : {}) }
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
  const add = (keyfile: Keyfile, called: (path: string) => string) => {
    const [[path, bytes]] = [...keyfileFiles([keyfile])] as [[string, Uint8Array]]
    if (files.has(path)) throw new LiveImageError(`config already specifies keyfile ${called(path)}`)
    files.set(path, bytes)
  }
  for (const { path, bytes } of networkKeyfile) add({ name: basename(path), bytes }, () => basename(path))
  for (const keyfile of networkNmstate) add(keyfile, (path) => path)
  return files
}

/** Adds one config file of the installer after the other. */
function installerConfigs(live: LiveConfig, features: OsFeatures): (name: string, bytes: Uint8Array) => void {
  let number = 0
  return (name, bytes) => {
    if (!features['installer-config'])
      throw new LiveImageError('This OS image does not support customizing installer configuration.')
    live.addFile(`/etc/coreos/installer.d/${`${number++}`.padStart(4, '0')}-${name}`, 0o600, bytes)
  }
}

/** What the installer is to do, apart from the configs that were given; undefined when that is nothing. */
function ownConfig(wishes: Customization): Record<string, unknown> | undefined {
  const { destIgnition = [], destDevice, destConsole = [], destKargAppend = [], destKargDelete = [] } = wishes
  const own = {
    ...(destIgnition.length > 0 && { 'ignition-file': DEST_CONFIG }),
    ...(destConsole.length > 0 && { console: destConsole.map(normalConsole) }),
    ...(destKargAppend.length > 0 && { 'append-karg': destKargAppend }),
    ...(destKargDelete.length > 0 && { 'delete-karg': destKargDelete }),
    ...(destDevice !== undefined && { 'dest-device': destDevice }),
  }
  return Object.keys(own).length > 0 ? own : undefined
}

/** In the order in which the installer writes its settings. */
function yaml(config: Record<string, unknown>): Buffer {
  const order = ['ignition-file', 'console', 'append-karg', 'delete-karg', 'copy-network', 'dest-device']
  const sorted = Object.fromEntries(order.flatMap((key) => (key in config ? [[key, config[key]]] : [])))
  return Buffer.from(stringify(sorted, { version: '1.1', indentSeq: false, lineWidth: 0 }))
}

/** A config that is alone goes in as it is. */
function destinationConfig(configs: readonly Buffer[], authorities: readonly NamedFile[]): string {
  const [only] = configs
  if (configs.length === 1 && authorities.length === 0) return `${only!.toString()}\n`
  const config = new LiveConfig()
  config.merge.push(...configs.map(packed))
  config.authorities.push(...authorities.map(({ bytes }) => packed(bytes)))
  return config.text()!
}

/** The config without white space, once it is known to be one. */
function checkedConfig({ path, bytes }: NamedFile): Buffer {
  try {
    return Buffer.from(JSON.stringify(parseIgnition(bytes)))
  } catch (error) {
    const unknown = error instanceof UserError && /^ignition-(old|unknown)-version$/.test(error.code)
    const cause = unknown ? new LiveImageError(`unsupported config version: ${versionIn(bytes)}`) : error
    throw new LiveImageError(`parsing Ignition config ${path}`, cause)
  }
}

/** Of a config that was found to have one. */
const versionIn = (bytes: Uint8Array): string =>
  (JSON.parse(Buffer.from(bytes).toString()) as { ignition: { version: string } }).ignition.version

function packed(bytes: Uint8Array): Source {
  const gzip = gzipSync(bytes, { level: 9 })
  // No operating system, as coreos-installer writes: the same image wherever it is made.
  gzip[9] = 0xff
  return { compression: 'gzip', source: `data:;base64,${gzip.toString('base64')}` }
}

/** A unit's name, and a word of a command line. */
const SCRIPT_NAME = /^[\w.:-]+$/

class LiveConfig {
  readonly merge: Source[] = []
  readonly authorities: Source[] = []
  readonly #files: { contents: Source; mode: number; path: string }[] = []
  readonly #units: { contents: string; enabled: true; name: string }[] = []

  addFile(path: string, mode: number, bytes: Uint8Array): void {
    if (this.#files.some((file) => file.path === path))
      throw new LiveImageError(`config already specifies path ${path}`)
    this.#files.push({ contents: packed(bytes), mode, path })
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

  /** Undefined when there is nothing in it. */
  text(): string | undefined {
    const config = {
      ignition: {
        ...(this.merge.length > 0 ? { config: { merge: this.merge } } : {}),
        ...(this.authorities.length > 0 ? { security: { tls: { certificateAuthorities: this.authorities } } } : {}),
        version: VERSION,
      },
      ...(this.#files.length > 0 ? { storage: { files: this.#files } } : {}),
      ...(this.#units.length > 0 ? { systemd: { units: this.#units } } : {}),
    }
    const empty = Object.keys(config).length === 1 && Object.keys(config.ignition).length === 1
    return empty ? undefined : `${JSON.stringify(config)}\n`
  }
}
