/** The beginning of a body that passes by. */
export class BodyExcerpt {
  readonly #limit: number
  #parts: Buffer[] = []
  #length = 0
  #bytes = 0

  constructor(limit: number) {
    this.#limit = limit
  }

  push(chunk: Buffer): void {
    this.#bytes += chunk.length
    const room = this.#limit - this.#length
    if (room <= 0) return
    const part = chunk.length <= room ? chunk : chunk.subarray(0, room)
    this.#parts.push(part)
    this.#length += part.length
  }

  get bytes(): number {
    return this.#bytes
  }

  get excerpt(): Buffer {
    if (this.#parts.length > 1) this.#parts = [Buffer.concat(this.#parts)]
    return this.#parts[0] ?? Buffer.alloc(0)
  }
}
