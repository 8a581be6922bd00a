import { spawn, type ChildProcess } from 'node:child_process'
import { createServer, type AddressInfo } from 'node:net'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import type { ProvisionState } from '../../../base/wire/index.js'
import { REAL_PEER_TIMEOUT } from '../../real/limits.js'

/** The command as it is built and shipped, found from the sources as well as from what is built of the tests. */
export const IRONSTAGE = fileURLToPath(
  new URL('../../../dist/bundle/ironstage.js', import.meta.url.replace('/dist/test/', '/test/')),
)

/** A line of `up --json` about a node. */
export interface NodeLine {
  uuid: string
  name: string | null
  provision_state: ProvisionState
  last_error: string | null
}

export interface LogLine {
  level: string
  room?: string
  message: string
}

/** `ironstage up` in a process of its own, and everything that it has said. */
export class UpProcess {
  readonly nodes: NodeLine[] = []
  readonly log: LogLine[] = []
  /** Output lines that are not JSON: the report of a crash. */
  readonly stray: string[] = []
  /** URL of the BMCs, once it is {@link ready}. */
  redfishUrl: string | undefined
  /** Where machines elsewhere find their boot files, once it is {@link ready}. */
  bootUrl: string | undefined
  /** Resolves with the URL of the API, or rejects when the process ended before. */
  readonly ready: Promise<string>
  /** Resolves when the process is gone and all that it had said has been read. */
  readonly gone: Promise<void>
  readonly #child: ChildProcess

  /** @param env variables besides those of this process */
  constructor(argv: readonly string[], env: Readonly<Record<string, string>> = {}) {
    this.#child = spawn(process.execPath, [IRONSTAGE, 'up', '--json', ...argv], {
      env: { ...process.env, ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    const exited = once(this.#child, 'close')
    this.gone = exited.then(() => {})
    this.ready = new Promise((resolve, reject) => {
      this.#read(this.#child.stdout!, (line) => {
        if (line['event'] === 'node') this.nodes.push(line as unknown as NodeLine)
        if (line['event'] !== 'ready') return
        this.redfishUrl = line['redfish_url'] as string | undefined
        this.bootUrl = line['boot_url'] as string | undefined
        resolve(String(line['ironic_url']))
      })
      const failed = (why: string) => reject(new Error(`ironstage ${why}: ${this.stray.join('\n')}`))
      exited.then(() => failed('ended'), reject)
      const late = setTimeout(() => failed('does not get ready'), REAL_PEER_TIMEOUT)
      exited.finally(() => clearTimeout(late)).catch(() => {})
    })
    this.ready.catch(() => {})
    this.#read(this.#child.stderr!, (line) => void this.log.push(line as unknown as LogLine))
  }

  get pid(): number {
    return this.#child.pid!
  }

  /** True if it still runs: neither killed nor ended by itself. */
  get alive(): boolean {
    return this.#child.exitCode === null && this.#child.signalCode === null
  }

  async kill(): Promise<void> {
    this.#child.kill('SIGKILL')
    await this.gone
  }

  async stop(): Promise<number | null> {
    this.#child.kill('SIGTERM')
    await this.gone
    return this.#child.exitCode
  }

  #read(stream: NodeJS.ReadableStream, take: (line: Record<string, unknown>) => void): void {
    createInterface({ input: stream }).on('line', (text) => {
      let line: unknown
      try {
        line = JSON.parse(text)
      } catch {
        // Also the half of a line that a kill cut off.
        this.stray.push(text)
        return
      }
      take(line as Record<string, unknown>)
    })
  }
}

/** A free port outside the range from which the kernel assigns ports. */
export async function fixedPort(choose: () => number): Promise<number> {
  for (;;) {
    const port = 20_000 + Math.floor(choose() * 10_000)
    const server = createServer()
    const listening = await new Promise<boolean>((resolve) => {
      server.once('error', () => resolve(false))
      server.listen(port, '127.0.0.1', () => resolve((server.address() as AddressInfo).port === port))
    })
    if (!listening) continue
    server.close()
    await once(server, 'close')
    return port
  }
}
