import type { TargetCommand } from '../../targets/index.js'
import type { MachineParts } from '../machine-parts.js'
import type { ProgramMachine, Process } from '../programs/machine-program.js'

type ProcessSurroundings = Pick<MachineParts, 'clock' | 'random' | 'pace' | 'downloads'>

/** A program of a machine while it runs. All have the same members in the same order, which V8 reads several times as fast. */
export class RunningProcess implements Process {
  readonly argv: Process['argv']
  readonly stdin: Uint8Array
  readonly tty: boolean
  readonly inside: ProgramMachine
  readonly clock: Process['clock']
  readonly random: Process['random']
  readonly pace: Process['pace']
  declare readonly downloads?: NonNullable<Process['downloads']>
  readonly stdout: Process['stdout']
  readonly stderr: Process['stderr']
  /** Has the signal, which is made when it is first asked for. */
  protected readonly controller: AbortController

  constructor(
    { argv, stdin = new Uint8Array(), tty = false }: TargetCommand,
    inside: ProgramMachine,
    { clock, random, pace, downloads }: ProcessSurroundings,
    write: (stream: 'stdout' | 'stderr', bytes: Uint8Array) => void,
    controller: AbortController,
  ) {
    this.argv = argv
    this.stdin = stdin
    this.tty = tty
    this.inside = inside
    this.clock = clock
    this.random = random
    this.pace = pace
    if (downloads) this.downloads = downloads
    this.stdout = (text) => write('stdout', toBytes(text))
    this.stderr = (text) => write('stderr', toBytes(text))
    this.controller = controller
  }

  get signal(): AbortSignal {
    return this.controller.signal
  }
}

const toBytes = (text: string | Uint8Array): Uint8Array => (typeof text === 'string' ? Buffer.from(text) : text)
