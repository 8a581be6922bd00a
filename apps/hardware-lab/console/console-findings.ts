import type { ConsoleFinding } from '../pipeline/run-state.js'

const PATTERNS: readonly (readonly [RegExp, ConsoleFinding['kind']])[] = [
  [/Kernel panic - not syncing/, 'kernel panic'],
  [/emergency (shell|mode)|You are in emergency|Entering emergency/i, 'emergency shell'],
  [/Ignition (has )?failed|ignition\[\d+\]: (CRITICAL|failed)|ignition-\w+\.service: Failed/i, 'Ignition failure'],
  [/no bootable device|No boot device|Boot Failed|PXE-E\d+/i, 'boot failure'],
]

/** Limit on reported findings of one kind. */
const MAX_REPORTED_FINDINGS = 5

/** The finding in a line of a console, added to those before; undefined where it says nothing new. */
export function addFinding(found: ConsoleFinding[], text: string): ConsoleFinding | undefined {
  const kind = PATTERNS.find(([pattern]) => pattern.test(text))?.[1]
  if (kind === undefined || found.filter((each) => each.kind === kind).length >= MAX_REPORTED_FINDINGS) return undefined
  // A console may hold control characters.
  const line = text
    .replaceAll(/[^\t -~\u00a0-\uffff]/g, '')
    .trim()
    .slice(0, 300)
  if (found.some((each) => each.kind === kind && each.line === line)) return undefined
  const finding = { kind, line }
  found.push(finding)
  return finding
}
