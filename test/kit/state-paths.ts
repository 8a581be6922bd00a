import { TRANSITIONS, UNSTABLE_STATES } from '../../ironic-mock/index.js'
import type { NodeRecord, ProvisionState } from '../../base/wire/index.js'

/** Follows nodes from state to state. */
export class StatePaths {
  readonly #at = new Map<string, ProvisionState>()
  /** `from > to`, and how often. */
  readonly taken = new Map<string, number>()
  readonly broken: string[] = []

  seen({ uuid, provision_state: to }: Readonly<NodeRecord>): void {
    const from = this.#at.get(uuid)
    this.#at.set(uuid, to)
    if (from === undefined || from === to) return
    const edge = `${from} > ${to}`
    this.taken.set(edge, (this.taken.get(edge) ?? 0) + 1)
    if (!leads(from, to)) this.broken.push(`node ${uuid} went from ${from} to ${to}`)
  }

  gone(uuid: string): void {
    this.#at.delete(uuid)
  }
}

const LEADS = new Map(
  Object.entries(TRANSITIONS).map(([from, { on }]) => [from as ProvisionState, new Set(Object.values(on))]),
)

/** One commit may pass through a state that nothing happens in: cleaning, where nothing is to be cleaned. */
export const leads = (from: ProvisionState, to: ProvisionState): boolean =>
  LEADS.get(from)!.has(to) ||
  [...LEADS.get(from)!].some((between) => UNSTABLE_STATES.includes(between) && LEADS.get(between)!.has(to))

/** Every way there is, as {@link StatePaths.taken} names them. */
export const EDGES: readonly string[] = [...LEADS].flatMap(([from, tos]) => [...tos].map((to) => `${from} > ${to}`))
