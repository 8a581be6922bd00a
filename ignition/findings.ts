import type { TextPosition } from './json/place.js'

/** Position in a config: keys and indexes from its root. */
export type ConfigPath = readonly (string | number)[]

/** An error or warning of Ignition about a config; one error makes Ignition refuse the config. */
export interface IgnitionFinding {
  kind: 'error' | 'warning'
  /** As Ignition writes it, `$.storage.files.0.path`; `$` for the whole. */
  path: string
  /** Null when the config came as an object instead of text. */
  place: TextPosition | null
  message: string
}

/** Limit on findings: links times the paths below them could otherwise fill the memory. */
const MAX_FINDINGS = 10_000

/** Collects findings, up to {@link MAX_FINDINGS}; line and column are looked up later. */
export class Findings {
  readonly list: { kind: IgnitionFinding['kind']; path: ConfigPath; atKey: boolean; message: string }[] = []

  /** @param message null adds nothing */
  error(path: ConfigPath, message: string | null): void {
    if (message !== null) this.add({ kind: 'error', path, atKey: false, message })
  }

  warning(path: ConfigPath, message: string | null): void {
    if (message !== null) this.add({ kind: 'warning', path, atKey: false, message })
  }

  /** A warning whose place is the key instead of its value. */
  keyWarning(path: ConfigPath, message: string): void {
    this.add({ kind: 'warning', path, atKey: true, message })
  }

  private add(finding: Findings['list'][number]): void {
    const { list } = this
    if (list.length < MAX_FINDINGS) list.push(finding)
    // An error replaces the last warning: otherwise the config would pass for valid.
    else if (finding.kind === 'error' && list.at(-1)!.kind === 'warning') list[MAX_FINDINGS - 1] = finding
  }
}

/**
 * A line of ignition-validate's report.
 *
 * @example
 * import { findingLine, validateIgnition } from 'ironstage/ignition'
 *
 * const lines = validateIgnition('{}').findings.map(findingLine)
 */
export function findingLine({ kind, path, place, message }: IgnitionFinding): string {
  const where = [
    ...(path === '$' ? [] : [path]),
    ...(place === null ? [] : [`line ${place.line} col ${place.column}`]),
  ].join(', ')
  return `${kind}${where && ` at ${where}`}: ${message}`
}
