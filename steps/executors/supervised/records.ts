/**
 * What a script says on its standard output after its greeting: a line each, where the first letter says what it is.
 * `o N` and `e N` are followed by N bytes of the command's output.
 */
export type Record =
  | { kind: 'output'; stream: 'stdout' | 'stderr'; bytes: Uint8Array }
  /** Any other line: its letter, and what follows. */
  | { kind: 'line'; letter: string; text: string }

/**
 * Reads records. Whatever comes before the greeting is of login scripts and is passed over.
 *
 * @returns ends where the stream does, which may be in the middle of a record
 */
export async function* readRecords(stream: AsyncIterable<Uint8Array>, greeting: string): AsyncGenerator<Record> {
  const input = new Input(stream)
  for (;;) {
    const line = await input.line()
    if (line === undefined) return
    if (line.endsWith(greeting)) break
  }
  yield { kind: 'line', letter: 'h', text: '' }
  for (;;) {
    const line = await input.line()
    if (line === undefined) return
    const output = /^([oe]) (\d+)$/.exec(line)
    if (!output) {
      yield { kind: 'line', letter: line.slice(0, 1), text: line.slice(2) }
      continue
    }
    const bytes = await input.bytes(Number(output[2]))
    if (bytes === undefined) return
    yield { kind: 'output', stream: output[1] === 'o' ? 'stdout' : 'stderr', bytes }
  }
}

class Input {
  readonly #iterator: AsyncIterator<Uint8Array>
  #held = Buffer.alloc(0)

  constructor(stream: AsyncIterable<Uint8Array>) {
    this.#iterator = stream[Symbol.asyncIterator]()
  }

  /** Without its end; undefined when the stream ends before it. */
  async line(): Promise<string | undefined> {
    for (;;) {
      const end = this.#held.indexOf(0x0a)
      if (end >= 0) {
        const line = this.#held.subarray(0, end).toString('utf8')
        this.#held = this.#held.subarray(end + 1)
        return line
      }
      if (!(await this.#more())) return undefined
    }
  }

  async bytes(count: number): Promise<Uint8Array | undefined> {
    while (this.#held.length < count) if (!(await this.#more())) return undefined
    const bytes = this.#held.subarray(0, count)
    this.#held = this.#held.subarray(count)
    return bytes
  }

  async #more(): Promise<boolean> {
    // A stream that was cut off may end with an error; how the link went is told elsewhere.
    const { done, value } = await this.#iterator.next().catch(() => ({ done: true, value: undefined }) as const)
    if (done || value === undefined) return false
    this.#held = this.#held.length === 0 ? Buffer.from(value) : Buffer.concat([this.#held, value])
    return true
  }
}
