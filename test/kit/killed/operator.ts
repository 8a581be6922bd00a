import { installCoreos } from '../../../lab/index.js'
import type { Random } from '../../../runtime/index.js'
import type { ApiNode, ProvisionState } from '../../../wire/index.js'
import type { UpProcess } from '../up-process.js'
import { Counter } from './counter.js'
import { answered, pause, seen, type Life, type Link } from './link.js'

/** A verb that Ironic has accepted. */
export interface AcceptedVerb {
  node: string
  verb: string
  /** The state that accepting it brings about. */
  begins: ProvisionState
  process: UpProcess
  /** How many lines about nodes the process had said before. */
  after: number
}

/** How long a node may stand still in a running process before that counts as stuck, in milliseconds. */
const PATIENCE = 20_000

const BEGINS: Readonly<Record<string, ProvisionState>> = {
  inspect: 'inspecting',
  provide: 'cleaning',
  active: 'deploying',
  deleted: 'deleting',
}

const WAITING: ReadonlySet<ProvisionState> = new Set(['inspect wait', 'clean wait', 'wait call-back'])

/** Somebody who deploys one machine again and again, and gets over everything that a kill leaves behind. */
export class Operator {
  readonly node: string
  readonly counter = new Counter()
  readonly accepted: AcceptedVerb[] = []
  /** Deployments that were reached. */
  deployed = 0
  aborts = 0
  #generation = 0
  #inspected = false
  readonly #link: Link
  readonly #random: Random

  constructor(node: string, link: Link, random: Random) {
    this.node = node
    this.#link = link
    this.#random = random
  }

  /** What the last deployment was asked to install. */
  get wanted(): { ignition: { ignition: { version: string }; [section: string]: unknown }; karg: string } {
    const generation = this.#generation
    return {
      ignition: {
        ignition: { version: '3.4.0' },
        storage: {
          files: [{ path: '/etc/generation', contents: { source: `data:,${this.node}-${generation}` } }],
        },
      },
      karg: `rehearsal.generation=${generation}`,
    }
  }

  /** Goes on until the link is stopped. */
  async work(): Promise<void> {
    while (!this.#link.stopped) await this.#next(await this.#link.life())
  }

  /** Takes the node to a deployment of its own, without being disturbed. */
  async finish(): Promise<void> {
    let before = Infinity
    this.#holds = () => this.deployed > before
    while (this.deployed <= before) {
      if ((await this.#next(await this.#link.life())) === 'active') before = this.deployed
    }
  }

  /** Whether the node shall be left as it is. */
  #holds = (): boolean => false

  #last = { key: '', since: 0 }

  async #next(life: Life): Promise<string | undefined> {
    const node = await seen(life.client.node(this.node))
    if (!node) return void (await pause(5))
    this.#watch(node, life)
    if (node.provision_state === 'active' && node.reservation === null) this.deployed++
    if (this.#holds()) return undefined
    if (WAITING.has(node.provision_state) && life.lockedOut.has(this.node)) return this.#giveUp(life, node)
    if (node.reservation !== null) return void (await pause(10))
    if (this.#random.next() < 0.15) await this.counter.count(life, this.node)
    const verb = this.#verbFor(node)
    if (verb === undefined) return void (await pause(10))
    if (node.maintenance) await answered(life.client.setMaintenance(this.node, false))
    return (await this.#ask(life, node, verb)) === 'refused' ? undefined : verb
  }

  #verbFor({ provision_state: state, inspection_finished_at: inspected }: ApiNode): string | undefined {
    switch (state) {
      case 'enroll':
      case 'clean failed':
        return 'manage'
      case 'inspect failed':
        return 'inspect'
      case 'manageable':
        return this.#inspected && inspected !== null ? 'provide' : 'inspect'
      case 'available':
        // Every other round begins with an inspection.
        return this.#random.next() < 0.3 ? 'manage' : 'active'
      case 'deploy failed':
        return this.#random.next() < 0.4 ? 'deleted' : 'active'
      case 'active':
      case 'error':
        return 'deleted'
      default:
        return undefined
    }
  }

  async #ask({ client, process }: Life, { provision_state: from }: ApiNode, verb: string) {
    if (verb === 'active') this.#generation++
    const { ignition, karg } = this.wanted
    const after = process.nodes.length
    const steps = [installCoreos({ ignition, append_karg: [karg], hostname: false })]
    const answer = await answered(client.provision(this.node, verb, verb === 'active' ? { deploy_steps: steps } : {}))
    if (verb === 'inspect') this.#inspected = true
    if (verb === 'manage' && from === 'available') this.#inspected = false
    const begins = from === 'enroll' ? 'verifying' : (BEGINS[verb] ?? 'manageable')
    if (answer === 'accepted') this.accepted.push({ node: this.node, verb, begins, process, after })
    return answer
  }

  /**
   * The agent that Ironic waits for can never report: like IPA it locks itself down until its next boot. Ironic would
   * find out after the callback timeout, half an hour; an operator who looks at the machine aborts.
   */
  async #giveUp({ client, process, lockedOut }: Life, { provision_state: state }: ApiNode): Promise<undefined> {
    if (!process.log.some(({ message }) => message.includes('locked down'))) return void (await pause(10))
    const after = process.nodes.length
    if ((await answered(client.provision(this.node, 'abort'))) !== 'accepted') return
    lockedOut.delete(this.node)
    this.aborts++
    const begins = state === 'clean wait' ? 'clean failed' : 'deploy failed'
    this.accepted.push({ node: this.node, verb: 'abort', begins, process, after })
  }

  #watch(node: ApiNode, life: Life): void {
    const key = JSON.stringify([life.process.pid, node.provision_state, node.updated_at, node.reservation])
    const now = performance.now()
    if (this.#last.key !== key) this.#last = { key, since: now }
    else if (now - this.#last.since > PATIENCE) {
      const { provision_state, reservation, last_error, driver_internal_info } = node
      const log = life.process.log.map(({ message }) => message)
      const about = JSON.stringify({ provision_state, reservation, last_error, driver_internal_info, log }, null, 1)
      throw new Error(`${this.node} stands still: ${about}`)
    }
  }
}
