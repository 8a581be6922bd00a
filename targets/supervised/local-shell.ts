import { spawn } from 'node:child_process'
import { startFailure, type Clock } from '../../base/runtime/index.js'
import { LinkLost, PLAIN_SHELL, type LoginShell, type ShellChannel } from './login-shell.js'

const SHELL = '/bin/sh'

/**
 * A shell of this host. It gets `PATH` and `HOME` and nothing else of this process's environment.
 *
 * @param environment source of `PATH` and `HOME`
 * @param program command line of the shell; `/bin/sh` by default
 */
export function localShell(
  clock: Clock,
  environment: Readonly<Record<string, string | undefined>>,
  program: readonly [string, ...string[]] = [SHELL],
): LoginShell {
  const { PATH = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin', HOME = '/' } = environment
  return {
    name: 'this host',
    alive: () => Promise.resolve(true),
    open: async (line, { stdin, signal } = {}) => {
      signal?.throwIfAborted()
      const [command, ...more] = program
      // It is that shell already.
      const words = command === SHELL && line === PLAIN_SHELL ? [] : ['-c', line]
      const child = spawn(command, [...more, ...words], { env: { PATH, HOME }, stdio: ['pipe', 'pipe', 'pipe'] })
      const failure = startFailure(child)
      if (failure) await failure
      const hold = clock.hold('a command on this host')
      let cut = false
      const channel: ShellChannel = {
        stdout: child.stdout,
        stderr: child.stderr,
        exit: new Promise((resolve, reject) => {
          child.once('error', (cause) => reject(new LinkLost(`${command} could not be started`, { cause })))
          child.once('close', (code) => (cut ? reject(new LinkLost('the shell was cut off')) : resolve(code)))
        }),
        cut: () => {
          if (child.exitCode !== null || child.signalCode !== null) return
          cut = true
          child.kill('SIGKILL')
          // Programs that it started may hold the pipes open; a lost link would not wait for them either.
          for (const stream of [child.stdin, child.stdout, child.stderr]) stream.destroy()
        },
      }
      const abort = () => channel.cut()
      const over = () => {
        hold[Symbol.dispose]()
        signal?.removeEventListener('abort', abort)
      }
      channel.exit.then(over, over)
      // A shell that has ended takes no more input; its exit reports that.
      child.stdin.on('error', () => {})
      child.stdin.end(stdin ?? new Uint8Array())
      signal?.addEventListener('abort', abort, { once: true })
      return channel
    },
  }
}
