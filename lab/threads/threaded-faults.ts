import { UserError } from '../../base/runtime/index.js'
import { checkFault, type AddedFault, type Fault, type LabFaults } from '../../control/index.js'
import { checkData } from './plain-data.js'
import type { Request } from './thread-messages.js'

/** The shards of a lab, for {@link ThreadedFaults}. */
interface FaultShards {
  /** Shards that have nodes. */
  all(): readonly number[]
  /** The shard of a node. */
  withNode(uuid: string): number | undefined
  post(shard: number, request: Request): void
}

/** The faults of all shards. A fault of one node is in that node's shard only. */
export class ThreadedFaults implements Pick<LabFaults, 'add' | 'clear'> {
  readonly #shards: FaultShards
  readonly #faults = new Map<number, Fault>()
  #last = 0

  constructor(shards: FaultShards) {
    this.#shards = shards
  }

  add(fault: Fault): AddedFault {
    checkFault(fault)
    checkData('the fault', fault)
    if (fault.times !== undefined && fault.match.node === undefined && fault.match.machine === undefined)
      throw new UserError('not-across-threads', 'a fault of all nodes cannot be counted across threads', {
        kind: 'usage',
        remedy: 'match a node or a machine, or leave out times',
      })
    const number = ++this.#last
    this.#faults.set(number, fault)
    for (const shard of this.#shardsOf(fault))
      this.#shards.post(shard, { kind: 'add-fault', fault: number, settings: fault })
    return { id: `fault-${number}`, [Symbol.dispose]: () => this.#remove(number) }
  }

  clear(label?: string): void {
    for (const [number, fault] of [...this.#faults])
      if (label === undefined || fault.label === label) this.#remove(number)
  }

  /** The faults that a new shard begins with. */
  addTo(shard: number): void {
    for (const [fault, settings] of this.#faults)
      if (settings.match.node === undefined) this.#shards.post(shard, { kind: 'add-fault', fault, settings })
  }

  #remove(number: number): void {
    const fault = this.#faults.get(number)
    if (!fault || !this.#faults.delete(number)) return
    for (const shard of this.#shardsOf(fault)) this.#shards.post(shard, { kind: 'remove-fault', fault: number })
  }

  #shardsOf({ match }: Fault): readonly number[] {
    if (match.node === undefined) return this.#shards.all()
    const shard = this.#shards.withNode(match.node)
    return shard === undefined ? [] : [shard]
  }
}
