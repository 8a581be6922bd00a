import type { PlacedNode } from './shards.js'

/** A conductor as `GET /v1/conductors` shows it. */
export interface ConductorMember {
  /** Grows in the order in which conductors have registered. */
  readonly id: number
  readonly host: string
  /** `[conductor]conductor_group` */
  readonly group: string
  /** Names of its hardware types. */
  readonly drivers: readonly string[]
  readonly alive: boolean
  /** Milliseconds since the epoch: first registration, and the last sign of life. */
  readonly createdAt: number
  readonly seenAt: number
}

/** Nodes whose work begins or ends here. */
export type NodesOfShare = (node: PlacedNode) => boolean

/**
 * How the work of nodes was left that a process gets: by a process that has died (`abandoned`), by one that had finished
 * its effects (`rested`), or by this process itself, whose connection to the database broke while no other had them
 * (`interrupted`).
 */
export type LeftWork = 'abandoned' | 'rested' | 'interrupted'

/** Hears which nodes this process works on. */
export interface ShareWatcher {
  /** Resolves when the work of these nodes is taken up. */
  gained(nodes: NodesOfShare, left: LeftWork): Promise<void>
  /** No effect of these nodes begins any more; resolves when none runs. */
  finishing(nodes: NodesOfShare): Promise<void>
  /** Effects of these nodes end at once, and none is recorded. */
  lost(nodes: NodesOfShare): void
  /** Another process has changed these nodes. */
  changed(nodes: readonly string[]): void
  /** The processes of these names have ended, and hold reservations no more. */
  gone(hosts: readonly string[]): void
  /** Nodes that have an effect that runs. */
  busy(): Iterable<PlacedNode>
}

/**
 * The nodes whose work this process carries out: effects, time limits, looks at their power. Any process may change a
 * node's record.
 */
export interface WorkShare {
  /** Name of this process. */
  readonly host: string
  /** True if no other process changes the database, and all nodes stay this process's. */
  readonly isWhole: boolean
  owns(node: PlacedNode): boolean
  /** The conductor that a node belongs to, by the hash ring; null when none is alive for its group and driver. */
  holderOf(node: PlacedNode): string | null
  /** True if a conductor is alive that has nodes of this group and driver. */
  serves(group: string, driver: string): boolean
  /** True if the holder of a reservation, of a node whose work was left so, does not go on with what it had reserved it for. */
  mayRelease(reservation: string, left: LeftWork): boolean
  /** All conductors that have ever registered, in the order of their ids. */
  conductors(): readonly ConductorMember[]
  /** Grows whenever {@link WorkShare.holderOf} may have changed. */
  readonly placement: number
  /** True if this process looks for the node of an allocation. */
  ownsAllocation(uuid: string): boolean
  watch(watcher: ShareWatcher): Disposable
  /** Takes the first nodes, which the watchers have then taken up. */
  begin(): Promise<void>
  /** Ends the work of this process: others may take its nodes once no effect runs. */
  end(): Promise<void>
}

interface WholeShareParts {
  host: string
  group: string
  drivers: readonly string[]
  /** Milliseconds since the epoch. */
  startedAt: number
}

/** The share of a process that has its database to itself: all nodes. Those of other conductor groups wait, as in Ironic. */
export class WholeShare implements WorkShare {
  readonly host: string
  readonly isWhole = true
  readonly placement = 0
  readonly #self: ConductorMember
  #watcher: ShareWatcher | undefined

  constructor({ host, group, drivers, startedAt }: WholeShareParts) {
    this.host = host
    this.#self = { id: 1, host, group, drivers, alive: true, createdAt: startedAt, seenAt: startedAt }
  }

  owns(): boolean {
    return true
  }

  holderOf({ conductor_group: group, driver }: PlacedNode): string | null {
    return this.serves(group, driver) ? this.host : null
  }

  serves(group: string, driver: string): boolean {
    return group === this.#self.group && this.#self.drivers.includes(driver)
  }

  mayRelease(reservation: string): boolean {
    return reservation === this.host
  }

  conductors(): readonly ConductorMember[] {
    return [this.#self]
  }

  ownsAllocation(): boolean {
    return true
  }

  watch(watcher: ShareWatcher): Disposable {
    this.#watcher = watcher
    return { [Symbol.dispose]: () => (this.#watcher = undefined) }
  }

  async begin(): Promise<void> {
    await this.#watcher?.gained(() => true, 'abandoned')
  }

  end(): Promise<void> {
    return Promise.resolve()
  }
}
