import { Mutex, unlessAborted, uuid, type Logger, type Random } from '../runtime/index.js'
import type { Target } from '../targets/index.js'
import { agentErrors, type CommandRequest } from '../wire/index.js'
import type { CommandRunner } from './command-runner.js'
import { Endings } from './endings.js'
import type { AgentEvent } from './events.js'
import type { Outcome } from './extensions/extension.js'
import { findCommand, splitName } from './extensions/index.js'
import type { Reduction } from './reduce.js'
import { runningCommand, type Closing, type CommandRecord, type KeptState } from './state.js'

/** The commands of an agent from their request to their end, and through a restart in between. */
export class Commands {
  readonly #options: CommandsOptions
  /** Requests that start commands wait for each other, also for the end of a synchronous command. */
  readonly #posting = new Mutex()
  readonly #endings = new Endings()

  constructor(options: CommandsOptions) {
    this.#options = options
  }

  post({ name: fullName, params }: CommandRequest): Promise<CommandRecord> {
    const { extension, command: name } = splitName(fullName)
    return this.#posting.run(async () => {
      // A busy agent says so before it looks whether it knows the command.
      const busy = runningCommand(this.#options.kept())
      if (busy) throw agentErrors.busy(busy.name)
      const command = findCommand(extension, name)
      const id = uuid(this.#options.random)
      if (command.kind === 'sync') {
        const outcome = await this.#options.runner.run({ id, name, fullName }, command, params, this.#options.target)
        return this.#answered({ id, name, fullName }, outcome, outcome.closing)
      }
      const refused = this.#options.runner.refused({ id, name, fullName }, command, params)
      if (refused) return this.#answered({ id, name, fullName }, refused)
      const posted = await this.#options.apply({ kind: 'command posted', id, name, fullName, params })
      return this.#accepted(posted, this.#options.kept().commands.at(-1)!)
    })
  }

  async #answered(
    { id, name, fullName }: Pick<CommandRecord, 'id' | 'name' | 'fullName'>,
    { status, error, result, refusal }: Outcome,
    closing?: Closing,
  ): Promise<CommandRecord> {
    if (refusal) throw refusal
    // IPA names what failed synchronously in full.
    const record = { id, name: status === 'SUCCEEDED' ? name : fullName, fullName, status, error, result }
    const answered = this.#accepted(await this.#options.apply({ kind: 'command answered', record }), record)
    if (closing) await this.#options.apply({ kind: 'closed', as: closing })
    return answered
  }

  #accepted({ refusal }: Reduction, record: CommandRecord): CommandRecord {
    if (refusal) throw refusal
    return record
  }

  async run({ id, name, fullName, params = {} }: CommandRecord): Promise<void> {
    const { extension } = splitName(fullName)
    const target = this.#options.runner.followed(id, async (run) => {
      await this.#options.apply({ kind: 'program started', id, run })
    })
    const { closing, status, error, result } = await this.#options.runner.run(
      { id, name, fullName },
      findCommand(extension, name),
      params,
      target,
    )
    await this.#options.apply({ kind: 'command ended', id, status, error, result })
    if (closing) await this.#options.apply({ kind: 'closed', as: closing })
  }

  /**
   * After a restart on the same boot. A target that still knows the program the command had started gets the command
   * again, which then finds that program instead of starting it; on any other the work was lost with the old process.
   */
  async resume(command: CommandRecord): Promise<void> {
    if (await this.#options.runner.knows(command)) return this.run(command)
    this.#options.logger('warn', `${command.fullName} was running when the agent restarted and is lost`)
    await this.#options.apply({ kind: 'command ended', id: command.id, ...this.#options.runner.lost(command) })
  }

  ended(id: string): Promise<CommandRecord> {
    const record = this.#options.kept().commands.find((candidate) => candidate.id === id)!
    return record.status === 'RUNNING'
      ? unlessAborted(this.#endings.of(id), this.#options.signal)
      : Promise.resolve(record)
  }

  /** A command's end is kept, so whoever waits for it is told. */
  tellEnded(record: CommandRecord): void {
    this.#endings.tell(record)
  }
}

export interface CommandsOptions {
  runner: CommandRunner
  target: Target
  random: Random
  logger: Logger
  /** Aborted when the agent is stopped. */
  signal: AbortSignal
  kept(): KeptState
  /** Resolves once the event is kept. */
  apply(event: AgentEvent): Promise<Reduction>
}
