import { OUTPUT_LIMITS, tooMuch } from './output-limits.js'

/**
 * Record of a script's standard output after its greeting: a line whose first letter, its tag, is its kind. The lines `o N` and `e N`
 * are followed by N bytes of the command's output.
 */
export type Record =
  | { kind: 'output'; stream: 'stdout' | 'stderr'; bytes: Uint8Array }
  /** Any other line: its tag, and the text after it. */
  | { kind: 'line'; tag: string; text: string }

/**
 * Reads records. Skips the output of login scripts before the greeting.
 *
 * @param name of the target, for messages
 * @returns ends with the stream, which may be in the middle of a record
 * @throws UserError when the target's output exceeds a limit
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
    if (input.taken > OUTPUT_LIMITS.greeting) throw tooMuch(name, OUTPUT_LIMITS.greeting, 'before it ran a script')
  }
  yield { kind: 'line', tag: 'h', text: '' }
  for (;;) {
    const line = await input.line()
    if (line === undefined) return
    const output = /^([oe]) (\d+)$/.exec(line)
    if (!output) {
      yield { kind: 'line', tag: line.slice(0, 1), text: line.slice(2) }
      continue
    }
    const count = Number(output[2])
    if (count > OUTPUT_LIMITS.record) throw tooMuch(name, OUTPUT_LIMITS.record, 'in one piece')
    const bytes = await input.bytes(count)
    if (bytes === undefined) return
    yield { kind: 'output', stream: output[1] === 'o' ? 'stdout' : 'stderr', bytes }
  }
}

class Input {
  readonly #iterator: AsyncIterator<Uint8Array>
  #buffered = Buffer.alloc(0)
  /** Bytes that have been read. */
  taken = 0

  constructor(
    stream: AsyncIterable<Uint8Array>,
    private readonly name: string,
  ) {
    this.#iterator = stream[Symbol.asyncIterator]()
  }

  /** Next line without its line break; undefined when the stream ends before it. */
  async line(): Promise<string | undefined> {
    for (;;) {
      const end = this.#buffered.indexOf(0x0a)
      if (end >= 0) {
        const line = this.#buffered.subarray(0, end).toString('utf8')
        this.#buffered = this.#buffered.subarray(end + 1)
        this.taken += end + 1
        return line
      }
      if (this.#buffered.length > OUTPUT_LIMITS.line)
        throw tooMuch(this.name, OUTPUT_LIMITS.line, 'without a line break')
      if (!(await this.#more())) return undefined
    }
  }

  async bytes(count: number): Promise<Uint8Array | undefined> {
    const parts: Buffer[] = []
    let left = count
    for (;;) {
      const part = this.#buffered.subarray(0, left)
      this.#buffered = this.#buffered.subarray(part.length)
      left -= part.length
      parts.push(part)
      if (left === 0) break
      if (!(await this.#more())) return undefined
    }
    this.taken += count
    return parts.length === 1 ? parts[0] : Buffer.concat(parts)
  }

  async #more(): Promise<boolean> {
    // A stream that was cut off may end with an error; the channel's exit reports the lost link.
    const { done, value } = await this.#iterator.next().catch(() => ({ done: true, value: undefined }) as const)
    if (done || value === undefined) return false
    this.#buffered = this.#buffered.length === 0 ? Buffer.from(value) : Buffer.concat([this.#buffered, value])
    return true
  }
}
