import type { Random } from '../../../base/runtime/index.js'
import type { MemberRole } from '../../../ironic-mock/index.js'
import { fixedPort, UpProcess } from '../commands/up-process.js'

/** Ironics of one database in processes of their own, on fixed ports, of which some end and are started again. */
export class UpIronics implements AsyncDisposable {
  readonly #processes: UpProcess[] = []

  private constructor(
    private readonly argv: readonly string[],
    readonly roles: readonly MemberRole[],
    private readonly ports: readonly number[],
  ) {}

  /**
   * @param databases URL of the database for each of them; one stands for all
   * @param more options of all
   */
  static async open(
    databases: string | readonly string[],
    roles: readonly MemberRole[],
    random: Random,
    more: readonly string[] = ['--speed', '20'],
  ): Promise<UpIronics> {
    const ports: number[] = []
    // The first numbers of all seeds are alike, and a port that was given is free until its process has it.
    const choose = (): number => (random.next() + process.pid / 2 ** 16) % 1
    while (ports.length < roles.length) {
      const port = await fixedPort(choose)
      if (!ports.includes(port)) ports.push(port)
    }
    const all = new UpIronics(['--no-ui', ...more], roles, ports)
    for (const [index] of roles.entries())
      await all.start(index, typeof databases === 'string' ? databases : databases[index]!)
    return all
  }

  /** Ports of those that answer clients. */
  get apis(): readonly number[] {
    return this.ports.filter((_, index) => this.roles[index] !== 'conductor')
  }

  /** One of them, with all that it has said. */
  process(index: number): UpProcess {
    return this.#processes[index]!
  }

  async start(index: number, database: string): Promise<void> {
    const role = this.roles[index]!
    const own = ['--role', role, '--port', String(this.ports[index]), '--set', `DEFAULT.host=${role}-${index}`]
    const up = new UpProcess(['--database', database, ...this.argv, ...own])
    this.#processes[index] = up
    await up.ready
  }

  async kill(index: number): Promise<void> {
    await this.#processes[index]!.kill()
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.#processes.filter((up) => up.alive).map((up) => up.kill()))
  }
}
