import type { Clock } from '../../base/runtime/index.js'
import type { TargetCapability, TargetCommand, CommandExit, RunningCommand, Target } from '../../targets/index.js'

/** A program of a {@link FakeTarget}. */
export type FakeProgram = (command: TargetCommand) => Promise<FakeEnd> | FakeEnd

/** `output` is on stderr, where programs explain themselves. */
interface FakeEnd {
  output?: string
  stdout?: string
  exit: CommandExit
}

export const exited = (code: number, output = ''): { output: string; exit: CommandExit } => ({
  output,
  exit: { kind: 'exited', code },
})

/** A target of programs that a test writes down; it remembers runs by id, as real ones do. */
export class FakeTarget implements Target {
  readonly name = 'fake'
  readonly disks = { mayWrite: () => true }
  readonly clock: Clock
  readonly started: TargetCommand[] = []
  programs: Record<string, FakeProgram> = {}
  capabilities: readonly TargetCapability[] = ['power', 'reboot']
  readonly #runs = new Map<string, RunningCommand>()
  #count = 0

  constructor(clock: Clock) {
    this.clock = clock
  }

  hostPath = (path: string): string => path
  has = (capability: TargetCapability): boolean => this.capabilities.includes(capability)

  readonly executor = {
    start: async (command: TargetCommand): Promise<RunningCommand> => {
      const id = command.id ?? `run-${this.#count++}`
      const known = this.#runs.get(id)
      if (known) return known
      this.started.push(command)
      const program = this.programs[command.argv[0]] ?? (() => exited(127, `${command.argv[0]}: command not found\n`))
      const ending: Promise<FakeEnd> = Promise.resolve(program(command))
      const run: RunningCommand = {
        id,
        output: (async function* () {
          const { stdout, output } = await ending
          if (stdout !== undefined) yield { stream: 'stdout' as const, bytes: Buffer.from(stdout) }
          yield { stream: 'stderr' as const, bytes: Buffer.from(output ?? '') }
        })(),
        exit: ending.then(({ exit }) => exit),
        cancel: async () => {},
      }
      run.exit.catch(() => {})
      this.#runs.set(id, run)
      return run
    },
    attach: async (id: string): Promise<RunningCommand> => {
      const known = this.#runs.get(id)
      if (!known) throw new Error(`no run ${id}`)
      return known
    },
    files: {
      read: async (path: string) => Promise.reject(Object.assign(new Error(path), { code: 'ENOENT' })),
      write: async () => {},
      remove: async () => {},
      exists: async () => false,
      list: async () => [],
    },
  }

  /** As after a reboot, or a restart of what simulates it: nothing that ran is known any more. */
  forgetRuns(): void {
    this.#runs.clear()
  }
}
