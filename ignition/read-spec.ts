import { UserError } from '../base/runtime/index.js'
import { findingLine } from './findings.js'
import type { SpecConfig } from './spec/config-types.js'
import type { SpecVersion } from './spec/spec-versions.js'
import { parseIgnition } from './parse.js'
import { validateIgnition, type IgnitionReport } from './validate-config.js'

/** A config as Ignition reads it, with its version. */
export interface ReadConfig {
  version: SpecVersion
  config: SpecConfig
  report: IgnitionReport
}

/**
 * Reads a config that Ignition accepts.
 *
 * @param what names it in the message, as in `the config in a.ign`
 * @throws UserError `ignition-invalid` with what Ignition says of it; `ignition-old-version` for spec 1 and 2
 *
 * @example
 * import { readIgnition } from 'ironstage/ignition'
 *
 * const { version, config } = readIgnition({ ignition: { version: '3.4.0' } })
 */
export function readIgnition(input: Uint8Array | string | object, what = 'the Ignition config'): ReadConfig {
  const report = validateIgnition(input)
  const { version, config } = report
  if (version !== null && config !== null) return { version, config, report }
  // parseIgnition has clearer sentences than Ignition for text that is no config, and for spec 2.
  if (version === null && report.findings.length === 0) parseIgnition(input)
  throw new UserError('ignition-invalid', `${what} is one that Ignition refuses: ${refusalText(report)}`, {
    remedy: 'Run ironstage ignition validate for all findings.',
  })
}

/**
 * Why a config is refused, in one sentence: its first errors, or Ignition's reason when there are none. It repeats names
 * and paths of the config, never contents, which may hold secrets.
 */
export function refusalText({ findings, refusal }: IgnitionReport): string {
  const errors = findings.filter(({ kind }) => kind === 'error').map((finding) => maskConfigLine(findingLine(finding)))
  const more = errors.length > 3 ? `; and ${errors.length - 3} more` : ''
  return errors.length > 0 ? `${errors.slice(0, 3).join('; ')}${more}` : (refusal ?? 'no reason given')
}

/** Masks the text that two of Ignition's messages repeat, since it may be a secret. */
export const maskConfigLine = (line: string): string =>
  line.replace(/(found garbage after section name|expected base64, got).*$/s, '$1 (not shown)')
