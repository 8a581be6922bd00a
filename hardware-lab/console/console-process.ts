import { spawn } from 'node:child_process'
import { onAbort } from '../../runtime/index.js'

/** A program that prints the console of a machine, for as long as it runs. */
export interface ConsoleProgram {
  argv: readonly [string, ...string[]]
  /** Variables with secrets: other users cannot read them, where a command line is open to all. */
  variables: Readonly<Record<string, string | undefined>>
}

/** Longest line; the rest begins another. */
const LONGEST = 4000
/** Escape sequences of terminals: colours, cursor movements, titles. */
const ESCAPES = /\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[@-Z\\-_])/g

/** Lines that a program prints, without escape sequences; ends with the program, or with the signal. */
export async function* programLines(
  { argv: [program, ...words], variables }: ConsoleProgram,
  signal: AbortSignal,
): AsyncGenerator<string> {
  const child = spawn(program, words, {
    env: variables as NodeJS.ProcessEnv,
    // Programs for terminals end when their input does.
    stdio: ['pipe', 'pipe', 'pipe'],
  })
  child.stdin.on('error', () => {})
  const chunks: string[] = []
  let ended = false
  let wake = () => {}
  const push = (bytes: Buffer) => {
    chunks.push(bytes.toString('utf8'))
    wake()
  }
  // A program that does not end is left behind.
  using _ = onAbort(signal, () => {
    child.kill()
    ended = true
    wake()
  })
  child.stdout.on('data', push)
  child.stderr.on('data', push)
  let failure: Error | undefined
  child.once('error', (error) => {
    failure = error
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
      while (rest.length > LONGEST) {
        lines.push(rest.slice(0, LONGEST))
        rest = rest.slice(LONGEST)
      }
      for (const line of lines) yield cleaned(line)
    }
    if (rest !== '') yield cleaned(rest)
    if (failure && !signal.aborted) throw failure
  } finally {
    child.kill()
    for (const stream of [child.stdin, child.stdout, child.stderr]) stream.destroy()
    child.unref()
  }
}

const cleaned = (line: string): string => line.replace(ESCAPES, '').replaceAll(/[^\t -~\u00a0-\uffff]/g, '')
