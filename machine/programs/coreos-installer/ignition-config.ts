import { createHash } from 'node:crypto'
import { parse as parseYaml } from 'yaml'
import type { FileTree } from '../program.js'
import { during, Failure } from './failure.js'
import { fetchAll, type Fetching } from './http.js'
import type { InstallOptions } from './options.js'

/**
 * The config that is to be embedded, its bytes as they are; undefined when none was asked for. Only whether it is JSON
 * is checked, as coreos-installer does: Ignition itself judges the rest, at first boot.
 */
export async function readIgnition(
  options: InstallOptions,
  files: FileTree,
  fetching: Fetching,
): Promise<Uint8Array | undefined> {
  const { ignitionFile, ignitionUrl } = options
  if (ignitionFile !== undefined) {
    const bytes = await during(`opening source Ignition config ${ignitionFile}`, () => files.read(ignitionFile))
    check(bytes)
    return bytes
  }
  if (ignitionUrl !== undefined) {
    const { protocol } = new URL(ignitionUrl)
    if (protocol === 'http:' && options.ignitionHash === undefined && !options.insecureIgnition)
      throw new Failure('refusing to fetch Ignition config over HTTP without --ignition-hash or --insecure-ignition')
    if (protocol !== 'http:' && protocol !== 'https:') throw new Failure(`unknown protocol for URL '${ignitionUrl}'`)
    const bytes = await during(`fetching source Ignition config ${ignitionUrl}`, () => fetchAll(ignitionUrl, fetching))
    check(bytes)
    return bytes
  }
  return undefined
}

function check(bytes: Uint8Array): void {
  const text = Buffer.from(bytes).toString('utf8')
  try {
    JSON.parse(text)
    return
  } catch {
    // Not JSON: maybe Butane.
  }
  if (isButane(text))
    throw new Failure('specified file is a Butane YAML config, which this machine cannot boot; translate it first')
  throw new Failure('specified file is not a valid Ignition JSON config or Butane YAML config')
}

function isButane(text: string): boolean {
  try {
    const config: unknown = parseYaml(text)
    return typeof config === 'object' && config !== null && 'variant' in config
  } catch {
    return false
  }
}

/** @throws Failure when the config's digest is not the one of `--ignition-hash` */
export function checkDigest(bytes: Uint8Array, expected: string | undefined): void {
  if (expected === undefined) return
  const dash = expected.indexOf('-')
  const computed = createHash(expected.slice(0, dash)).update(bytes).digest('hex')
  const wanted = expected.slice(dash + 1).toLowerCase()
  if (computed !== wanted)
    throw new Failure(
      'failed to validate Ignition configuration digest',
      new Failure(`hash mismatch, computed '${computed}' but expected '${wanted}'`),
    )
}
