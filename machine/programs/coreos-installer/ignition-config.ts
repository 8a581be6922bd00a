import { createHash } from 'node:crypto'
import { parseDocument } from 'yaml'
import type { FileTree } from '../../file-tree.js'
import { duringInstall, Failure } from './installer-error.js'
import { fetchAll, type Fetching } from './source/http.js'
import type { InstallOptions } from './command-line/installer-options.js'

/**
 * The config to embed, byte for byte; undefined without one. As in coreos-installer it only has to be JSON or Butane's
 * YAML: Ignition validates it at first boot.
 */
export async function readEmbeddedIgnition(
  options: InstallOptions,
  files: FileTree,
  fetching: Fetching,
): Promise<Uint8Array | undefined> {
  const { ignitionFile, ignitionUrl } = options
  if (ignitionFile !== undefined) {
    if (files.exists(ignitionFile) && files.stat(ignitionFile).kind === 'directory')
      // A folder can be opened, but not read.
      throw new Failure('reading config file', new Failure('Is a directory (os error 21)'))
    const bytes = await duringInstall(`opening source Ignition config ${ignitionFile}`, () => files.read(ignitionFile))
    checkConfigForm(bytes)
    return bytes
  }
  if (ignitionUrl !== undefined) {
    const { protocol } = new URL(ignitionUrl)
    if (protocol === 'http:' && options.ignitionHash === undefined && !options.insecureIgnition)
      throw new Failure('refusing to fetch Ignition config over HTTP without --ignition-hash or --insecure-ignition')
    if (protocol !== 'http:' && protocol !== 'https:') throw new Failure(`unknown protocol for URL '${ignitionUrl}'`)
    const bytes = await duringInstall(`downloading source Ignition config ${ignitionUrl}`, () =>
      fetchAll(ignitionUrl, fetching),
    )
    checkConfigForm(bytes)
    return bytes
  }
  return undefined
}

function checkConfigForm(bytes: Uint8Array): void {
  if (!isJsonConfig(bytes) && !isButane(bytes))
    throw new Failure('specified file is not a valid Ignition JSON config or Butane YAML config')
}

const decodeConfigText = (bytes: Uint8Array): string =>
  new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)

function isJsonConfig(bytes: Uint8Array): boolean {
  try {
    JSON.parse(decodeConfigText(bytes))
    return true
  } catch {
    return false
  }
}

/** True if the bytes are YAML with a `variant`. 0.27.0 writes such a config to the disk unchanged. */
function isButane(bytes: Uint8Array): boolean {
  try {
    const config = parseDocument(decodeConfigText(bytes))
    return config.errors.length === 0 && config.has('variant')
  } catch {
    return false
  }
}

/** @throws Failure when the config's digest is not the one of `--ignition-hash` */
export function checkDigest(bytes: Uint8Array, expected: string | undefined): void {
  if (expected === undefined) return
  const dash = expected.indexOf('-')
  const computed = createHash(expected.slice(0, dash)).update(bytes).digest('hex')
  const wanted = expected.slice(dash + 1)
  if (computed !== wanted)
    throw new Failure(
      'failed to validate Ignition configuration digest',
      new Failure(`hash mismatch, computed '${computed}' but expected '${wanted}'`),
    )
}
