import { LIMITS, tooMuch } from './limits.js'

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
 * @param name of the target, for messages
 * @returns ends where the stream does, which may be in the middle of a record
 * @throws UserError when the target says more than can be meant
 */
export async function* readRecords(
  stream: AsyncIterable<Uint8Array>,
  greeting: string,
  name: string,
): AsyncGenerator<Record> {
  const input = new Input(stream, name)
  for (;;) {
    const line = await input.line()
    if (line === undefined) return
    if (line.endsWith(greeting)) break
    if (input.taken > LIMITS.greeting) throw tooMuch(name, LIMITS.greeting, 'before it ran a script')
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
    const count = Number(output[2])
    if (count > LIMITS.record) throw tooMuch(name, LIMITS.record, 'in one piece')
    const bytes = await input.bytes(count)
    if (bytes === undefined) return
    yield { kind: 'output', stream: output[1] === 'o' ? 'stdout' : 'stderr', bytes }
  }
}

class Input {
  readonly #iterator: AsyncIterator<Uint8Array>
  #held = Buffer.alloc(0)
  /** Bytes that have been handed out. */
  taken = 0

  constructor(
    stream: AsyncIterable<Uint8Array>,
    private readonly name: string,
  ) {
    this.#iterator = stream[Symbol.asyncIterator]()
  }

  /** Without its end; undefined when the stream ends before it. */
  async line(): Promise<string | undefined> {
    for (;;) {
      const end = this.#held.indexOf(0x0a)
      if (end >= 0) {
        const line = this.#held.subarray(0, end).toString('utf8')
        this.#held = this.#held.subarray(end + 1)
        this.taken += end + 1
        return line
      }
      if (this.#held.length > LIMITS.line) throw tooMuch(this.name, LIMITS.line, 'without a line break')
      if (!(await this.#more())) return undefined
    }
  }

  async bytes(count: number): Promise<Uint8Array | undefined> {
    const parts: Buffer[] = []
    let left = count
    for (;;) {
      const part = this.#held.subarray(0, left)
      this.#held = this.#held.subarray(part.length)
      left -= part.length
      parts.push(part)
      if (left === 0) break
      if (!(await this.#more())) return undefined
    }
    this.taken += count
    return parts.length === 1 ? parts[0] : Buffer.concat(parts)
  }

  async #more(): Promise<boolean> {
    // A stream that was cut off may end with an error; how the link went is told elsewhere.
    const { done, value } = await this.#iterator.next().catch(() => ({ done: true, value: undefined }) as const)
    if (done || value === undefined) return false
    this.#held = this.#held.length === 0 ? Buffer.from(value) : Buffer.concat([this.#held, value])
    return true
  }
}
