import { Readable } from 'node:stream'
import { runCommandLine, Stopped, type RawEnvironment } from '../../../apps/cli/index.js'

export interface CommandRun {
  stdout: string
  stderr: string
  /** Resolves with the exit code. */
  ended: Promise<number>
  /** Resolves once standard output matches. */
  printed(pattern: RegExp): Promise<RegExpExecArray>
  /** As a signal does. */
  stop(): void
  /** As Ctrl-C does. */
  interrupt(): void
}

export interface CommandOptions {
  variables?: Record<string, string>
  stdin?: string | Readable
  isTTY?: boolean
  columns?: number
  rows?: number
}

const textOf = (piece: string | Uint8Array): string =>
  typeof piece === 'string' ? piece : Buffer.from(piece).toString()

/** Runs `ironstage ARGV` in this process. */
export function command(
  argv: readonly string[],
  { variables = {}, stdin = '', isTTY = false, columns = 100, rows = 50 }: CommandOptions = {},
): CommandRun {
  const controller = new AbortController()
  let interrupted: (() => boolean) | undefined
  const watchers = new Set<() => void>()
  const started: CommandRun = {
    stdout: '',
    stderr: '',
    ended: Promise.resolve(0),
    printed: (pattern) =>
      new Promise((resolve, reject) => {
        const look = () => {
          const found = pattern.exec(started.stdout)
          if (!found) return
          watchers.delete(look)
          resolve(found)
        }
        watchers.add(look)
        look()
        void started.ended.then((code) =>
          reject(new Error(`ended with ${code} before printing ${pattern}: ${started.stdout}${started.stderr}`)),
        )
      }),
    stop: () => controller.abort(new Stopped('SIGTERM')),
    interrupt: () => {
      if (!interrupted?.()) controller.abort(new Stopped('SIGINT'))
    },
  }
  const environment: RawEnvironment = {
    argv,
    variables,
    stdout: {
      isTTY,
      columns,
      rows,
      write(text) {
        started.stdout += textOf(text)
        for (const look of watchers) look()
      },
    },
    stderr: { write: (text) => void (started.stderr += textOf(text)) },
    stdin: typeof stdin === 'string' ? Readable.from([Buffer.from(stdin)]) : stdin,
    stopped: controller.signal,
    onInterrupt: (handler) => {
      interrupted = handler
      return { [Symbol.dispose]: () => void (interrupted = undefined) }
    },
  }
  started.ended = runCommandLine(environment)
  return started
}
