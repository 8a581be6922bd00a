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
  /** Aborted by SIGINT and SIGTERM; a second signal ends the process at once. */
  stopped: AbortSignal
}

/** Which signal asked the program to stop. */
export class Stopped extends Error {
  override name = 'Stopped'
  constructor(readonly signal: NodeJS.Signals) {
    super(`stopped by ${signal}`)
  }
}

export function processEnvironment(): Environment {
  const controller = new AbortController()
  for (const signal of ['SIGINT', 'SIGTERM'] as const)
    process.on(signal, () => {
      if (controller.signal.aborted) process.exit(signal === 'SIGINT' ? 130 : 143)
      controller.abort(new Stopped(signal))
    })
  return {
    argv: process.argv.slice(2),
    variables: process.env,
    stdout: process.stdout,
    stderr: process.stderr,
    stdin: process.stdin,
    stopped: controller.signal,
  }
}
