import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { IRONSTAGE } from '../commands/up-process.js'

/** The line of `fleet --json` that says where all is. */
export interface FleetReady {
  machines: number
  redfish_url: string
  agents_url: string
  control_url: string
  ui_url?: string
  ipmi_ports?: Record<string, number>
}

/** `ironstage fleet` in a process of its own. */
export class FleetProcess implements AsyncDisposable {
  readonly #child: ChildProcess
  readonly #gone: Promise<unknown>
  /** The end of what it printed besides its events. */
  readonly log: string[]

  private constructor(
    child: ChildProcess,
    gone: Promise<unknown>,
    log: string[],
    readonly ready: FleetReady,
  ) {
    this.#child = child
    this.#gone = gone
    this.log = log
  }

  /** @throws when it ends before it is ready */
  static async start(argv: readonly string[]): Promise<FleetProcess> {
    const child = spawn(process.execPath, [IRONSTAGE, 'fleet', '--json', ...argv], {
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    const log: string[] = []
    child.stderr.on('data', (part: Buffer) => {
      log.push(part.toString())
      if (log.length > 40) log.shift()
    })
    const gone = once(child, 'close')
    const lines = createInterface(child.stdout)
    const [line] = (await Promise.race([once(lines, 'line'), gone.then(() => [''])])) as [string]
    if (line === '') throw new Error(`the fleet ended before it was ready:\n${log.join('')}`)
    return new FleetProcess(child, gone, log, JSON.parse(line) as FleetReady)
  }

  get pid(): number {
    return this.#child.pid!
  }

  /** Ends it as a crash would. */
  async kill(): Promise<void> {
    this.#child.kill('SIGKILL')
    await this.#gone
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#child.exitCode === null && this.#child.signalCode === null) this.#child.kill('SIGTERM')
    await this.#gone
  }
}
