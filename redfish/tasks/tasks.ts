import type { Machine } from '../../machine/index.js'
import { errorChain, uuid, type Clock, type Random } from '../../runtime/index.js'
import { head, pathOf, type Document } from '../protocol/document.js'
import { message, type Message } from '../protocol/messages.js'

/** Work of a BMC that takes its time. */
export interface Task {
  readonly id: string
  readonly machine: string
  readonly name: string
  readonly began: number
  readonly takes: number
  ended?: { at: number; failure: string | null }
}

/** Most tasks that are remembered; the oldest that has ended makes room. */
const MOST = 1000

/** The tasks of a service. Like those of many BMCs, they are forgotten with the process. */
export class Tasks {
  readonly #tasks = new Map<string, Task>()
  readonly #clock: Clock
  readonly #random: Random
  readonly #closing: AbortSignal

  constructor({ clock, random, closing }: { clock: Clock; random: Random; closing: AbortSignal }) {
    this.#clock = clock
    this.#random = random
    this.#closing = closing
  }

  /** Starts work that takes so many milliseconds of lab time, at the end of which it is done. */
  start(name: string, machine: Machine, takes: number, work: () => Promise<void>): Task {
    const task: Task = { id: uuid(this.#random), name, machine: machine.spec.id, began: this.#clock.now(), takes }
    if (this.#tasks.size >= MOST) {
      const oldest = [...this.#tasks.values()].find(({ ended }) => ended)
      if (oldest) this.#tasks.delete(oldest.id)
    }
    this.#tasks.set(task.id, task)
    void this.#run(task, work)
    return task
  }

  async #run(task: Task, work: () => Promise<void>): Promise<void> {
    const end = (failure: string | null) => (task.ended = { at: this.#clock.now(), failure })
    try {
      if (task.takes > 0) await this.#clock.sleep(task.takes, { signal: this.#closing })
      await work()
      end(null)
    } catch (error) {
      end(errorChain(error).join(': '))
    }
  }

  get(id: string): Task | undefined {
    return this.#tasks.get(id)
  }

  delete(id: string): void {
    this.#tasks.delete(id)
  }

  list(): Task[] {
    return [...this.#tasks.values()]
  }

  document({ id, name, began, takes, ended }: Task): Document {
    const done = takes === 0 ? 0 : Math.floor((100 * (this.#clock.now() - began)) / takes)
    const failure = ended?.failure
    return {
      ...head('Task', ['TaskService', 'Tasks', id], name),
      TaskMonitor: pathOf('TaskService', 'TaskMonitors', id),
      TaskState: ended === undefined ? 'Running' : failure === null ? 'Completed' : 'Exception',
      TaskStatus: failure == null ? 'OK' : 'Critical',
      PercentComplete: ended ? 100 : Math.min(99, done),
      StartTime: new Date(began).toISOString(),
      ...(ended ? { EndTime: new Date(ended.at).toISOString() } : {}),
      Messages: ended ? [failure == null ? message('Success') : failed(failure)] : [],
    }
  }
}

/** With the reason in the sentence: clients such as sushy show that, and not the remedy. */
const failed = (why: string): Message => ({ ...message('OperationFailed'), Message: `The operation failed: ${why}.` })
