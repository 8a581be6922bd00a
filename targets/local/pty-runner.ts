/**
 * Runs a program under a terminal of its own and prints what it prints: `node pty-runner.js PROGRAM [ARGUMENT]...`.
 *
 * A process of its own, started by a run's supervisor: the terminal must outlive the ironstage that wanted it.
 */
import { spawn } from 'node-pty'

const [program = '', ...args] = process.argv.slice(2)
// Wide, so that no line is broken where the program does not break it.
const terminal = spawn(program, args, { name: 'dumb', cols: 400, rows: 50, cwd: '/' })
terminal.onData((text) => process.stdout.write(text))
terminal.onExit(({ exitCode, signal }) => {
  // As a shell would say it.
  process.exitCode = signal ? 128 + signal : exitCode
})
for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.on(signal, () => terminal.kill(signal))
