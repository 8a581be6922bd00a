import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { defined } from '../../../base/runtime/index.js'
import { LabClient } from '../../../control/index.js'

const COMMAND = fileURLToPath(new URL('../../../dist/bundle/ironstage.js', import.meta.url))

interface Ready {
  event: string
  ironic_url?: string
  control_url?: string
  redfish_url?: string
  ui_url: string
}

/** `ironstage up` in a process of its own, as users start it. */
export class LabProcess {
  readonly lab: LabClient

  private constructor(
    readonly url: string,
    readonly pageUrl: string,
    readonly child: ReturnType<typeof spawn>,
    readonly headers: Readonly<Record<string, string>>,
    /** Where the BMCs of a fleet are. */
    readonly redfishUrl: string | null,
  ) {
    this.lab = new LabClient(url, { headers })
  }

  /** @param args of `ironstage up`, beyond its port */
  static start(args: readonly string[], headers: Readonly<Record<string, string>> = {}): Promise<LabProcess> {
    return LabProcess.#run(['up', ...(args.includes('--port') ? [] : ['--port', '0']), ...args], headers)
  }

  /** `ironstage fleet`: machines whose Ironic is elsewhere. @param args beyond its port */
  static startFleet(args: readonly string[]): Promise<LabProcess> {
    return LabProcess.#run(['fleet', '--redfish-port', '0', '--user', 'admin', ...args], {})
  }

  static async #run(args: readonly string[], headers: Readonly<Record<string, string>>): Promise<LabProcess> {
    const child = spawn(process.execPath, [COMMAND, ...args, '--json'], { stdio: ['ignore', 'pipe', 'inherit'] })
    let ready: Ready | undefined
    for await (const line of createInterface({ input: child.stdout! })) {
      const event = JSON.parse(line) as Ready
      if (event.event !== 'ready') continue
      ready = event
      break
    }
    if (!ready) throw new Error(`ironstage ${args.join(' ')} ended before it was ready`)
    child.stdout!.resume()
    const url = ready.ironic_url ?? ready.control_url!
    return new LabProcess(url, ready.ui_url, child, headers, ready.redfish_url ?? null)
  }

  /** A call of Ironic. */
  async ironic(method: string, path: string, body?: unknown): Promise<Response> {
    return fetch(`${this.url}${path}`, {
      method,
      headers: { 'x-openstack-ironic-api-version': '1.95', 'content-type': 'application/json', ...this.headers },
      ...defined({ body: body === undefined ? undefined : JSON.stringify(body) }),
    })
  }

  /** Asks a verb of nodes, and waits until all are in a state. */
  async all(names: readonly string[], target: string, state: string, more: object = {}): Promise<void> {
    await Promise.all(
      names.map(async (name) => {
        const answer = await this.ironic('PUT', `/v1/nodes/${name}/states/provision`, { target, ...more })
        if (!answer.ok) throw new Error(`${target} of ${name}: ${answer.status} ${await answer.text()}`)
      }),
    )
    await this.until(names, state)
  }

  async until(names: readonly string[], state: string): Promise<void> {
    for (;;) {
      const { nodes } = await this.lab.nodes()
      const states = new Map(nodes.map(({ name, provision_state }) => [name, provision_state]))
      if (names.every((name) => states.get(name) === state)) return
      await new Promise((resolve) => setTimeout(resolve, 200))
    }
  }

  /** Lets nodes work until it is disposed, so that much happens meanwhile. @param pause between two verbs, in milliseconds */
  keepBusy(names: readonly string[], pause = 0): AsyncDisposable {
    let isOver = false
    const working = (async () => {
      while (!isOver)
        for (const [verb, state] of [
          ['manage', 'manageable'],
          ['provide', 'available'],
        ] as const) {
          await this.all(names, verb, state)
          await new Promise((resolve) => setTimeout(resolve, pause))
        }
    })()
    return {
      [Symbol.asyncDispose]: () => {
        isOver = true
        return working
      },
    }
  }

  /** Ends it as a crash would, or in order. */
  async stop(signal: NodeJS.Signals = 'SIGTERM'): Promise<void> {
    if (this.child.exitCode !== null || this.child.signalCode !== null) return
    const ended = once(this.child, 'exit')
    this.child.kill(signal)
    await ended
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop()
  }
}

export const INSTALL = { deploy_steps: [{ interface: 'deploy', step: 'install_coreos', priority: 80, args: {} }] }

/** `node-0` to before `node-N`. */
export const nodeNames = (end: number, from = 0): string[] =>
  Array.from({ length: end - from }, (_, index) => `node-${from + index}`)
