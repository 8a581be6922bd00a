/**
 * Cuts a stream of bytes into lines. Ends of line are LF, CR LF and a lone CR, which terminals use for progress; empty
 * lines are kept, since some programs part their messages with them.
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
    // A CR at the very end may be the first half of a CR LF.
    const lines = this.#pending.split(/\r*\n|\r(?=[^\r\n])/)
    this.#pending = lines.pop() ?? ''
    for (const line of lines) this.line(line)
  }
}
