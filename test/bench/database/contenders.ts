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
}

export type ProcessRole = 'all' | 'api' | 'conductor'

/** As far as the work measured goes, what a real Ironic with fake hardware has. */
const FAKE_HARDWARE = ['--port', '0', '--profile', 'upstream', '--no-ui']

/** PostgreSQL with default durability, and Ironics with and without it, in the same run. */
export class DatabaseBench implements AsyncDisposable {
  readonly #scope = new Scope()
  #schemas = 0

  private constructor(readonly server: PostgresServer) {
    this.#scope.use(server)
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
  embedded(): Promise<Contender> {
    return this.#start([FAKE_HARDWARE])
  }

  /** Processes that share a schema, whose machines are elsewhere. */
  shared(schema: string, roles: readonly ProcessRole[]): Promise<Contender> {
    const database = ['--database', this.url, '--database-schema', schema]
    return this.#start(
      roles.map((role) => [...FAKE_HARDWARE, ...database, '--role', role]),
      roles,
    )
  }

  /** Milliseconds of processor time that the server has taken so far. */
  serverTime(): Promise<number> {
    return processorTime(this.server.pid)
  }

  async #start(commands: readonly (readonly string[])[], roles: readonly ProcessRole[] = ['all']): Promise<Contender> {
    const processes = commands.map((argv) => {
      const up = new UpProcess(argv)
      this.#scope.onClose(async () => {
        if (up.alive) await up.stop()
      })
      return up
    })
    const urls = await Promise.all(processes.map(({ ready }) => ready))
    const clients = urls.filter((_, place) => roles[place] !== 'conductor').map((url) => new BenchClient(url))
    for (const client of clients) this.#scope.use(client)
    return { clients, processes }
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#scope[Symbol.asyncDispose]()
  }
}

export async function endOf({ processes }: Contender): Promise<void> {
  await Promise.all(processes.map((up) => up.stop()))
}
