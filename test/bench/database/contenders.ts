import { Scope } from '../../../base/runtime/index.js'
import { UpProcess } from '../../kit/commands/up-process.js'
import { PostgresServer } from '../../real/postgres.js'
import { BenchClient } from '../bench-client.js'
import { processorTime } from '../measure.js'

/** An Ironic that is measured, of one process or several. */
export interface Contender {
  /** A client of each process that answers some. */
  readonly clients: readonly BenchClient[]
  readonly processes: readonly UpProcess[]
  /** URL of its first API. */
  readonly url: string
}

export type ProcessRole = 'all' | 'api' | 'conductor'

/** With no machine of its own. */
const BARE = ['--port', '0', '--no-ui']

/** Options for nodes without machines. */
export const FAKE_HARDWARE = ['--profile', 'upstream']

/** PostgreSQL with default durability, and Ironics with and without it, in the same run. */
export class DatabaseBench implements AsyncDisposable {
  readonly scope = new Scope()
  #schemas = 0

  private constructor(readonly server: PostgresServer) {
    this.scope.use(server)
  }

  static async open(): Promise<DatabaseBench> {
    return new DatabaseBench(await PostgresServer.open({ access: ['host all postgres 127.0.0.1/32 trust'] }))
  }

  get url(): string {
    return `postgres://postgres@127.0.0.1:${this.server.port}/postgres`
  }

  newSchema(): string {
    return `bench${++this.#schemas}`
  }

  /** One process with its own store, in memory as by default. */
  embedded(argv: readonly string[] = FAKE_HARDWARE): Promise<Contender> {
    return this.#start([[...BARE, ...argv]], ['all'])
  }

  /** Processes that share a schema. */
  shared(schema: string, roles: readonly ProcessRole[], argv: readonly string[] = FAKE_HARDWARE): Promise<Contender> {
    const database = [...BARE, '--database', this.url, '--database-schema', schema]
    const commands = roles.map((role) => [...database, '--role', role, ...argv])
    return this.#start(commands, roles)
  }

  /** Milliseconds of processor time that the server has taken so far. */
  serverTime(): Promise<number> {
    return processorTime(this.server.pid)
  }

  async #start(commands: readonly (readonly string[])[], roles: readonly ProcessRole[]): Promise<Contender> {
    const processes = commands.map((argv) => {
      const up = new UpProcess(argv)
      this.scope.onClose(async () => {
        if (up.alive) await up.stop()
      })
      return up
    })
    const urls = await Promise.all(processes.map(({ ready }) => ready))
    const apis = urls.filter((_, place) => roles[place] !== 'conductor')
    const clients = apis.map((url) => this.scope.use(new BenchClient(url)))
    return { clients, processes, url: apis[0]! }
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.scope[Symbol.asyncDispose]()
  }
}

export async function endOf({ processes }: Contender): Promise<void> {
  await Promise.all(processes.map((up) => up.stop()))
}
