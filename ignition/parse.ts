import { checkNesting, isObject, UserError } from '../base/runtime/index.js'
import { butaneVariant } from './butane.js'
import { refuseForeignObject, refuseForeignText, refuseIso } from './foreign-input.js'
import { JsonSyntaxError, readJson } from './json/read-json.js'
import { looksLikeCloudConfig } from './cloud-config.js'
import type { IgnitionConfig } from './config.js'
import { hasShape, shapeError } from './ignition-schema.js'
import { SPEC_VERSIONS } from './spec/spec-versions.js'

const remedy = 'Give an Ignition config of spec 3.x in JSON, as butane or openshift-install write it.'

/**
 * Reads an Ignition config: JSON as bytes or text, or a parsed object. Checks that it is a config of a known 3.x
 * version and that the parts a deployment reads have the right types; the full rules of the spec are not applied.
 *
 * The sentences never quote the config, which may hold secrets.
 *
 * @throws UserError `ignition-empty`, `ignition-not-json`, `ignition-butane`, `ignition-cloud-config`,
 *   `ignition-not-a-config`, `ignition-old-version`, `ignition-unknown-version`, `ignition-invalid`, `nested-too-deeply`
 *
 * @example
 * import { parseIgnition } from 'ironstage/ignition'
 *
 * const users = parseIgnition('{"ignition":{"version":"3.4.0"}}').passwd?.users
 */
export function parseIgnition(input: Uint8Array | string | object): IgnitionConfig {
  const value = typeof input === 'string' || input instanceof Uint8Array ? parseText(decodeConfig(input)) : input
  checkNesting(value, 'the Ignition config')
  const version = specVersionOf(value)
  if (/^[12](\.|$)/.test(version))
    throw new UserError(
      'ignition-old-version',
      `the Ignition config is of version ${version}, and CoreOS reads only spec 3.x`,
      { remedy: 'Translate it to spec 3 (ign-converter, or generate it again with butane).' },
    )
  if (!SPEC_VERSIONS.some((known) => known === version))
    throw new UserError(
      'ignition-unknown-version',
      `unsupported Ignition version ${quoteVersion(version)} (supported: ${SPEC_VERSIONS.join(', ')})`,
      { remedy },
    )
  if (!hasShape(value))
    throw new UserError('ignition-invalid', `the Ignition config is not valid: ${shapeError()}`, {
      remedy,
    })
  return value
}

function decodeConfig(input: Uint8Array | string): string {
  if (typeof input === 'string') return input
  refuseIso(input)
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(input)
  } catch {
    throw new UserError('ignition-not-json', 'the Ignition config is not UTF-8 text', { remedy })
  }
}

function parseText(text: string): unknown {
  if (text.trim() === '') throw new UserError('ignition-empty', 'the Ignition config is empty', { remedy })
  try {
    return JSON.parse(text)
  } catch {
    refuseButane(butaneVariant(text))
    refuseForeignText(text)
    if (looksLikeCloudConfig(text))
      throw new UserError(
        'ignition-cloud-config',
        'this is user data for cloud-init, not an Ignition config; CoreOS has no cloud-init to read it',
        { remedy: 'Write what it sets up as Butane, run butane --strict FILE.bu > FILE.ign, then give FILE.ign.' },
      )
    // A parser's message may quote the text, which may hold secrets: use only its position.
    throw new UserError('ignition-not-json', `the Ignition config is not JSON${errorPlace(text)}`, { remedy })
  }
}

function refuseButane(variant: string | null): void {
  if (variant === null) return
  throw new UserError(
    'ignition-butane',
    `this is a Butane file (variant ${variant}), not the Ignition config that is made from it`,
    { remedy: 'butane --strict FILE.bu > FILE.ign, then give FILE.ign.' },
  )
}

/** Line and column of the first syntax error. JSON.parse names no place for some of them. */
function errorPlace(text: string): string {
  const bytes = Buffer.from(text)
  try {
    readJson(bytes)
    return ''
  } catch (error) {
    if (!(error instanceof JsonSyntaxError)) throw error
    const isCut = /unexpected end/.test(error.message)
    const before = bytes
      .subarray(0, isCut ? bytes.length : error.offset - 1)
      .toString()
      .split('\n')
    return ` (${isCut ? 'it ends at ' : ''}line ${before.length}, column ${before.at(-1)!.length + 1})`
  }
}

function specVersionOf(value: unknown): string {
  const header = isObject(value) ? value['ignition'] : undefined
  const version = isObject(header) ? header['version'] : undefined
  if (typeof version === 'string' && version !== '') return version
  refuseForeignObject(value)
  if (isObject(value) && typeof value['variant'] === 'string') refuseButane(butaneVariant(JSON.stringify(value)))
  if (isObject(value) && ('variant' in value || 'ignitionVersion' in value))
    throw new UserError('ignition-not-a-config', 'this is not an Ignition config but what one is made from', {
      remedy: 'Run it through butane first.',
    })
  throw new UserError('ignition-not-a-config', 'this is not an Ignition config: it has no ignition.version', { remedy })
}

/** Repeats only text that looks like a version: a mistyped field may hold a secret. */
const quoteVersion = (version: string) => (/^[\w.+-]{1,40}$/.test(version) ? version : '(unreadable)')
