import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { createInterface, type Interface } from 'node:readline'
import { fileURLToPath } from 'node:url'

/** Seconds: Ironic's default limit between two heartbeats. */
export const AGENT_HEARTBEAT_TIMEOUT = 300
/** An agent lets at most 0.6 of that pass, and IPA looks only every 5 s whether it is time. Milliseconds. */
export const MAX_HEARTBEAT_DELAY = AGENT_HEARTBEAT_TIMEOUT * 1000 * 0.6 + 5000

export interface WaitingFor {
  /** Seconds, as agents are told. */
  heartbeatTimeout: number
  /** A heartbeat that comes so long after the one before was missed, in milliseconds of wall time. */
  missedAfter: number
}

/** Requests since the previous look. */
export interface Heard {
  /** How many there are that were ever heard. */
  agents: number
  heartbeats: number
  missed: number
}

/**
 * An Ironic that only waits: it answers what idle agents ask and remembers when each was last heard. A process of its
 * own, so that the agents have theirs for themselves.
 */
export class WaitingIronic implements AsyncDisposable {
  readonly #child: ChildProcess
  readonly #lines: Interface
  readonly url: string

  private constructor(child: ChildProcess, lines: Interface, port: string) {
    this.#child = child
    this.#lines = lines
    this.url = `http://127.0.0.1:${port}`
  }

  static async start(waiting: WaitingFor): Promise<WaitingIronic> {
    const main = fileURLToPath(new URL('./waiting-ironic-process.js', import.meta.url))
    const child = spawn(process.execPath, [main, JSON.stringify(waiting)], { stdio: ['pipe', 'pipe', 'inherit'] })
    const lines = createInterface(child.stdout)
    const [port] = (await once(lines, 'line')) as [string]
    return new WaitingIronic(child, lines, port)
  }

  async heard(): Promise<Heard> {
    const answered = once(this.#lines, 'line') as Promise<[string]>
    this.#child.stdin!.write('\n')
    return JSON.parse((await answered)[0]) as Heard
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const gone = once(this.#child, 'close')
    this.#child.stdin!.end()
    await gone
  }
}
