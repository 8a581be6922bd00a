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

/** Findings while they are gathered, their places still to be looked up. */
export class Findings {
  readonly list: { kind: Finding['kind']; path: ConfigPath; atKey: boolean; message: string }[] = []

  /** @param message nothing is found when it is null */
  error(path: ConfigPath, message: string | null): void {
    if (message !== null) this.list.push({ kind: 'error', path, atKey: false, message })
  }

  warning(path: ConfigPath, message: string | null): void {
    if (message !== null) this.list.push({ kind: 'warning', path, atKey: false, message })
  }

  /** About a key and not its value. */
  keyWarning(path: ConfigPath, message: string): void {
    this.list.push({ kind: 'warning', path, atKey: true, message })
  }
}

/** A line of ignition-validate's report. */
export function findingLine({ kind, path, place, message }: Finding): string {
  const where = [
    ...(path === '$' ? [] : [path]),
    ...(place === null ? [] : [`line ${place.line} col ${place.column}`]),
  ].join(', ')
  return `${kind}${where && ` at ${where}`}: ${message}`
}
