import { TRANSITIONS, PROVISION_VERBS } from '../../../ironic-mock/index.js'
import type { Random } from '../../../base/runtime/index.js'
import { IronicRefused, type ApiNode, type ProvisionState } from '../../../base/wire/index.js'
import type { UpProcess } from '../commands/up-process.js'
import { Counter } from './counter.js'
import type { Itinerary, Wish } from './client-goals.js'
import { answered, pause, seen, type Answer, type Life, type Link } from './link.js'

/** A verb that Ironic has accepted. */
export interface AcceptedVerb {
  node: string
  verb: string
  /** The states that accepting it can bring about. */
  begins: readonly ProvisionState[]
  process: UpProcess
  /** How many lines about nodes the process had said before. */
  after: number
}

/** How long a node may stand still in a running process before that counts as stuck, in milliseconds. */
const STUCK_NODE_TIMEOUT = 40_000

const WAITING: ReadonlySet<ProvisionState> = new Set([
  ...(['inspect wait', 'clean wait', 'wait call-back', 'service wait', 'rescue wait'] as const),
])
const CHANGEABLE: ReadonlySet<ProvisionState> = new Set(['enroll', 'manageable', 'available'])

/**
 * A client that takes one node through an itinerary again and again, and recovers from everything that a kill leaves.
 */
export class Operator<I extends Itinerary = Itinerary> {
  readonly node: string
  readonly itinerary: I
  readonly counter = new Counter()
  readonly accepted: AcceptedVerb[] = []
  /** Looks at the node in the state where a round ends. */
  ends = 0
  aborts = 0
  /** Whether an abort may have been received; also one whose answer a kill has swallowed. */
  hasAborted = false
  readonly #link: Link
  readonly #random: Random

  constructor(node: string, itinerary: I, link: Link, random: Random) {
    this.node = node
    this.itinerary = itinerary
    this.#link = link
    this.#random = random
  }

  /** Goes on until the link is stopped. */
  async work(): Promise<void> {
    while (!this.#link.stopped) await this.#next(await this.#link.life())
  }

  /** Takes the node to the end of a round of its own, without being disturbed. */
  async finish(): Promise<void> {
    let before = Infinity
    this.#isLeft = () => this.ends > before
    while (this.ends <= before) {
      const wish = await this.#next(await this.#link.life())
      if (wish && 'verb' in wish && LEADS_TO_END[this.itinerary.end]?.includes(wish.verb)) before = this.ends
    }
  }

  /** Whether the node shall be left as it is. */
  #isLeft = (): boolean => false

  #last = { key: '', since: 0 }

  async #next(life: Life): Promise<Wish | undefined> {
    const node = await seen(life.client.node(this.node))
    if (!node) return void (await pause(5))
    this.#watch(node, life)
    if (node.provision_state === this.itinerary.end && node.reservation === null) this.ends++
    if (this.#isLeft()) return undefined
    if (WAITING.has(node.provision_state)) {
      if (life.lockedOut.has(this.node)) return this.#giveUp(life, node)
      if (!this.#link.stopped && this.#random.next() < this.itinerary.aborts) return this.#abort(life, node)
    }
    if (node.reservation !== null) return void (await pause(10))
    if (this.#random.next() < 0.15) await this.counter.count(life, this.node)
    if (await this.#changed(life, node)) return undefined
    const wish = this.itinerary.next(node, this.#random)
    if (wish === undefined) return void (await pause(10))
    if (node.maintenance) await answered(life.client.setMaintenance(this.node, false))
    return (await this.#ask(life, node, wish)) === 'refused' ? undefined : wish
  }

  /** Gives the node what it has to have; true when that was missing. */
  async #changed({ client }: Life, node: ApiNode): Promise<boolean> {
    if (!CHANGEABLE.has(node.provision_state)) return false
    const missing = Object.entries(this.itinerary.fields ?? {}).filter(
      ([name, value]) => !holds(node[name as keyof ApiNode], value),
    )
    if (missing.length === 0) return false
    await answered(
      client.patchNode(
        this.node,
        missing.map(([name, value]) => ({ op: 'add', path: `/${name}`, value })),
      ),
    )
    return true
  }

  async #ask({ client, process }: Life, node: ApiNode, wish: Wish): Promise<Answer> {
    this.itinerary.asking?.(wish, node)
    if ('power' in wish) return answered(client.power(this.node, wish.power))
    const after = process.nodes.length
    if (wish.verb === 'abort') this.hasAborted = true
    const answer = await answered(client.provision(this.node, wish.verb, wish.more ?? {}))
    if (answer === 'accepted') this.#accept(node.provision_state, wish.verb, process, after)
    return answer
  }

  #accept(from: ProvisionState, verb: string, process: UpProcess, after: number): void {
    const first = TRANSITIONS[from].on[PROVISION_VERBS[verb]!.event]
    // A step that must not be interrupted is let to its end before an abort shows.
    if (first === undefined || (verb === 'abort' && from !== 'service failed')) return
    // Where nothing is to be cleaned the state is never seen.
    const begins = first === 'cleaning' ? [first, TRANSITIONS[first].on.done!] : [first]
    this.accepted.push({ node: this.node, verb, begins, process, after })
  }

  async #abort({ client }: Life, _node: ApiNode): Promise<undefined> {
    this.hasAborted = true
    // By now the agent may have reported.
    const late = (error: unknown) => error instanceof IronicRefused && error.status === 400
    const answer = await answered(client.provision(this.node, 'abort')).catch((error: unknown) => {
      if (!late(error)) throw error
      return 'refused' as const
    })
    if (answer === 'accepted') this.aborts++
    return undefined
  }

  /**
   * The agent that Ironic waits for can never report: like IPA it locks itself down until its next boot. Ironic would
   * find out after the callback timeout, half an hour; an operator who looks at the machine aborts.
   */
  async #giveUp(life: Life, { provision_state: state }: ApiNode): Promise<undefined> {
    const { client, process, lockedOut } = life
    if (!process.log.some(({ message }) => message.includes('locked down'))) return void (await pause(10))
    const after = process.nodes.length
    this.hasAborted = true
    if ((await answered(client.provision(this.node, 'abort'))) !== 'accepted') return
    lockedOut.delete(this.node)
    this.aborts++
    // Ironic may have found out by itself meanwhile; aborting what has failed leads further.
    const failed = TRANSITIONS[state].on.abort!
    const begins = [failed, ...[TRANSITIONS[failed].on.abort].filter((further) => further !== undefined)]
    this.accepted.push({ node: this.node, verb: 'abort', begins, process, after })
  }

  #watch(node: ApiNode, life: Life): void {
    const key = JSON.stringify([life.process.pid, node.provision_state, node.updated_at, node.reservation])
    const now = performance.now()
    if (this.#last.key !== key) this.#last = { key, since: now }
    else if (now - this.#last.since > STUCK_NODE_TIMEOUT) {
      const { provision_state, reservation, last_error, driver_internal_info } = node
      const { log } = life.process
      const about = JSON.stringify({ provision_state, reservation, last_error, driver_internal_info, log }, null, 1)
      throw new Error(`${this.node} stands still: ${about}`)
    }
  }
}

/** The verbs that a round's last state comes from. */
const LEADS_TO_END: Partial<Record<ProvisionState, readonly string[]>> = {
  active: ['active', 'adopt', 'rebuild', 'unrescue', 'service'],
  available: ['provide'],
}

/** Whether a node has a wanted value; of an object, whether it has its members. */
function holds(found: unknown, wanted: unknown): boolean {
  if (wanted === null || typeof wanted !== 'object') return found === wanted
  return Object.entries(wanted).every(([name, value]) => (found as Record<string, unknown> | null)?.[name] === value)
}
