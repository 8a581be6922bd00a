import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { IRONSTAGE } from '../kit/commands/up-process.js'

/** `ironstage agent --json` in a process of its own, and what it has said. */
export interface AgentProcess extends AsyncDisposable {
  readonly lines: readonly Record<string, unknown>[]
  /** Resolves with the exit code once the process is gone. */
  readonly gone: Promise<number | null>
  /** As a service manager stops it. */
  stop(): Promise<number | null>
  kill(): Promise<unknown>
}

/** The command as it is built and shipped, on `ironstage agent` and these words. */
export function agentProcess(...argv: string[]): AgentProcess {
  const child = spawn(process.execPath, [IRONSTAGE, 'agent', '--json', ...argv], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const lines: Record<string, unknown>[] = []
  createInterface({ input: child.stdout }).on('line', (line) => {
    lines.push(JSON.parse(line) as Record<string, unknown>)
  })
  const gone = once(child, 'close').then(([code]) => code as number | null)
  const ended = (signal: NodeJS.Signals) => {
    child.kill(signal)
    return gone
  }
  return {
    lines,
    gone,
    stop: () => ended('SIGTERM'),
    kill: () => ended('SIGKILL'),
    [Symbol.asyncDispose]: async () => void (await ended('SIGKILL')),
  }
}
