import { Mutex, unlessAborted, randomUuid, type Logger, type Random } from '../base/runtime/index.js'
import type { Target } from '../targets/index.js'
import { agentErrors, type CommandRequest } from '../base/wire/index.js'
import type { CommandRunner } from './command-runner.js'
import { CommandWaiters } from './command-waiters.js'
import type { AgentEvent } from './agent-events.js'
import type { CommandOutcome } from './extensions/extension.js'
import { findCommand, splitName } from './extensions/index.js'
import type { Reduction } from './reduction.js'
import { runningCommand, type Closing, type CommandRecord, type SavedState } from './agent-phases.js'

/** Commands of an agent from their request to their end, including a restart in between. */
export class Commands {
  readonly #options: CommandsOptions
  /** Serialises requests that start commands, also until the end of a synchronous command. */
  readonly #posting = new Mutex()
  readonly #waiters = new CommandWaiters()

  constructor(options: CommandsOptions) {
    this.#options = options
  }

  post({ name: fullName, params }: CommandRequest): Promise<CommandRecord> {
    const { extension, command: name } = splitName(fullName)
    return this.#posting.run(async () => {
      // IPA reports busy before it checks the command.
      const busy = runningCommand(this.#options.state())
      if (busy) throw agentErrors.busy(busy.name)
      const command = findCommand(extension, name)
      const id = randomUuid(this.#options.random)
      if (command.kind === 'sync') {
        const outcome = await this.#options.runner.run({ id, name, fullName }, command, params, this.#options.target)
        return this.#answered({ id, name, fullName }, outcome, outcome.closing)
      }
      const refused = this.#options.runner.refused({ id, name, fullName }, command, params)
      if (refused) return this.#answered({ id, name, fullName }, refused)
      const posted = await this.#options.apply({ kind: 'command posted', id, name, fullName, params })
      return this.#accepted(posted, this.#options.state().commands.at(-1)!)
    })
  }

  async #answered(
    { id, name, fullName }: Pick<CommandRecord, 'id' | 'name' | 'fullName'>,
    { status, error, result, refusal }: CommandOutcome,
    closing?: Closing,
  ): Promise<CommandRecord> {
    if (refusal) throw refusal
    // IPA lists a failed synchronous command under its full name.
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
    const target = this.#options.runner.resumableTarget(id, async (run) => {
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
   * Resumes a command after a restart on the same boot. If the target still has its program, the command runs again and
   * attaches to that program instead of starting another; otherwise its work is lost.
   */
  async resume(command: CommandRecord): Promise<void> {
    if (await this.#options.runner.hasProgram(command)) return this.run(command)
    this.#options.logger('warn', `${command.fullName} was running when the agent restarted and is lost`)
    await this.#options.apply({ kind: 'command ended', id: command.id, ...this.#options.runner.lostOutcome(command) })
  }

  ended(id: string): Promise<CommandRecord> {
    const record = this.#options.state().commands.find((candidate) => candidate.id === id)!
    return record.status === 'RUNNING'
      ? unlessAborted(this.#waiters.of(id), this.#options.signal)
      : Promise.resolve(record)
  }

  /** Answers the requests that wait for a command, once its end is saved. */
  notifyEnded(record: CommandRecord): void {
    this.#waiters.resolve(record)
  }
}

export interface CommandsOptions {
  runner: CommandRunner
  target: Target
  random: Random
  logger: Logger
  /** Aborted when the agent is stopped. */
  signal: AbortSignal
  state(): SavedState
  /** Resolves once the event is saved. */
  apply(event: AgentEvent): Promise<Reduction>
}
