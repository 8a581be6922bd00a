/**
 * Runs a program under a pseudo-terminal and prints its output: `node pty-runner.js PROGRAM [ARGUMENT]...`.
 *
 * The supervisor of a run starts it as a separate process, so that the terminal outlives the process that asked for it.
 */
import { spawn } from 'node-pty'

const [program = '', ...args] = process.argv.slice(2)
// Wide, so that the terminal breaks no lines.
const terminal = spawn(program, args, { name: 'dumb', cols: 400, rows: 50, cwd: '/' })
terminal.onData((text) => process.stdout.write(text))
terminal.onExit(({ exitCode, signal }) => {
  // Exit code of a killed program, as a shell encodes it.
  process.exitCode = signal ? 128 + signal : exitCode
})
for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.on(signal, () => terminal.kill(signal))
