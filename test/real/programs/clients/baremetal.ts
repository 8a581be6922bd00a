import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { pythonPeer } from '../../peers.js'

/** Every distribution that is installed, pinned. */
const PINNED = fileURLToPath(new URL('../../peers/openstack-clients.txt', import.meta.url))
const FORKS = fileURLToPath(new URL('./baremetal.py', import.meta.url))

/** The folder with python-ironicclient and openstacksdk. */
export const openstackClients = (): Promise<string> => pythonPeer(PINNED)

/** The result of a command. */
export interface Ended {
  readonly code: number
  readonly stdout: string
  readonly stderr: string
}

/** Nothing of the environment but where programs are: who runs the tests may have a cloud of their own. */
export const bareEnvironment = (): Record<string, string> => ({
  PATH: process.env['PATH'] ?? '',
  HOME: '/nonexistent',
  LC_ALL: 'C.UTF-8',
})

/** The `baremetal` command of python-ironicclient against one Ironic. */
export class Baremetal implements AsyncDisposable {
  readonly #child: ChildProcess
  readonly #waiting = new Map<number, { resolve: (ended: Ended) => void; reject: (error: Error) => void }>()
  readonly #complaints: string[] = []
  readonly #variables: Readonly<Record<string, string>>
  #next = 0

  private constructor(child: ChildProcess, variables: Readonly<Record<string, string>>) {
    this.#child = child
    this.#variables = variables
    createInterface({ input: child.stdout! }).on('line', (line) => {
      const { id, ...ended } = JSON.parse(line) as Ended & { id: number }
      this.#waiting.get(id)?.resolve(ended)
      this.#waiting.delete(id)
    })
    createInterface({ input: child.stderr! }).on('line', (line) => this.#complaints.push(line))
    child.once('close', () => {
      const gone = new Error(`the client is gone: ${this.#complaints.join('\n')}`)
      for (const { reject } of this.#waiting.values()) reject(gone)
    })
  }

  /**
   * @param variables as a person exports them: `OS_ENDPOINT`, `OS_AUTH_TYPE` ...
   * @throws when it cannot be installed: a missing peer is a failure, never a skip
   */
  static async open(variables: Readonly<Record<string, string>>): Promise<Baremetal> {
    const venv = await openstackClients()
    const child = spawn(join(venv, 'bin/python'), [FORKS], { env: bareEnvironment(), stdio: 'pipe' })
    return new Baremetal(child, variables)
  }

  /** Runs a command to its end, however it ends. */
  run(argv: readonly string[], variables: Readonly<Record<string, string>> = {}): Promise<Ended> {
    const id = this.#next++
    return new Promise((resolve, reject) => {
      this.#waiting.set(id, { resolve, reject })
      this.#child.stdin!.write(`${JSON.stringify({ id, argv, env: { ...this.#variables, ...variables } })}\n`)
    })
  }

  /**
   * Runs a command that has to work; gives what it printed. Words are split at spaces, what has spaces comes apart:
   * `ok('node set n0 --name', 'n 1')`.
   */
  async ok(words: string, ...more: string[]): Promise<string> {
    const argv = [...words.split(' '), ...more]
    const { code, stdout, stderr } = await this.run(argv)
    if (code === 0) return stdout
    throw new Error(`baremetal ${argv.join(' ')} ended with ${code}: ${stderr}`)
  }

  /** The same for one that prints a record or a list of them. */
  async json<T = Record<string, unknown>>(words: string, ...more: string[]): Promise<T> {
    return JSON.parse(await this.ok(words, ...more, '-f', 'json')) as T
  }

  /** Runs a command that has to fail; gives its code and its last line, without the request's id that ends it. */
  async refused(words: string, ...more: string[]): Promise<string> {
    // Most conflicts are locks, so it tries them again for ten seconds.
    const argv = ['--max-retries', '0', ...words.split(' '), ...more]
    const { code, stdout, stderr } = await this.run(argv)
    const last = stderr.trim().split('\n').at(-1)!
    if (code !== 0) return `${code}: ${last.replace(/ \(Request-ID: req-[0-9a-f-]{36}\)$/, '')}`
    throw new Error(`baremetal ${argv.join(' ')} should have failed: ${stdout}`)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return
    const gone = once(this.#child, 'close')
    this.#child.stdin!.end()
    await gone
  }
}
