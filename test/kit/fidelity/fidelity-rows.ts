import { readdirSync, readFileSync } from 'node:fs'
import { parse } from 'yaml'

/** A behaviour that differs from upstream on purpose, or is missing. Members are Markdown. */
export interface FidelityRow {
  readonly upstream: string
  readonly ours: string
  /** Option or setting that restores upstream's behaviour; absent if nothing does. */
  readonly switch?: string
  /** The test that shows ours. */
  readonly test: { readonly file: string; readonly title: string }
}

/** The differences of one subject. */
export interface FidelitySubject {
  readonly title: string
  /** A sentence on the whole subject, above its rows. */
  readonly introduction?: string
  /** Head of the column of what is compared with: `Upstream`, `Real BMCs`. */
  readonly compared_with: string
  readonly rows: readonly FidelityRow[]
}

const FOLDER = new URL('../../../docs/fidelity/', import.meta.url)

/** All subjects, by the name of their file in `docs/fidelity/`. */
export function fidelitySubjects(): Map<string, FidelitySubject> {
  const names = readdirSync(FOLDER).filter((file) => file.endsWith('.yaml'))
  return new Map(
    names
      .sort()
      .map((file) => [
        file.replace('.yaml', ''),
        parse(readFileSync(new URL(file, FOLDER), 'utf8')) as FidelitySubject,
      ]),
  )
}

export const fidelityRows = (): FidelityRow[] => [...fidelitySubjects().values()].flatMap(({ rows }) => rows)

/** True if exactly one row is about this behaviour of upstream, which is given word by word. */
export const hasFidelityRow = (upstream: string): boolean =>
  fidelityRows().filter((row) => row.upstream === upstream).length === 1
