/** JSON of one item of a list, and the number of its bytes in UTF-8. */
export interface ItemText {
  readonly text: string
  readonly bytes: number
}

export const itemText = (value: unknown): ItemText => {
  const text = JSON.stringify(value)
  return { text, bytes: Buffer.byteLength(text) }
}

/** A body that is JSON text already, so that cached text is not rendered again: a list, and what stands around it. */
export class JsonText {
  readonly #before: string
  readonly #items: readonly ItemText[]
  readonly #after: string

  constructor(before: string, items: readonly ItemText[], after: string) {
    this.#before = before
    this.#items = items
    this.#after = after
  }

  /** The whole in UTF-8: copied from the items at once, where joined text would be read several times more. */
  bytes(): Buffer {
    const commas = Math.max(0, this.#items.length - 1)
    let length = Buffer.byteLength(this.#before) + Buffer.byteLength(this.#after) + commas
    for (const { bytes } of this.#items) length += bytes
    const whole = Buffer.allocUnsafe(length)
    let at = whole.write(this.#before)
    for (const [index, { text, bytes }] of this.#items.entries()) {
      if (index > 0) whole[at++] = COMMA
      // For ASCII the bytes are the same, and latin1 is written several times as fast.
      at += whole.write(text, at, bytes === text.length ? 'latin1' : 'utf8')
    }
    whole.write(this.#after, at)
    return whole
  }
}

const COMMA = 0x2c
