import { Scope } from '../../../base/runtime/index.js'
import { LabClient, type JournalEntry } from '../../../control/index.js'
import { UpProcess } from '../commands/up-process.js'
import { PROCESS_SPEED } from './lab-processes.js'

/** Names an entry among those of all processes. */
export const keyOf = ({ process, id }: JournalEntry): string => `${process} ${id}`

/** Processes of the built command, which can be stopped and killed. */
export class LabCommands implements AsyncDisposable {
  readonly scope = new Scope()

  constructor(
    private readonly server: { readonly port: number },
    private readonly schema: string,
  ) {}

  async start(name: string, role: string): Promise<UpProcess & { lab: LabClient; url: string }> {
    const up = this.#up('--role', role, '--set', `DEFAULT.host=${name}`, '--port', '0')
    const url = await up.ready
    return Object.assign(up, { url, lab: new LabClient(url) })
  }

  /** A process of machines, and the name that it has. */
  async machines(prefix: string, count: number): Promise<UpProcess> {
    const named = ['--nodes', String(count), '--name-prefix', prefix, '--redfish-port', '0']
    const up = this.#up('--role', 'machines', ...named)
    await up.ready
    return up
  }

  #up(...argv: string[]): UpProcess {
    const database = ['--database', `postgres://postgres@127.0.0.1:${this.server.port}/postgres`]
    const own = ['--database-schema', this.schema, '--no-ui', '--speed', String(PROCESS_SPEED)]
    const up = new UpProcess([...database, ...own, ...argv])
    this.scope.onClose(async () => {
      if (!up.alive) return
      process.kill(up.pid, 'SIGCONT')
      await up.stop()
    })
    return up
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.scope[Symbol.asyncDispose]()
  }
}
