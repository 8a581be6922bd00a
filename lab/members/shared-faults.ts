import { errorChain, seconds, systemClock, UserError, userError, type Logger } from '../../base/runtime/index.js'
import type { FaultToStore, MemberDatabase } from '../../ironic-mock/index.js'
import { faultDocument, readFaults, type Fault, type FaultReport } from '../../control/index.js'
import type { FaultInjector } from '../faults/faults.js'
import type { JournalRecorder } from '../journal/record.js'

interface SharedFaultParts {
  readonly shared: MemberDatabase
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
  /** The question that the next callers share; it is not asked yet. */
  #next: Promise<void> | undefined
  /** Faults that were read; null for one that is not understood. */
  #known: ReadonlyMap<number, Fault | null> = new Map()
  /** Disks of the machines of other processes that faults name. */
  #machines: ReadonlyMap<string, readonly string[]> = new Map()
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
    await this.#ask(() => shared.others.catchUp())
    const named = await this.#ask(() => shared.faults.machines(machinesOf(added)))
    injector.checkAll(added, named)
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
    return number === undefined ? this.#liftOwn(id) : (await this.#remove({ id: number })) > 0
  }

  /** Lifts all, or those with a label, and with them those of this process alone. */
  async clear(label?: string): Promise<void> {
    await this.#remove(label === undefined ? {} : { label })
    for (const { id, label: own } of this.#parts.injector.list())
      if (numberOf(id) === undefined && (label === undefined || own === label)) this.#liftOwn(id)
  }

  [Symbol.dispose](): void {
    this.#watching[Symbol.dispose]()
  }

  /** Lifts a fault that this process has for itself. */
  #liftOwn(id: string): boolean {
    const { injector, recorder } = this.#parts
    const report = injector.get(id)
    if (report) recorder.fault('lifted', report)
    return injector.lift(id)
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

  /** Reads what there is after the call; calls that come together share one question. */
  #read(): Promise<void> {
    this.#next ??= (this.#reading ?? Promise.resolve())
      .catch(() => {})
      .then(() => {
        this.#next = undefined
        this.#reading = this.#readNow().finally(() => (this.#reading = undefined))
        return this.#reading
      })
    return this.#next
  }

  async #readNow(): Promise<void> {
    const { shared, injector } = this.#parts
    const { last, rows } = await this.#ask(() => shared.faults.list())
    const known = this.#known
    this.#known = new Map(rows.map((row) => [row.id, known.get(row.id) ?? this.#readRow(row)]))
    const present = rows.flatMap(({ id, struck }) => {
      const fault = this.#known.get(id)
      return fault ? [{ id: nameOf(id), fault, struck }] : []
    })
    const faults = present.map(({ fault }) => fault)
    this.#machines = await this.#knownMachines(faults)
    await this.#ask(async () => shared.nodes?.need(faults.some(isOfNodes)))
    injector.follow(present, this.#machines)
    this.#applied = last
    await this.#ask(() => shared.faults.acknowledge(last))
  }

  /** Machines that faults name: those that were found before are not asked for again. */
  async #knownMachines(faults: readonly Fault[]): Promise<ReadonlyMap<string, readonly string[]>> {
    const known = this.#machines
    const names = machinesOf(faults)
    const missing = names.filter((name) => !known.has(name))
    const found = await this.#ask(() => this.#parts.shared.faults.machines(missing))
    return new Map(
      names.flatMap((name) => {
        const disks = known.get(name) ?? found.get(name)
        return disks ? [[name, disks] as const] : []
      }),
    )
  }

  /** A newer program may have faults that this one does not know. */
  #readRow({ id, fault }: { readonly id: number; readonly fault: string }): Fault | null {
    try {
      return readFaults(JSON.parse(fault), nameOf(id))[0] ?? null
    } catch (error) {
      this.#parts.logger('warn', `a fault of another process is not understood: ${errorChain(error).join(': ')}`)
      return null
    }
  }

  /** @throws UserError `database-unreachable` */
  async #ask<T>(question: () => Promise<T>): Promise<T> {
    try {
      return await question()
    } catch (cause) {
      throw (
        userError(cause) ??
        new UserError('database-unreachable', 'the faults are in the database, which does not answer', {
          remedy: 'call again when it does',
          cause,
        })
      )
    }
  }
}

/** Names of the machines that faults name. */
const machinesOf = (faults: readonly Fault[]): string[] => [
  ...new Set(faults.flatMap(({ match: { machine } }) => machine ?? [])),
]

/** True if it depends on the node of a machine where a fault strikes. */
const isOfNodes = ({ match: { node, state, phase } }: Fault): boolean =>
  node !== undefined || state !== undefined || phase !== undefined

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
