/** Names of a sentence, at most. */
const MAX_NOTED_NAMES = 4

/** Sentences on what an import loses or guesses: one for each reason, with the parts that it concerns. */
export class ImportNotes {
  readonly #reasons = new Map<string, string[]>()

  /**
   * @param reason as in `sizes were rounded down to whole sectors`
   * @param part as in `sda`
   */
  add(reason: string, part: string): void {
    const parts = this.#reasons.get(reason)
    if (parts) parts.push(part)
    else this.#reasons.set(reason, [part])
  }

  sentences(): string[] {
    return [...this.#reasons].map(([reason, parts]) => {
      const named = [...new Set(parts)]
      const more = named.length - MAX_NOTED_NAMES
      const tail = more > 0 ? ` and ${more} more` : ''
      return `${reason}: ${named.slice(0, MAX_NOTED_NAMES).join(', ')}${tail}`
    })
  }
}
