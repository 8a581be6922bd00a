import type { Readable } from 'node:stream'

/** Where a command prints; `columns` is the width of a terminal. */
export interface Output {
  /** False when it is full for now, as of a Node stream. */
  write(text: string | Uint8Array): unknown
  once?(event: 'drain', listener: () => void): unknown
  isTTY?: boolean
  columns?: number
}

/** Everything that a command takes from the process around it; read here and handed down. */
export interface Environment {
  argv: readonly string[]
  variables: Readonly<Record<string, string | undefined>>
  stdout: Output
  stderr: Output
  stdin: Readable
  /** Aborted by SIGINT, SIGTERM and SIGHUP; a second signal ends the process at once. */
  stopped: AbortSignal
  /** Called when a command's work begins: from then on a signal asks it to stop, where before the kernel ends the process. */
  begin?(): void
}

const NUMBERS = { SIGHUP: 1, SIGINT: 2, SIGTERM: 15 } as const
type StopSignal = keyof typeof NUMBERS

/** Which signal asked the program to stop. */
export class Stopped extends Error {
  override name = 'Stopped'
  constructor(readonly signal: StopSignal) {
    super(`stopped by ${signal}`)
  }

  /** As a shell reports a program that the signal ended. */
  get exitCode(): number {
    return 128 + NUMBERS[this.signal]
  }
}

/** Resolves when the program is asked to stop. */
export const stopAsked = (stopped: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    if (stopped.aborted) resolve()
    stopped.addEventListener('abort', () => resolve(), { once: true })
  })

export function processEnvironment(): Environment {
  const controller = new AbortController()
  const begin = () => {
    for (const signal of Object.keys(NUMBERS) as StopSignal[])
      process.on(signal, () => {
        const stop = new Stopped(signal)
        if (controller.signal.aborted) process.exit(stop.exitCode)
        controller.abort(stop)
      })
  }
  return {
    argv: process.argv.slice(2),
    variables: process.env,
    stdout: process.stdout,
    stderr: process.stderr,
    stdin: process.stdin,
    stopped: controller.signal,
    begin,
  }
}
