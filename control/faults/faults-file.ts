import { LineCounter, parseDocument, stringify } from 'yaml'
import { defined, durationText, readYamlText, UserError } from '../../base/runtime/index.js'
import { MASKED_IGNITION } from '../../ignition/index.js'
import { maskValue } from '../masking.js'
import { readFaults } from './fault-document.js'
import type { Fault } from './fault.js'

/**
 * Reads a file of faults in YAML or JSON: one, a list, or a list under `faults`.
 *
 * @param name of the file, for errors
 * @throws UserError `bad-request` (usage) with the text of the line
 */
export function readFaultsFile(text: string, name: string): Fault[] {
  const { value, lineOf } = readYamlText(
    { LineCounter, parseDocument },
    text,
    name,
    (message) => new UserError('bad-request', message, { kind: 'usage', remedy: 'docs/control.md has examples' }),
  )
  return readFaults(value, name, lineOf)
}

/** Faults as a file that {@link readFaultsFile} and `--faults` read. Secrets in the bodies of answers are masked. */
export function writeFaultsFile(faults: readonly Fault[]): string {
  const documents = faults.map((fault) => maskValue(faultDocument(fault)))
  const text = stringify(documents, { aliasDuplicateObjects: false, lineWidth: 0 })
  const isMasked = JSON.stringify(documents) !== JSON.stringify(faults.map(faultDocument))
  return isMasked ? `# Secrets are masked by ${MASKED_IGNITION}.\n${text}` : text
}

/** A fault as files of faults and the control API have it: lengths of time are texts. */
export function faultDocument({ match, effect, times, after, probability, between, label }: Fault): object {
  const { ms, ...members } = effect as Fault['effect'] & { ms?: number }
  return defined({
    match,
    effect: ms === undefined ? members : { ...members, for: exactDurationText(ms) },
    times,
    after,
    probability,
    between: between?.map(exactDurationText),
    label,
  })
}

/** `1m30s`, or milliseconds where seconds are not exact. */
const exactDurationText = (ms: number): string => (ms % 1000 === 0 && ms > 0 ? durationText(ms) : `${ms}ms`)
