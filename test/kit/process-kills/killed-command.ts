import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { setTimeout as sleep } from 'node:timers/promises'
import { IRONSTAGE } from '../commands/up-process.js'

/** A line of a command with `--json`. */
export type CommandEvent = Readonly<Record<string, unknown>>

/** When a command gets a SIGKILL: some milliseconds after its start, or after the first event of a kind. */
export interface KillMoment {
  after?: (event: CommandEvent) => boolean
  /** Milliseconds later. Default 0. */
  later?: number
}

export interface CommandEnd {
  /** Null for a command that was killed. */
  code: number | null
  events: CommandEvent[]
  /** Its standard error. */
  stderr: string
  /** True if it was ended because it took longer than its limit. */
  hangs: boolean
}

/**
 * Runs a command of the built program with `--json` in a process of its own, to its end or to a kill.
 *
 * @param within milliseconds after which a command that still runs hangs
 */
export async function runCommand(
  argv: readonly string[],
  { cwd, kill, within }: { cwd: string; kill?: KillMoment; within: number },
): Promise<CommandEnd> {
  const child = spawn(process.execPath, [IRONSTAGE, ...argv, '--json'], {
    cwd,
    env: { PATH: process.env['PATH'], HOME: cwd, TMPDIR: cwd },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const closed = once(child, 'close') as Promise<[number | null]>
  const ended = new AbortController()
  const end: CommandEnd = { code: null, events: [], stderr: '', hangs: false }
  const killLater = (ms: number): void => {
    sleep(ms, undefined, ended).then(
      () => child.kill('SIGKILL'),
      () => {},
    )
  }
  if (kill && !kill.after) killLater(kill.later ?? 0)
  child.stderr.on('data', (bytes: Buffer) => (end.stderr += bytes.toString()))
  createInterface({ input: child.stdout }).on('line', (text) => {
    // A kill cuts the last line off.
    if (!text.endsWith('}')) return
    const event = JSON.parse(text) as CommandEvent
    end.events.push(event)
    if (kill?.after?.(event)) killLater(kill.later ?? 0)
  })
  sleep(within, undefined, ended).then(
    () => {
      end.hangs = true
      child.kill('SIGKILL')
    },
    () => {},
  )
  const [code] = await closed
  ended.abort()
  return { ...end, code }
}
