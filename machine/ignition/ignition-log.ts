/** The syslog priorities that Ignition uses. */
export type Priority = 'crit' | 'err' | 'warning' | 'notice' | 'info' | 'debug'

/** A failure with Ignition's own message, and with a clearer one where Ignition's says little. */
export class IgnitionFailure extends Error {
  override name = 'IgnitionFailure'

  constructor(
    message: string,
    readonly explanation: string = message,
  ) {
    super(message)
  }
}

/** Text in Go's quotes, as `%q` prints it. */
export const goQuoted = (text: string): string => JSON.stringify(text)

/**
 * Ignition's log: a line begins with its origin; an operation has a number, counted in hex per stage, and a line for its
 * start and its end.
 */
export class IgnitionLog {
  readonly #print: (priority: Priority, message: string) => void
  readonly #prefixes: string[] = []
  #operations = 0

  constructor(print: (priority: Priority, message: string) => void) {
    this.#print = print
  }

  line(priority: Priority, message: string): void {
    this.#print(priority, [...this.#prefixes.map((prefix) => `${prefix}:`), message].join(' '))
  }

  async within<T>(prefix: string, work: () => T | Promise<T>): Promise<T> {
    this.#prefixes.push(prefix)
    try {
      return await work()
    } finally {
      this.#prefixes.pop()
    }
  }

  /** @throws what `work` throws, once its line is printed */
  operation<T>(what: string, work: () => T | Promise<T>): Promise<T> {
    return this.within(`op(${(++this.#operations).toString(16)})`, async () => {
      this.line('info', `[started]  ${what}`)
      try {
        const result = await work()
        this.line('info', `[finished] ${what}`)
        return result
      } catch (error) {
        if (error instanceof Error) this.line('crit', `[failed]   ${what}: ${error.message}`)
        throw error
      }
    })
  }

  /** Logs a program that Ignition runs; a failure includes all of its output. */
  command(what: string, argv: readonly string[], run: () => LoggedResult): Promise<void> {
    const line = argv.map(goQuoted).join(' ')
    return this.operation(what, () => {
      this.line('debug', `executing: ${line}`)
      const { code, stderr = '' } = run()
      if (code !== 0)
        throw new IgnitionFailure(`exit status ${code}: Cmd: ${line} Stdout: "" Stderr: ${goQuoted(stderr)}`)
    })
  }
}

export interface LoggedResult {
  code: number
  stderr?: string
}
