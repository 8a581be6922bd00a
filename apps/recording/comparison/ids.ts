/** Something in a text that may be an id: a UUID, as Ironic and its agents make them. */
const ID_PATTERN = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/gi

const isId = (value: unknown): boolean =>
  typeof value === 'number' || (typeof value === 'string' && value.length === 36 && value.search(ID_PATTERN) === 0)

/** Pairs of corresponding ids of two runs, as far as answers have shown them. */
export class IdMap {
  readonly #there = new Map<string, string>()
  readonly #back = new Map<string, string>()

  /** Whether two values of an id's field stand for the same; of two that are new, they do from now on. */
  match(was: unknown, is: unknown): boolean {
    if (!isId(was) || !isId(is) || typeof was !== typeof is) return was === is
    const from = String(was)
    const to = String(is)
    const there = this.#there.get(from)
    const back = this.#back.get(to)
    if (there === undefined && back === undefined) {
      this.#there.set(from, to)
      this.#back.set(to, from)
      return true
    }
    return there === to
  }

  /** Whether they stand for the same, as far as is known. */
  known(was: unknown, is: unknown): boolean {
    return this.#there.get(String(was)) === String(is)
  }

  /** A text of one run as the other run would have it. */
  text(text: string): string {
    return text.replace(ID_PATTERN, (id) => this.#there.get(id) ?? id)
  }

  /** A document of one run as the other run would have it. */
  document(value: unknown): unknown {
    if (typeof value === 'string') return this.text(value)
    if (Array.isArray(value)) return value.map((one) => this.document(one))
    if (typeof value !== 'object' || value === null) return value
    return Object.fromEntries(Object.entries(value).map(([key, inner]) => [this.text(key), this.document(inner)]))
  }
}
