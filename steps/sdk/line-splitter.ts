/**
 * Splits a stream of bytes into lines. Lines end with LF, CR LF or a lone CR, which terminals use for progress. Empty lines
 * count, since some programs separate messages with them.
 */
export class LineSplitter {
  readonly #decoder = new TextDecoder()
  #pending = ''

  constructor(private readonly line: (text: string) => void) {}

  push(bytes: Uint8Array): void {
    this.#take(this.#decoder.decode(bytes, { stream: true }))
  }

  end(): void {
    this.#take(this.#decoder.decode())
    const rest = this.#pending.replace(/\r$/, '')
    if (this.#pending !== '') this.line(rest)
    this.#pending = ''
  }

  #take(text: string): void {
    this.#pending += text
    // A CR at the end may be the first half of a CR LF.
    const lines = this.#pending.split(/\r*\n|\r(?=[^\r\n])/)
    this.#pending = lines.pop() ?? ''
    for (const line of lines) this.line(line)
  }
}
