import { dialectOf, type BmcDialect } from '../../dialects/index.js'
import { isDell, type Machine } from '../../../machine/index.js'
import { defined, errorChain, randomUuid, seconds, type Clock, type Random } from '../../../base/runtime/index.js'
import { resourceHead, redfishPath, type RedfishDocument } from '../protocol/redfish-document.js'
import { baseMessage, type RedfishMessage } from '../protocol/redfish-messages.js'

/** Work of a BMC that takes its time. */
export interface RedfishTask {
  readonly id: string
  readonly machine: string
  readonly dialect: BmcDialect['tasks']
  readonly name: string
  readonly began: number
  readonly takes: number
  ended?: { at: number; failure: string | null; result?: RedfishDocument }
}

/** Most tasks that are remembered; the oldest that has ended makes room. */
const MAX_REDFISH_TASKS = 1000

/** The tasks of a service. Like those of many BMCs, they are forgotten with the process. */
export class Tasks {
  readonly #tasks = new Map<string, RedfishTask>()
  readonly #clock: Clock
  readonly #random: Random
  readonly #closing: AbortSignal

  constructor({ clock, random, closing }: { clock: Clock; random: Random; closing: AbortSignal }) {
    this.#clock = clock
    this.#random = random
    this.#closing = closing
  }

  /**
   * Starts work that takes so many milliseconds of lab time, at the end of which it is done. A document that it returns is
   * what the task's monitor answers with.
   */
  start(name: string, machine: Machine, takes: number, work: () => Promise<RedfishDocument | void>): RedfishTask {
    const task: RedfishTask = {
      id: this.#idFor(machine),
      name,
      machine: machine.spec.id,
      dialect: dialectOf(machine.spec).tasks,
      began: this.#clock.now(),
      takes,
    }
    if (this.#tasks.size >= MAX_REDFISH_TASKS) {
      const oldest = [...this.#tasks.values()].find(({ ended }) => ended)
      if (oldest) this.#tasks.delete(oldest.id)
    }
    this.#tasks.set(task.id, task)
    void this.#run(task, work)
    return task
  }

  /** Clients of an iDRAC find a job by the end of the path of its task. */
  #idFor({ spec }: Machine): string {
    if (!isDell(spec)) return randomUuid(this.#random)
    return `JID_${Array.from({ length: 12 }, () => Math.floor(this.#random.next() * 10)).join('')}`
  }

  async #run(task: RedfishTask, work: () => Promise<RedfishDocument | void>): Promise<void> {
    const end = (failure: string | null, result?: RedfishDocument | void) =>
      (task.ended = { at: this.#clock.now(), failure, ...defined({ result: result || undefined }) })
    try {
      if (task.takes > 0) await this.#clock.sleep(task.takes, { signal: this.#closing })
      end(null, await work())
    } catch (error) {
      end(errorChain(error).join(': '))
    }
  }

  get(id: string): RedfishTask | undefined {
    const task = this.#tasks.get(id)
    return task && this.#isThere(task) ? task : undefined
  }

  /** False for a task that its BMC has deleted a while after its end. */
  #isThere({ ended, dialect: { retention } }: RedfishTask): boolean {
    return ended === undefined || retention === null || this.#clock.now() - ended.at < seconds(retention)
  }

  delete(id: string): void {
    this.#tasks.delete(id)
  }

  list(): RedfishTask[] {
    return [...this.#tasks.values()].filter((task) => this.#isThere(task))
  }

  document({ id, name, began, takes, ended, dialect }: RedfishTask): RedfishDocument {
    const done = takes === 0 ? 0 : Math.floor((100 * (this.#clock.now() - began)) / takes)
    const failure = ended?.failure
    return {
      ...resourceHead('Task', ['TaskService', 'Tasks', id], name),
      TaskMonitor: redfishPath('TaskService', 'TaskMonitors', id),
      TaskState:
        ended === undefined
          ? done === 0 && takes > 0
            ? dialect.first
            : 'Running'
          : failure === null
            ? 'Completed'
            : 'Exception',
      TaskStatus: failure == null ? 'OK' : 'Critical',
      PercentComplete: ended ? 100 : Math.min(99, done),
      StartTime: new Date(began).toISOString(),
      ...defined({ EndTime: ended ? new Date(ended.at).toISOString() : undefined }),
      Messages: ended ? [failure == null ? baseMessage('Success') : taskFailedMessage(failure)] : [],
    }
  }
}

/** With the reason in the sentence: clients such as sushy show that, and not the remedy. */
const taskFailedMessage = (why: string): RedfishMessage => ({
  ...baseMessage('OperationFailed'),
  Message: `The operation failed: ${why}.`,
})
