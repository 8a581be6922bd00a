import { countText } from '../../base/runtime/index.js'
import type { Readable } from 'node:stream'
import { reportFailure } from './failure.js'
import { Printer, type Output } from './output/printer.js'

/** All that a command takes from its process; read here once and passed down. */
export interface Environment {
  argv: readonly string[]
  variables: Readonly<Record<string, string | undefined>>
  stdout: Printer
  stderr: Printer
  stdin: Readable
  /** Aborted by SIGINT, SIGTERM and SIGHUP; a second signal ends the process at once. */
  stopped: AbortSignal
  /** Called when a command's work begins. From then on a signal asks it to stop; before that the kernel ends the process. */
  begin?(): void
  /**
   * Lets a command answer SIGINT itself. The handler returns whether it has; otherwise, and for other signals, the process
   * is asked to stop as usual.
   */
  onInterrupt?(handler: () => boolean): Disposable
  /** Gives the command more time to end in order after a signal, in milliseconds. */
  allowStop?(milliseconds: number): void
  /** Takes the errors that nothing caught; without it one ends the process. */
  onStrayError?(handler: (error: unknown) => void): Disposable
}

/** An environment whose text goes to streams as it is: only a {@link Printer} writes to them. */
export interface RawEnvironment extends Omit<Environment, 'stdout' | 'stderr'> {
  stdout: Output
  stderr: Output
}

/** The environment of a command that runs in a raw one. */
export const printing = (raw: RawEnvironment): Environment => ({
  ...raw,
  stdout: new Printer(raw.stdout),
  stderr: new Printer(raw.stderr),
})

const SIGNAL_NUMBERS = { SIGHUP: 1, SIGINT: 2, SIGPIPE: 13, SIGTERM: 15 } as const
/** SIGPIPE stands for a closed standard output. */
type StopSignal = keyof typeof SIGNAL_NUMBERS

/** The signal that asked the program to stop. */
export class Stopped extends Error {
  override name = 'Stopped'
  constructor(readonly signal: StopSignal) {
    super(`stopped by ${signal}`)
  }

  /** The exit code that a shell reports for a program ended by the signal. */
  get exitCode(): number {
    return 128 + SIGNAL_NUMBERS[this.signal]
  }
}

/** Resolves when the program is asked to stop. */
export const stopAsked = (stopped: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    if (stopped.aborted) resolve()
    stopped.addEventListener('abort', () => resolve(), { once: true })
  })

/** Milliseconds that a command has to end in order after a signal, if it asks for no more. */
const COMMAND_STOP_TIMEOUT = 1500
/** Milliseconds that a command's end waits for connections and timers that should be closed. */
const COMMAND_END_TIMEOUT = 1000

/** Exit code of Node for a module that waits for what never comes. */
const UNSETTLED = 13

/** The environment of this process, and how the process ends. */
export interface ProcessEnvironment extends RawEnvironment {
  /** Ends the process with a command's exit code, after its output was written. */
  end(code: number): Promise<void>
}

/** Resources that keep a process alive, in plain words. */
const RESOURCE_NAMES: Readonly<Record<string, string>> = {
  TCPSocketWrap: 'connection',
  TLSWrap: 'connection',
  TCPServerWrap: 'listener',
  PipeWrap: 'pipe',
  ProcessWrap: 'program',
  Worker: 'worker',
  MessagePort: 'worker',
  GetAddrInfoReqWrap: 'name lookup',
  FSReqCallback: 'file operation',
  FSReqPromise: 'file operation',
}

/** Open resources in words: `2 connections, 1 program`. */
function openText(resources: readonly string[]): string {
  const counts = new Map<string, number>()
  for (const name of resources.flatMap((one) => RESOURCE_NAMES[one] ?? []))
    counts.set(name, (counts.get(name) ?? 0) + 1)
  const texts = [...counts].map(([name, count]) => countText(count, name))
  return texts.length === 0 ? 'a computation' : texts.join(', ')
}

/** Turns signals into an abort, and ends a process that does not stop in time. */
class ProcessStop {
  readonly #controller = new AbortController()
  readonly #messages: Printer
  #began = false
  #timeout = COMMAND_STOP_TIMEOUT
  #interrupted: (() => boolean) | undefined

  constructor(messages: Printer) {
    this.#messages = messages
    // The kernel ends any process at a signal that it has no handler for, but not the first one of a container.
    if (process.pid === 1)
      for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => this.stop(new Stopped(signal)))
  }

  get stopped(): AbortSignal {
    return this.#controller.signal
  }

  /** From now on a signal asks the command to stop. */
  begin(): void {
    if (this.#began) return
    this.#began = true
    for (const signal of ['SIGHUP', 'SIGINT', 'SIGTERM'] as const)
      process.on(signal, () => {
        if (signal === 'SIGINT' && this.#interrupted?.() === true) return
        this.stop(new Stopped(signal))
      })
  }

  allow(milliseconds: number): void {
    this.#timeout = COMMAND_STOP_TIMEOUT + milliseconds
  }

  onInterrupt(handler: () => boolean): Disposable {
    this.#interrupted = handler
    return { [Symbol.dispose]: () => void (this.#interrupted = undefined) }
  }

  stop(reason: Stopped): void {
    if (this.stopped.aborted || !this.#began) process.exit(reason.exitCode)
    this.#controller.abort(reason)
    setTimeout(() => {
      if (reason.signal !== 'SIGPIPE')
        this.#messages.line(
          `ironstage: ${reason.message}, and ended before everything was closed: ${openText(process.getActiveResourcesInfo())}`,
        )
      process.exit(reason.exitCode)
    }, this.#timeout)
  }
}

export function processEnvironment(): ProcessEnvironment {
  const { stdout, stderr } = process
  const messages = new Printer(stderr)
  // The exit code stays this one when the process has nothing left to wait for before its command has ended.
  process.exitCode = UNSETTLED
  const signals = new ProcessStop(messages)
  const { stopped } = signals
  let unwritten: Error | undefined
  stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (unwritten) return
    unwritten = error
    if (error.code === 'EPIPE') return signals.stop(new Stopped('SIGPIPE'))
    messages.line(`ironstage: standard output cannot be written (${error.message.replace(/^\w+: |, \w+$/g, '')})`)
    process.exit(1)
  })
  // There is no output left to report it on.
  stderr.on('error', () => {})

  let stray = (error: unknown): void => {
    reportFailure(error, messages)
    process.exit(1)
  }
  process.on('uncaughtException', (error) => stray(error))
  return {
    argv: process.argv.slice(2),
    variables: process.env,
    stdout,
    stderr,
    stdin: process.stdin,
    stopped,
    begin: () => signals.begin(),
    allowStop: (milliseconds) => signals.allow(milliseconds),
    onInterrupt: (handler) => signals.onInterrupt(handler),
    onStrayError: (handler) => {
      const before = stray
      stray = handler
      return { [Symbol.dispose]: () => void (stray = before) }
    },
    end: async (code) => {
      process.exitCode = code
      if (stopped.aborted) process.exit(unwritten ? 128 + SIGNAL_NUMBERS.SIGPIPE : code)
      stopped.addEventListener('abort', () => process.exit((stopped.reason as Stopped).exitCode))
      await Promise.all([stdout, stderr].map((output) => new Promise((resolve) => output.write('', resolve))))
      // A resource that is still open by then was forgotten, and must not keep the process.
      setTimeout(() => process.exit(), COMMAND_END_TIMEOUT).unref()
    },
  }
}
