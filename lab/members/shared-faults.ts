import { errorChain, seconds, systemClock, UserError, userError, type Logger } from '../../base/runtime/index.js'
import type { FaultToStore, SharedDatabase } from '../../ironic-mock/index.js'
import { faultDocument, readFaults, type Fault, type FaultReport } from '../../control/index.js'
import type { FaultInjector, FollowedFault } from '../faults/faults.js'
import type { JournalRecorder } from '../journal/record.js'

interface SharedFaultParts {
  readonly shared: SharedDatabase
  readonly injector: FaultInjector
  readonly recorder: JournalRecorder
  readonly logger: Logger
}

/** Longest wait for the other processes to put a change of the faults in force. */
const IN_FORCE_WAIT = seconds(2)
const IN_FORCE_POLL = 20

/**
 * The faults of all processes of a database. They are rows there, which each process follows, and not calls from process
 * to process: so a process that starts later has them, one that does not answer gets them when it does, and a fault that
 * strikes a number of times is counted in one place. A change is answered when all living processes have it in force.
 */
export class SharedFaults implements Disposable {
  readonly #parts: SharedFaultParts
  readonly #wall = systemClock()
  readonly #watching: Disposable
  /** Number of the change that is in force here. */
  #applied = -1
  #reading: Promise<void> | undefined
  #complaint = ''

  constructor(parts: SharedFaultParts) {
    this.#parts = parts
    const { faults } = parts.shared
    parts.injector.shareCounts({
      // Without the database nothing is counted, and so nothing strikes: calls of Ironic wait then, too.
      claim: (id, roll) =>
        faults
          .claim(numberOf(id)!, roll)
          .catch(() => ({ strikes: false, struck: parts.injector.get(id)?.struck ?? 0 })),
    })
    this.#watching = parts.shared.watchLooks(() => this.#looked())
  }

  /** Puts in force what there is. @throws UserError when the database does not answer */
  begin(): Promise<void> {
    return this.#read()
  }

  /** @throws UserError `fault` for one that could never strike */
  async add(fault: Fault): Promise<{ id: string }> {
    const [added] = await this.addAll([fault])
    return added!
  }

  /** Adds all of them, or none. */
  async addAll(added: readonly Fault[]): Promise<{ id: string }[]> {
    const { shared, injector, recorder } = this.#parts
    await shared.store.others?.catchUp()
    injector.checkAll(added)
    const { ids, last } = await this.#ask(() => shared.faults.add(added.map(storedForm)))
    await this.#read()
    const faults = ids.map((id) => ({ id: nameOf(id) }))
    for (const { id } of faults) {
      const report = injector.get(id)
      if (report) recorder.fault('added', report)
    }
    await this.#inForce(last)
    return faults
  }

  /** Faults that were added anywhere and not lifted, with how often they have struck anywhere. */
  async list(): Promise<FaultReport[]> {
    await this.#read()
    return this.#parts.injector.list()
  }

  async get(id: string): Promise<FaultReport | undefined> {
    await this.#read()
    return this.#parts.injector.get(id)
  }

  async lift(id: string): Promise<boolean> {
    const number = numberOf(id)
    return number !== undefined && (await this.#remove({ id: number })) > 0
  }

  /** Lifts all, or those with a label. */
  async clear(label?: string): Promise<void> {
    await this.#remove(label === undefined ? {} : { label })
  }

  [Symbol.dispose](): void {
    this.#watching[Symbol.dispose]()
  }

  async #remove(which: { id?: number; label?: string }): Promise<number> {
    const { shared, injector, recorder } = this.#parts
    await this.#read()
    const known = new Map(injector.list().map((report) => [report.id, report]))
    const { ids, last } = await this.#ask(() => shared.faults.remove(which))
    for (const id of ids) {
      const report = known.get(nameOf(id))
      if (report) recorder.fault('lifted', report)
    }
    if (ids.length === 0) return 0
    await this.#read()
    await this.#inForce(last)
    return ids.length
  }

  /** Waits until the living processes have a change in force. One that does not answer gets it when it does. */
  async #inForce(last: number): Promise<void> {
    const { faults } = this.#parts.shared
    const until = this.#wall.now() + IN_FORCE_WAIT
    for (;;) {
      const behind = await this.#ask(() => faults.behind(last))
      if (behind.length === 0) return
      if (this.#wall.now() > until) {
        this.#parts.logger('warn', `a change of the faults is not yet in force at ${behind.join(', ')}`)
        return
      }
      await this.#wall.sleep(IN_FORCE_POLL, { weak: true })
    }
  }

  #looked(): void {
    const own = this.#parts.shared.members?.own
    if (!own || this.#reading) return
    if (own.faultsLast !== this.#applied) this.#readSoon(() => this.#read())
    else if (own.faultsSeen !== this.#applied)
      this.#readSoon(() => this.#parts.shared.faults.acknowledge(this.#applied))
  }

  #readSoon(work: () => Promise<void>): void {
    work().then(
      () => (this.#complaint = ''),
      (error: unknown) => {
        const words = errorChain(error).join(': ')
        if (words !== this.#complaint) this.#parts.logger('warn', `faults of all processes: ${words}`)
        this.#complaint = words
      },
    )
  }

  /** Reads what was there before the call: one that is under way may be older. */
  async #read(): Promise<void> {
    const before = this.#reading
    const reading = (async () => {
      await before?.catch(() => {})
      const { shared, injector } = this.#parts
      const { last, rows } = await this.#ask(() => shared.faults.list())
      injector.follow(rows.flatMap((row) => this.#readRow(row)))
      this.#applied = last
      await this.#ask(() => shared.faults.acknowledge(last))
    })()
    this.#reading = reading
    try {
      await reading
    } finally {
      if (this.#reading === reading) this.#reading = undefined
    }
  }

  /** A newer program may have faults that this one does not know. */
  #readRow({ id, fault: text, struck }: { id: number; fault: string; struck: number }): FollowedFault[] {
    try {
      return readFaults(JSON.parse(text), nameOf(id)).map((fault) => ({ id: nameOf(id), fault, struck }))
    } catch (error) {
      this.#parts.logger('warn', `a fault of another process is not understood: ${errorChain(error).join(': ')}`)
      return []
    }
  }

  /** @throws UserError `database-unreachable` */
  async #ask<T>(question: () => Promise<T>): Promise<T> {
    try {
      return await question()
    } catch (cause) {
      throw userError(cause) ?? new UserError('database-unreachable', 'the database does not answer', { cause })
    }
  }
}

const nameOf = (id: number): string => `fault-${id}`

const numberOf = (id: string): number | undefined => {
  const [, digits] = /^fault-(\d{1,9})$/.exec(id) ?? []
  return digits === undefined ? undefined : Number(digits)
}

const storedForm = (fault: Fault): FaultToStore => ({
  label: fault.label ?? null,
  fault: JSON.stringify(faultDocument(fault)),
  times: fault.times ?? null,
  after: fault.after ?? 0,
  probability: fault.probability ?? 1,
})
