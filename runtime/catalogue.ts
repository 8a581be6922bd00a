/** What a code of an error stands for, in general; the message of an error has the particulars. */
export interface ErrorEntry {
  readonly sentence: string
  readonly remedy: string
}

/** Makes a room's catalogue of errors and keeps its codes as a closed union. */
export const catalogue = <Code extends string>(
  entries: Readonly<Record<Code, ErrorEntry>>,
): Readonly<Record<Code, ErrorEntry>> => entries
