export interface ColumnOptions {
  /** Indexes of right-aligned columns. */
  right?: ReadonlySet<number>
  /** Spaces between two columns; 1 by default. */
  gap?: number
}

/** Rows as columns, a line each. A last column that is aligned to the left is not padded. */
export function columnLines(
  rows: readonly (readonly string[])[],
  { right = new Set(), gap = 1 }: ColumnOptions = {},
): string[] {
  const widths = (rows[0] ?? []).map((_, index) => Math.max(...rows.map((row) => row[index]!.length)))
  return rows.map((row) =>
    row
      .map((cell, index) =>
        right.has(index)
          ? cell.padStart(widths[index]!)
          : index === row.length - 1
            ? cell
            : cell.padEnd(widths[index]!),
      )
      .join(' '.repeat(gap)),
  )
}

/** The same as one text. */
export const alignColumns = (rows: readonly (readonly string[])[], options?: ColumnOptions): string =>
  columnLines(rows, options)
    .map((line) => `${line}\n`)
    .join('')

/** Words with single spaces between them, in lines of at most `width` characters; a longer word has a line of its own. */
export function wrapWords(words: readonly string[], width: number): string[] {
  const lines: string[] = []
  for (const word of words) {
    const last = lines.at(-1)
    if (last !== undefined && last.length + 1 + word.length <= width) lines[lines.length - 1] = `${last} ${word}`
    else lines.push(word)
  }
  return lines
}
