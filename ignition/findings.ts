import type { Place } from './json/place.js'

/** Where in a config: keys and indexes from its root. */
export type ConfigPath = readonly (string | number)[]

/** Something that Ignition has to say about a config; an error makes it refuse the config. */
export interface Finding {
  kind: 'error' | 'warning'
  /** As Ignition writes it, `$.storage.files.0.path`; `$` for the whole. */
  path: string
  /** Null when the config was not given as text. */
  place: Place | null
  message: string
}

/** Links and what is below them can multiply to more than anybody reads, or memory holds. */
export const MOST_FINDINGS = 10_000

/** Findings while they are gathered, their places still to be looked up. Of too many the rest is left out. */
export class Findings {
  readonly list: { kind: Finding['kind']; path: ConfigPath; atKey: boolean; message: string }[] = []

  /** @param message nothing is found when it is null */
  error(path: ConfigPath, message: string | null): void {
    if (message !== null) this.add({ kind: 'error', path, atKey: false, message })
  }

  warning(path: ConfigPath, message: string | null): void {
    if (message !== null) this.add({ kind: 'warning', path, atKey: false, message })
  }

  /** About a key and not its value. */
  keyWarning(path: ConfigPath, message: string): void {
    this.add({ kind: 'warning', path, atKey: true, message })
  }

  private add(finding: Findings['list'][number]): void {
    const { list } = this
    if (list.length < MOST_FINDINGS) list.push(finding)
    // A refusal may not be lost behind warnings.
    else if (finding.kind === 'error' && list.at(-1)!.kind === 'warning') list[MOST_FINDINGS - 1] = finding
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
export function findingLine({ kind, path, place, message }: Finding): string {
  const where = [
    ...(path === '$' ? [] : [path]),
    ...(place === null ? [] : [`line ${place.line} col ${place.column}`]),
  ].join(', ')
  return `${kind}${where && ` at ${where}`}: ${message}`
}
