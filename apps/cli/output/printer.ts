import { visibleJson, visibleLine, visibleText } from '../../../base/runtime/index.js'

/** Where a command's bytes go: a stream of the process; `columns` and `rows` are the size of a terminal. */
export interface Output {
  /** Returns false when the buffer is full, as a Node stream does. */
  write(text: string | Uint8Array): unknown
  once?(event: 'drain', listener: () => void): unknown
  isTTY?: boolean
  columns?: number
  rows?: number
}

/** Columns of a line that is rewritten in place: a terminal that is narrower than this has broken lines. */
const MIN_COLUMNS = 20

/**
 * The one writer of standard output, and of standard error. It writes lines, and only it ends one: anything else in a line
 * that a terminal would obey, or that would begin another line, is shown as an escape. JSON is for programs, and stays as it
 * is, but for a terminal.
 */
export class Printer {
  readonly #output: Output
  /** Decoder of {@link contents}: a piece may end within a character. */
  readonly #decoder = new TextDecoder('utf-8', { ignoreBOM: true })

  constructor(output: Output) {
    this.#output = output
  }

  get isTTY(): boolean {
    return this.#output.isTTY ?? false
  }

  /** Undefined where there is no terminal. */
  get columns(): number | undefined {
    return this.#output.columns
  }

  get rows(): number | undefined {
    return this.#output.rows
  }

  line(text: string): void {
    this.#output.write(`${visibleLine(text)}\n`)
  }

  /** A line each, in one piece. */
  lines(texts: readonly string[]): void {
    this.#output.write(texts.map((text) => `${visibleLine(text)}\n`).join(''))
  }

  /** A value in one line. */
  json(value: unknown): void {
    this.#json(JSON.stringify(value))
  }

  /** A value in indented lines. */
  document(value: unknown): void {
    this.#json(JSON.stringify(value, null, 2))
  }

  /** A value in one line for programs, or lines for people. */
  either(isJson: boolean | undefined, value: unknown, text: string | readonly string[]): void {
    if (isJson) this.json(value)
    else if (typeof text === 'string') this.line(text)
    else this.lines(text)
  }

  /**
   * Contents that have lines of their own: of a file, or what a program printed. In a pipe they stay as they are.
   *
   * @returns false when the reader is slow, as a Node stream does
   */
  contents(piece: string | Uint8Array): unknown {
    if (!this.isTTY) return this.#output.write(piece)
    const text = typeof piece === 'string' ? piece : this.#decoder.decode(piece, { stream: true })
    return this.#output.write(visibleText(text))
  }

  /** Text of a program for terminals, which may end a piece by going back to the start of its line. */
  program(piece: string | Uint8Array): void {
    const text = typeof piece === 'string' ? piece : this.#decoder.decode(piece, { stream: true })
    const isRewritten = text.endsWith('\r')
    this.#output.write(isRewritten ? `${visibleText(text.slice(0, -1))}\r` : visibleText(text))
  }

  /** Resolves when a slow reader has caught up. */
  drained(): Promise<void> {
    return new Promise((resolve) => {
      if (this.#output.once) this.#output.once('drain', resolve)
      else resolve()
    })
  }

  /** Puts a line in the place of the one that the cursor is in; the next one replaces it, unless it has ended. */
  replaceLine(text: string, { hasEnded = false }: { hasEnded?: boolean } = {}): void {
    this.#output.write(`\r\x1b[K${this.#fitting(text)}${hasEnded ? '\n' : ''}`)
  }

  /** Puts lines in the place of so many above the cursor. */
  replaceLines(above: number, texts: readonly string[]): void {
    const erased = above > 0 ? `\x1b[${above}A\x1b[J` : ''
    this.#output.write(erased + texts.map((text) => `${this.#fitting(text)}\n`).join(''))
  }

  /** A question, whose answer is typed after it. */
  question(text: string): void {
    this.#output.write(visibleLine(text))
  }

  /** Takes the last character of what was typed away. */
  backspace(): void {
    this.#output.write('\b \b')
  }

  #json(text: string): void {
    this.#output.write(`${this.isTTY ? visibleJson(text) : text}\n`)
  }

  #fitting(text: string): string {
    return visibleLine(text).slice(0, Math.max(MIN_COLUMNS, (this.columns ?? 80) - 1))
  }
}
