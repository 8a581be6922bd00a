import { expect } from 'vitest'
import { defined, seededRandom, systemClock, type Random } from '../../../base/runtime/index.js'
import { HttpTransport, IronicClient, type ApiNode, type ProvisionState } from '../../../base/wire/index.js'
import { fixedPort, UpProcess } from '../commands/up-process.js'
import { Allocator } from './allocator.js'
import { expectInstalled } from './installed.js'
import { isLockedOut, judge, machineOf, takenOver } from './check-life.js'
import { leftBehind, type LeftBehind, type LeftNode } from './left-behind.js'
import { Installing, type Itinerary } from './client-goals.js'
import { Link, pause, pick, type Life } from './link.js'
import { Operator } from './operator.js'
import { Registrar } from './registrar.js'

/** Where half of the kills are aimed: at a node that has just got there, or a little later. */
const AIMS: readonly ProvisionState[] = [
  'inspecting',
  'inspect wait',
  'cleaning',
  'clean wait',
  'deploying',
  'wait call-back',
  'active',
  'deleting',
  'available',
  'manageable',
  ...(['servicing', 'service wait', 'rescuing', 'rescue wait', 'unrescuing', 'adopting'] as const),
]
/** Nodes are verified once in their lives, at the beginning, so that is what the first kills are for. */
const VERIFICATIONS = 8
/** How long after a node got where a kill is aimed, in milliseconds. */
const LATER = 150

/** The longest that a life lasts after it is ready, in milliseconds: about a lifecycle of two nodes. */
const LIFE = 1600
/** How long a start takes on a machine that does nothing else, in milliseconds. */
const READY = 600
/** How much of a start may pass before a kill that comes during the start. */
const START = 500
/** Milliseconds that recovery may take. */
const RECOVERY_TIMEOUT = 10_000

export interface KillingOptions {
  stateDir: string
  seed: number
  /** The itineraries of `node-0`, `node-1` and so on. */
  itineraries: readonly Itinerary[]
  /** More for the command line of `up`. */
  argv?: readonly string[]
}

/** A process that is killed and started again on the same state folder while clients use it. */
export class KillingRun {
  kills = 0
  readonly #stateDir: string
  readonly #argv: readonly string[]
  readonly #random: Random
  readonly #clock = systemClock()
  readonly #transport = new HttpTransport({ clock: this.#clock })
  readonly #link = new Link()
  readonly #operators: Operator[]
  readonly #registrar: Registrar
  readonly #working: Promise<unknown>[]
  #failed: { error: unknown } | undefined
  #process: UpProcess | undefined
  #port = 0
  #before: LeftBehind | null = null
  readonly #phases = new Map<string, number>()
  #lockedOut = 0
  #starts = 0
  /** By how much everything takes longer just now, on a machine that does much else. */
  #slowness = 1

  private constructor({ stateDir, seed, itineraries, argv = [] }: KillingOptions) {
    this.#argv = argv
    this.#stateDir = stateDir
    this.#random = seededRandom(seed)
    this.#operators = itineraries.map(
      (itinerary, n) => new Operator(`node-${n}`, itinerary, this.#link, seededRandom(seed * 100 + n)),
    )
    this.#registrar = new Registrar(this.#link, seededRandom(seed * 100 + 99))
    const allocator = new Allocator(this.#link, seededRandom(seed * 100 + 98))
    this.#working = [...this.#operators, this.#registrar, allocator].map((client) =>
      client.work().catch((error: unknown) => void (this.#failed ??= { error })),
    )
  }

  static async start(options: KillingOptions): Promise<KillingRun> {
    const run = new KillingRun(options)
    const random = seededRandom(options.seed)
    run.#port = await fixedPort(() => (random.next() + process.pid / 2 ** 16) % 1)
    return run
  }

  /** One life: start, look, work, kill, look at what is left. */
  async killOnce(): Promise<void> {
    const life = this.#spawn()
    const duringStart = this.#random.next() < 0.12
    const moment = this.#random.next()
    const quiet = this.#random.next() < 0.2
    if (duringStart) await pause(moment * START)
    else {
      const since = performance.now()
      const url = await life.ready
      this.#slowness = Math.max(1, (performance.now() - since) / READY)
      await this.#look(url, life)
      if (quiet) await this.#settled(url, life)
      this.#open(url, life)
      await this.#during(moment, life)
    }
    this.#link.close()
    expect(life.alive, life.stray.join('\n')).toBe(true)
    await life.kill()
    this.kills++
    await this.#takeStock(life, duringStart)
  }

  /** Without any more kills each node gets deployed once more, and its disk says what was asked. */
  async finish(): Promise<void> {
    this.#link.stop()
    const life = this.#spawn()
    const url = await life.ready
    await this.#look(url, life)
    this.#open(url, life)
    await Promise.all(this.#working)
    this.#throwIfFailed()
    for (const operator of this.#operators) {
      await operator.finish()
      if (isInstalling(operator)) await expectInstalled(this.#transport, url, operator)
    }
    expect(await life.stop()).toBe(0)
    await this.#takeStock(life, false)
  }

  async end(): Promise<void> {
    this.#link.stop()
    if (this.#process?.alive) await this.#process.kill()
    await this.#transport[Symbol.asyncDispose]()
  }

  summary(): string {
    const phases = [...this.#phases]
      .sort(([, a], [, b]) => b - a)
      .map(([phase, count]) => `${String(count).padStart(5)}  ${phase}`)
    const deployed = this.#operators.map(({ node, ends }) => `${node} ${ends}`).join(', ')
    const aborts = this.#operators.reduce((sum, operator) => sum + operator.aborts, 0)
    return [
      `${this.kills} kills, ${this.#starts} of them before the process was ready; nodes found in (${this.#operators.length} a kill):`,
      ...phases,
      `looks at a node at the end of its round: ${deployed}; changes of records: ${this.#registrar.changes}`,
      `agents locked out by a kill between token and its keeping: ${this.#lockedOut} (${aborts} aborted)`,
    ].join('\n')
  }

  #spawn(): UpProcess {
    const nodes = ['--nodes', String(this.#operators.length)]
    const where = ['--port', String(this.#port), '--state-dir', this.#stateDir]
    this.#process = new UpProcess([...nodes, ...where, ...this.#argv])
    return this.#process
  }

  #client(url: string): IronicClient {
    return new IronicClient({ transport: this.#transport, endpoint: url, clock: this.#clock })
  }

  #open(url: string, life: UpProcess): void {
    const left = this.#before
    const lockedOut = this.#operators
      .map(({ node }) => node)
      .filter((node) => left?.nodes.has(node) && isLockedOut(left.nodes.get(node)!, left.agents.get(machineOf(node))))
    this.#lockedOut += lockedOut.length
    const send: Life['send'] = (method, path, body) =>
      this.#transport.send({
        method,
        url: `${url}${path}`,
        headers: { 'x-openstack-ironic-api-version': '1.115', 'content-type': 'application/json' },
        ...defined({ body: body === undefined ? undefined : JSON.stringify(body) }),
      })
    this.#link.open({ client: this.#client(url), send, process: life, lockedOut: new Set(lockedOut) })
  }

  /** The first look at a restarted Ironic, before any client may change anything. */
  async #look(url: string, life: UpProcess): Promise<void> {
    const client = this.#client(url)
    const nodes = await client.nodes({ detail: true })
    const ports = await client.ports()
    this.#registrar.check(nodes, ports)
    for (const operator of this.#operators) {
      const node = nodes.find(({ name }) => name === operator.node)!
      // Before an agent has said which NIC boots, the BMC's two both might: a port each is made when inspection begins.
      const own = ports.filter((port) => port.node_uuid === node.uuid)
      expect(own.some((port) => port.pxe_enabled)).toBe(true)
      expect(new Set(own.map(({ address }) => address)).size).toBeLessThanOrEqual(2)
      expect(own.length).toBeLessThanOrEqual(2)
      operator.counter.check(node.extra, operator.node)
      const left = this.#before?.nodes.get(operator.node)
      if (left) expectTakenOver(left, node)
    }
    expect(nodes.filter(({ name }) => name?.startsWith('node-'))).toHaveLength(this.#operators.length)
    expect(life.stray).toEqual([])
  }

  /** Left alone, everything that can go on comes to its end, and nothing stays reserved. */
  async #settled(url: string, life: UpProcess): Promise<void> {
    const client = this.#client(url)
    const until = performance.now() + RECOVERY_TIMEOUT * this.#slowness
    for (;;) {
      const nodes = await client.nodes({ detail: true })
      const busy = nodes.filter((node) => !isAtRest(node) && !this.#isLockedOut(node))
      if (busy.length === 0) return
      if (performance.now() > until) throw new Error(`these do not come to rest: ${this.#about(busy, life)}`)
      await pause(20)
    }
  }

  #about(nodes: readonly ApiNode[], life: UpProcess): string {
    const shown = nodes.map(({ name, provision_state, reservation, last_error, driver_internal_info }) => ({
      name,
      provision_state,
      reservation,
      last_error,
      driver_internal_info,
      agent: this.#before?.agents.get(machineOf(name!)),
    }))
    return JSON.stringify({ nodes: shown, log: life.log }, null, 1)
  }

  #isLockedOut({ name }: ApiNode): boolean {
    const left = this.#before?.nodes.get(name ?? '')
    return left !== undefined && isLockedOut(left, this.#before?.agents.get(machineOf(name!)))
  }

  /** Until the moment of the kill: at any time, or when a node gets to where it is aimed. */
  async #during(moment: number, life: UpProcess): Promise<void> {
    const aim =
      this.kills < VERIFICATIONS ? 'verifying' : this.#random.next() < 0.5 ? pick(this.#random, AIMS) : undefined
    let until = performance.now() + (aim === undefined ? moment : 2) * LIFE * this.#slowness
    for (let known = life.nodes.length; performance.now() < until;) {
      this.#throwIfFailed()
      if (life.nodes.slice(known).some((line) => line.provision_state === aim)) {
        until = Math.min(until, performance.now() + moment ** 2 * (aim === 'verifying' ? 2 : LATER))
        known = Infinity
      }
      await pause(Math.min(2, Math.max(0, until - performance.now())))
    }
    this.#throwIfFailed()
  }

  #throwIfFailed(): void {
    if (this.#failed) throw this.#failed.error
  }

  async #takeStock(life: UpProcess, duringStart: boolean): Promise<void> {
    const left = await leftBehind(this.#stateDir)
    if (duringStart) this.#starts++
    for (const { node } of this.#operators) {
      const phase = phaseOf(left, node)
      this.#phases.set(phase, (this.#phases.get(phase) ?? 0) + 1)
    }
    judge(this.#before, life, left, this.#operators)
    this.#before = left
  }
}

function expectTakenOver(left: LeftNode, node: ApiNode): void {
  const { provision_state, last_error } = takenOver(left)
  if (provision_state.includes('wait')) return
  expect(node, `${node.name}, left in ${left.provision_state}`).toMatchObject({ provision_state, last_error })
}

const isInstalling = (operator: Operator): operator is Operator<Installing> => operator.itinerary instanceof Installing

const isAtRest = ({ provision_state: state, target_provision_state: target, reservation }: ApiNode): boolean =>
  reservation === null && (target === null || /(failed|hold)$/.test(state))

function phaseOf({ nodes, agents }: LeftBehind, name: string): string {
  const state = nodes.get(name)?.provision_state ?? 'not yet created'
  const last = agents.get(machineOf(name))?.commands.at(-1)
  return last?.status === 'RUNNING' ? `${state}, agent at ${last.name}` : state
}
