import { UserError, type Clock, type Probe, type ProbePoint } from '../../runtime/index.js'
import { DIAL_TIMEOUT } from '../../machine/index.js'

/** Where a {@link Fault} strikes: all conditions must hold. */
export interface FaultMatch {
  /** A node's uuid. */
  node?: string
  machine?: string
  phase?: 'inspect' | 'clean' | 'deploy' | 'install' | 'active'
  /** An exchange whose path matches, as in `/v1/heartbeat`; with a method in front, `POST /v1/nodes`. */
  route?: string
  /** A command on a machine, by the name of its program. */
  program?: string
  /** Kernel name of a disk. */
  disk?: string
  /** A container's image that is pulled, or what its name begins with. */
  image?: string
}

/** How a {@link Fault} strikes. */
export type FaultEffect =
  /** Nothing gets through between the agent and Ironic, in either direction. */
  | { kind: 'agent-silent' }
  /** The BMC does not answer. */
  | { kind: 'bmc-silent' }
  /** The program does not run; it ends with this exit code after printing `stderr`. */
  | { kind: 'exit-code'; code: number; stderr?: string }
  /** The disk's medium is broken at byte `at`: what touches it fails with EIO. */
  | { kind: 'disk-error'; at: number }
  /** The exchange is not carried out; this is the answer. */
  | { kind: 'status'; status: number; body?: unknown }
  /** The container of the agent cannot be pulled. Default `not-found`; any other text is the registry's own sentence. */
  | { kind: 'pull-error'; reason?: 'not-found' | 'unauthorized' | 'timeout' | (string & {}) }
  /** Matching exchanges, commands, pulls and disk accesses take this much longer. */
  | { kind: 'delay'; ms: number }

/** Something that goes wrong in a lab. */
export interface Fault {
  match: FaultMatch
  effect: FaultEffect
  /** How often it strikes; without, until it is removed. */
  times?: number
}

/** The lab's knowledge of machines that a probe point lacks. */
export interface FaultContext {
  clock: Clock
  /** Machine behind a node, once there is one. */
  machineOf(node: string): string | undefined
  phaseOf(machine: string): FaultMatch['phase'] | undefined
}

/** The failures that faults cause, in the form that each room that reports probe points expects. */
export interface FaultOutcomes {
  connectionLost(): Error
  answer(status: number, body: unknown): unknown
  exit(code: number, stderr: string): unknown
  diskError(): Error
  bmcSilent(): Error
  pullFailed(image: string, reason: string | undefined): Error
}

/** The faults of a lab. Adding and removing one takes effect at once. */
export interface Faults {
  /**
   * Adds a fault; disposing of what it returns removes it.
   *
   * @throws UserError for a fault that could never strike
   */
  add(fault: Fault): Disposable
  /** Removes all faults. */
  clear(): void
}

/** Strikes at the points of a probe, which it watches only while there are faults. */
export class FaultInjector implements Faults {
  readonly #faults = new Map<Fault, number>()
  readonly #probe: Probe
  readonly #context: FaultContext
  readonly #outcomes: FaultOutcomes
  #attached: Disposable | undefined

  constructor(probe: Probe, context: FaultContext, outcomes: FaultOutcomes) {
    this.#probe = probe
    this.#context = context
    this.#outcomes = outcomes
  }

  add(fault: Fault): Disposable {
    checkFault(fault)
    this.#faults.set(fault, fault.times ?? Infinity)
    this.#attached ??= this.#probe.attach((point, next) => this.#strike(point, next))
    return { [Symbol.dispose]: () => this.#remove(fault) }
  }

  clear(): void {
    for (const fault of [...this.#faults.keys()]) this.#remove(fault)
  }

  #remove(fault: Fault): void {
    this.#faults.delete(fault)
    if (this.#faults.size > 0) return
    this.#attached?.[Symbol.dispose]()
    this.#attached = undefined
  }

  async #strike<T>(point: ProbePoint, next: () => Promise<T>): Promise<T> {
    for (const [fault, left] of this.#faults) {
      if (!this.#strikes(fault, point)) continue
      if (left <= 1) this.#remove(fault)
      else this.#faults.set(fault, left - 1)
      const { effect } = fault
      switch (effect.kind) {
        case 'agent-silent':
          throw this.#outcomes.connectionLost()
        case 'bmc-silent':
          throw this.#outcomes.bmcSilent()
        case 'disk-error':
          throw this.#outcomes.diskError()
        case 'exit-code':
          return this.#outcomes.exit(effect.code, effect.stderr ?? '') as T
        case 'status':
          return this.#outcomes.answer(effect.status, effect.body) as T
        case 'pull-error':
          if (effect.reason === 'timeout') await this.#context.clock.sleep(DIAL_TIMEOUT, { weak: true })
          throw this.#outcomes.pullFailed(point['image'] as string, effect.reason)
        case 'delay':
          await this.#context.clock.sleep(effect.ms)
      }
    }
    return next()
  }

  #strikes({ match, effect }: Fault, point: ProbePoint): boolean {
    return concerns(effect, point) && this.#matches(match, point)
  }

  #matches(match: FaultMatch, point: ProbePoint): boolean {
    // A BMC belongs to a node before its machine exists.
    const machine = (point.kind === 'bmc' ? this.#context.machineOf(point['node'] as string) : point['machine']) as
      string | undefined
    if (match.machine !== undefined && match.machine !== machine) return false
    if (point.kind === 'bmc' && match.node !== undefined) return match.node === point['node']
    if (match.node !== undefined && (machine === undefined || this.#context.machineOf(match.node) !== machine))
      return false
    if (match.phase !== undefined && (machine === undefined || this.#context.phaseOf(machine) !== match.phase))
      return false
    if (match.program !== undefined && programOf(point) !== match.program) return false
    if (match.disk !== undefined && point['disk'] !== match.disk) return false
    if (match.image !== undefined && !(point['image'] as string | undefined)?.startsWith(match.image)) return false
    return match.route === undefined || matchesRoute(match.route, point)
  }
}

/** Which points an effect can act on at all. */
function concerns(effect: FaultEffect, point: ProbePoint): boolean {
  switch (effect.kind) {
    case 'agent-silent':
      return point.kind === 'exchange' && (point['from'] === 'agent' || point['to'] === 'agent')
    case 'status':
      return point.kind === 'exchange'
    case 'bmc-silent':
      return point.kind === 'bmc'
    case 'exit-code':
      return point.kind === 'command'
    case 'disk-error': {
      if (point.kind !== 'disk-write' && point.kind !== 'disk-read') return false
      const offset = point['offset'] as number
      return offset <= effect.at && effect.at < offset + (point['length'] as number)
    }
    case 'pull-error':
      return point.kind === 'pull'
    case 'delay':
      return point.kind !== 'bmc'
  }
}

const programOf = (point: ProbePoint): string | undefined =>
  point.kind === 'command' ? (point['argv'] as readonly string[])[0]!.split('/').at(-1) : undefined

function matchesRoute(route: string, point: ProbePoint): boolean {
  if (point.kind !== 'exchange') return false
  const [, method, path] = /^(?:([A-Z]+) )?(.*)$/.exec(route)!
  if (method !== undefined && method !== point['method']) return false
  return (point['target'] as string).startsWith(path!)
}

/** @throws UserError for a fault that could never strike */
export function checkFault({ match, effect }: Fault): void {
  const wrong = (message: string, remedy: string) => new UserError('fault', message, { remedy, kind: 'usage' })
  if (effect.kind === 'exit-code' && match.route !== undefined)
    throw wrong('a fault with an exit code cannot match a route', 'match a program')
  if (effect.kind === 'status' && (match.program !== undefined || match.disk !== undefined))
    throw wrong('a fault with a status matches exchanges, not programs or disks', 'match a route')
  if (effect.kind === 'pull-error' && (match.route ?? match.program ?? match.disk) !== undefined)
    throw wrong('a fault with a pull error matches images, not routes, programs or disks', 'match an image')
  if (match.image !== undefined && effect.kind !== 'pull-error' && effect.kind !== 'delay')
    throw wrong(`a fault of kind ${effect.kind} cannot match an image`, 'give it a pull-error, or a delay')
  if (effect.kind === 'delay' && Object.keys(match).length === 0)
    throw wrong('a delay that matches everything would delay itself', 'match something')
}
