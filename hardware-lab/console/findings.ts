import type { ConsoleFinding } from '../pipeline/state.js'

const PATTERNS: readonly (readonly [RegExp, ConsoleFinding['kind']])[] = [
  [/Kernel panic - not syncing/, 'kernel panic'],
  [/emergency (shell|mode)|You are in emergency|Entering emergency/i, 'emergency shell'],
  [/Ignition (has )?failed|ignition\[\d+\]: (CRITICAL|failed)|ignition-\w+\.service: Failed/i, 'Ignition failure'],
  [/no bootable device|No boot device|Boot Failed|PXE-E\d+/i, 'boot failure'],
]

/** How many findings of one kind are reported. */
const MOST = 5

/** Lines of a console that say why a machine did not come up. */
export function consoleFindings(lines: readonly string[]): ConsoleFinding[] {
  const found: ConsoleFinding[] = []
  for (const line of lines) {
    const kind = PATTERNS.find(([pattern]) => pattern.test(line))?.[1]
    if (kind === undefined || found.filter((each) => each.kind === kind).length >= MOST) continue
    // A console may hold control characters.
    found.push({
      kind,
      line: line
        .replaceAll(/[^\t -~\u00a0-\uffff]/g, '')
        .trim()
        .slice(0, 300),
    })
  }
  return found
}
