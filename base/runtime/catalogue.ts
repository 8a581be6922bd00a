/** The failure that a code stands for; the message of an error has the particulars. */
export interface ErrorEntry {
  readonly sentence: string
  readonly remedy: string
}

/** Makes a room's catalogue of errors and keeps its codes as a closed union. */
export const defineCatalogue = <Code extends string>(
  entries: Readonly<Record<Code, ErrorEntry>>,
): Readonly<Record<Code, ErrorEntry>> => entries
