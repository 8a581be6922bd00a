import { spawn, type ChildProcess } from 'node:child_process'
import { onAbort, startFailure, type Clock } from '../../../base/runtime/index.js'

/** A program that prints the console of a machine, for as long as it runs. */
export interface ConsoleProgram {
  argv: readonly [string, ...string[]]
  /** Variables with secrets: other users cannot read them, where a command line is open to all. */
  variables: Readonly<Record<string, string | undefined>>
}

/** Longest line; the rest begins another. */
const MAX_CONSOLE_LINE_LENGTH = 4000
/** Escape sequences of terminals: colours, cursor movements, titles. */
const ESCAPES = /\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[@-Z\\-_])/g

/** Milliseconds that a program has to end after SIGTERM: one that a run leaves behind holds a console that others need. */
const CONSOLE_EXIT_TIMEOUT = 500

/**
 * Lines that a program prints, without escape sequences; ends with the program, or with the signal. The program and all
 * that it has started are gone then.
 */
export async function* programLines(
  { argv: [program, ...words], variables }: ConsoleProgram,
  clock: Clock,
  signal: AbortSignal,
): AsyncGenerator<string> {
  const child = spawn(program, words, {
    env: variables as NodeJS.ProcessEnv,
    // Programs for terminals end when their input does.
    stdio: ['pipe', 'pipe', 'pipe'],
    // A group of its own: Ctrl-C is for the run, which may finish its hosts first.
    detached: true,
  })
  const failure = startFailure(child)
  if (failure) await failure
  child.stdin.on('error', () => {})
  const chunks: string[] = []
  let ended = false
  let wake = () => {}
  const push = (bytes: Buffer) => {
    chunks.push(bytes.toString('utf8'))
    wake()
  }
  using _ = onAbort(signal, () => {
    ended = true
    wake()
  })
  child.stdout.on('data', push)
  child.stderr.on('data', push)
  let problem: Error | undefined
  child.once('error', (error) => {
    problem = error
    ended = true
    wake()
  })
  child.once('close', () => {
    ended = true
    wake()
  })
  try {
    let rest = ''
    for (;;) {
      const chunk = chunks.shift()
      if (chunk === undefined) {
        if (ended) break
        await new Promise<void>((resolve) => (wake = resolve))
        continue
      }
      const lines = (rest + chunk).split(/\r*\n|\r/)
      rest = lines.pop()!
      while (rest.length > MAX_CONSOLE_LINE_LENGTH) {
        lines.push(rest.slice(0, MAX_CONSOLE_LINE_LENGTH))
        rest = rest.slice(MAX_CONSOLE_LINE_LENGTH)
      }
      for (const line of lines) yield cleaned(line)
    }
    if (rest !== '') yield cleaned(rest)
    if (problem && !signal.aborted) throw problem
  } finally {
    await endGroup(child, clock)
    for (const stream of [child.stdin, child.stdout, child.stderr]) stream.destroy()
    child.unref()
  }
}

async function endGroup(child: ChildProcess, clock: Clock): Promise<void> {
  const { pid } = child
  if (pid === undefined) return
  const isGone = () => child.exitCode !== null || child.signalCode !== null
  const gone = new Promise<void>((resolve) => (isGone() ? resolve() : child.once('exit', () => resolve())))
  signalGroup(pid, 'SIGTERM')
  await Promise.race([gone, clock.sleep(CONSOLE_EXIT_TIMEOUT, { weak: true })])
  signalGroup(pid, 'SIGKILL')
  await gone
}

function signalGroup(leader: number, signal: NodeJS.Signals): void {
  try {
    process.kill(-leader, signal)
  } catch {
    // The process and its children have ended.
  }
}

const cleaned = (line: string): string => line.replace(ESCAPES, '').replaceAll(/[^\t -~\u00a0-\uffff]/g, '')
