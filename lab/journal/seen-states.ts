import type { NodeRecord, ProvisionState } from '../../base/wire/index.js'

export interface SeenStatesRecord {
  readonly states: ReadonlyMap<string, ProvisionState>
  readonly power: ReadonlyMap<string, string | null>
}

/** The states in which nodes were seen last, by uuid: only changes of them are noted. */
export class SeenStates {
  readonly #states = new Map<string, ProvisionState>()
  readonly #power = new Map<string, string | null>()

  /** The state before, null for a new node; undefined when neither state nor power has changed. */
  see({ uuid, provision_state, power_state }: Readonly<NodeRecord>): { was: ProvisionState | null } | undefined {
    const was = this.#states.get(uuid) ?? null
    if (was === provision_state && this.#power.get(uuid) === power_state) return undefined
    this.#states.set(uuid, provision_state)
    this.#power.set(uuid, power_state)
    return { was }
  }

  /** Forgets a node, and returns its last state. */
  remove(uuid: string): ProvisionState | null {
    const was = this.#states.get(uuid) ?? null
    this.#states.delete(uuid)
    this.#power.delete(uuid)
    return was
  }

  take(): SeenStatesRecord {
    return { states: new Map(this.#states), power: new Map(this.#power) }
  }

  restore({ states, power }: SeenStatesRecord): void {
    this.#states.clear()
    for (const [uuid, state] of states) this.#states.set(uuid, state)
    this.#power.clear()
    for (const [uuid, was] of power) this.#power.set(uuid, was)
  }
}
