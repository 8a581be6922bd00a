/**
 * Stands for a part that is opened after the parts that refer to it. They may keep the reference from the start, and use it
 * once the part is bound.
 */
export class LateBound<Part> {
  readonly #name: string
  #bound: { readonly part: Part } | undefined

  /** @param name of the part, for the error: `machines` */
  constructor(name: string) {
    this.#name = name
  }

  /** Makes the part available to those who refer to it. */
  bind(part: Part): Part {
    this.#bound = { part }
    return part
  }

  /** @throws Error before {@link bind}: the parts are opened in a wrong order */
  get(): Part {
    if (!this.#bound) throw new Error(`a part is missing: ${this.#name}, which is opened later`)
    return this.#bound.part
  }
}
