import { MAX_JSON_DEPTH, isNestedDeeper } from '../base/runtime/index.js'
import { Findings, type IgnitionFinding } from './findings.js'
import { Places } from './json/place.js'
import { JsonSyntaxError, readJson, type JsonNode } from './json/read-json.js'
import { findDuplicates } from './rules/duplicates.js'
import { applyRules } from './rules/rules.js'
import type { SpecConfig } from './spec/config-types.js'
import { decodeIgnition, type StructValue } from './spec/decode.js'
import { hasTypes } from './spec/json-schema.js'
import { firstMismatch } from './spec/mismatch.js'
import { ignitionSpecOf } from './spec/spec.js'
import { findUnusedKeys, offsetOf, pathText } from './spec/text-tree.js'
import { versionText } from './spec/version-stub.js'
import { readSpecVersion, type SpecVersion } from './spec/spec-versions.js'

/** Ignition's verdict on a config. */
export interface IgnitionReport {
  /** Whether Ignition accepts it. */
  valid: boolean
  /** Null when the config has no version that can be read. */
  version: SpecVersion | null
  /** Errors and warnings, in Ignition's order. */
  findings: IgnitionFinding[]
  /** Ignition's message; null for a valid config. With findings it is always `config is not valid`. */
  refusal: string | null
  /** The config as Ignition reads it; null unless it is valid. */
  config: SpecConfig | null
}

const NOT_VALID = 'config is not valid'

/**
 * Validates a config as Ignition 2.26 does (`ignition-validate`): the same verdict, messages, paths, lines and columns.
 * Never throws.
 *
 * @param input bytes or text, or an object, whose findings then have no places
 *
 * @example
 * import { validateIgnition } from 'ironstage/ignition'
 *
 * const { valid, findings } = validateIgnition('{"ignition":{"version":"3.4.0"}}')
 */
export function validateIgnition(input: Uint8Array | string | object): IgnitionReport {
  if (input instanceof Uint8Array) return validate(input)
  if (typeof input === 'string') return validate(Buffer.from(input))
  if (isNestedDeeper(input)) return refuseConfig(null, `it is nested more than ${MAX_JSON_DEPTH} levels deep`)
  const report = validate(Buffer.from(JSON.stringify(input) ?? 'null'))
  return { ...report, findings: report.findings.map((finding) => ({ ...finding, place: null })) }
}

function validate(bytes: Uint8Array): IgnitionReport {
  if (bytes.length === 0) return refuseConfig(null, 'not a config (empty)')
  let tree: JsonNode
  try {
    tree = readJson(bytes)
  } catch (error) {
    if (error instanceof JsonSyntaxError) return unreadableReport(bytes, null, error)
    throw error
  }
  const stub = versionText(tree)
  if ('mismatch' in stub) return unreadableReport(bytes, null, stub.mismatch)
  const version = readSpecVersion(stub.version)
  if (version === null) return refuseConfig(null, "invalid config version (couldn't parse)")
  if (version === 'unknown') return refuseConfig(null, 'unsupported config version')
  return judge(bytes, tree, version)
}

function judge(bytes: Uint8Array, tree: JsonNode, version: SpecVersion): IgnitionReport {
  const { root } = ignitionSpecOf(version)
  const { value, repeated } = decodeIgnition(tree, root)
  const typed = hasTypes(version, value)
  // The first value of a repeated field may have a wrong type that decoding has overwritten.
  const mismatch = typed && !repeated ? null : firstMismatch(tree, root)
  if (mismatch) return unreadableReport(bytes, version, mismatch)
  if (!typed) throw new Error('the schema refuses a config in which every type is right')
  const found = new Findings()
  const struct = value as StructValue
  applyRules(struct, root, [], found, version)
  findDuplicates(struct, root, [], found)
  findUnusedKeys(struct, root, tree, [], found)
  const places = found.list.length > 0 ? new Places(bytes) : null
  const findings = found.list.map(({ kind, path, atKey, message }): IgnitionFinding => ({
    kind,
    path: pathText(path),
    message,
    place: places && places.of(offsetOf(tree, path, atKey)),
  }))
  const valid = !findings.some(({ kind }) => kind === 'error')
  return { valid, version, findings, refusal: valid ? null : NOT_VALID, config: valid ? value : null }
}

/** Applies the rules to a config whose types are right, for instance a merged one. */
export function validateRead(config: SpecConfig, version: SpecVersion): IgnitionFinding[] {
  const { root } = ignitionSpecOf(version)
  const found = new Findings()
  applyRules(config as StructValue, root, [], found, version)
  return found.list.map(({ kind, path, message }) => ({ kind, path: pathText(path), place: null, message }))
}

function unreadableReport(
  bytes: Uint8Array,
  version: SpecVersion | null,
  { message, offset }: { message: string; offset: number },
): IgnitionReport {
  const finding: IgnitionFinding = { kind: 'error', path: '$', place: new Places(bytes).of(offset), message }
  return { ...refuseConfig(version, NOT_VALID), findings: [finding] }
}

const refuseConfig = (version: SpecVersion | null, refusal: string): IgnitionReport => ({
  valid: false,
  version,
  findings: [],
  refusal,
  config: null,
})
