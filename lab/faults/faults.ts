import { defined, userError, UserError, type Probe } from '../../base/runtime/index.js'
import type { NodeRecord } from '../../base/wire/index.js'
import { attachTo, type LabPoint } from '../points.js'
import { checkFault, type AddedFault, type Fault, type FaultReport, type LabFaults } from '../../control/index.js'
import { awaitedBy, checkFaultNames } from './check-fault-names.js'
import { FaultIndex, type Concerned } from './fault-index.js'
import { machineIn, matchesRoute, nodeIn, programOf } from './fault-points.js'
import { ActiveFault } from './active-fault.js'
import type { FaultContext } from './fault-context.js'
import { strikesElsewhere } from './strikes-elsewhere.js'
import { applyEffect, canActAt, canLast, isOver, lastsAt } from './apply-effect.js'

/** True if a fault can strike no more, and none of its strikes can still have an effect. */
function isSpent({ fault, struck }: ActiveFault): boolean {
  const { times = Infinity, effect } = fault
  return struck >= times && !canLast(effect)
}

/** The faults in force at one moment, and how often they have struck. */
export interface FaultsState {
  readonly last: number
  readonly faults: readonly (Readonly<Pick<ActiveFault, 'id' | 'fault' | 'struck' | 'passed'>> & {
    readonly dark: readonly (readonly [node: string, until: number])[]
    readonly random: readonly number[]
  })[]
}

/** Counts the matches of faults that several processes have. */
export interface StrikeClaims {
  /**
   * @param roll from 0 to 1, for a fault with a probability
   * @returns whether it strikes, and how often it has struck; undefined where it strikes no more
   */
  claim(id: string, roll: number): Promise<{ strikes: boolean; struck: number } | undefined>
}

/** Disks of machines, by their names. */
type KnownMachines = ReadonlyMap<string, readonly string[]>

/** A fault that all processes have. */
interface FollowedFault {
  readonly id: string
  readonly fault: Fault
  readonly struck: number
}

/** Strikes at the points of a probe, which it watches only while there are faults. */
export class FaultInjector implements LabFaults {
  readonly #faults = new Map<string, ActiveFault>()
  /** Faults that can still strike. */
  readonly #index = new FaultIndex<ActiveFault>()
  /** Faults that have silenced a BMC, also for the other machines that share it. */
  readonly #dark = new Set<ActiveFault>()
  readonly #probe: Probe
  readonly #context: FaultContext
  readonly #onStrike: (fault: FaultReport, point: LabPoint) => void
  /** Faults that struck at a point. */
  readonly #struck = new WeakMap<LabPoint, string>()
  #attached: Disposable | undefined
  #last = 0
  #claims: StrikeClaims | undefined
  /** Those of the faults that all processes have. */
  readonly #followed = new Set<string>()
  /** {@link #context} with the machines of other processes that the faults name. */
  #known: FaultContext

  constructor(probe: Probe, context: FaultContext, onStrike: (fault: FaultReport, point: LabPoint) => void) {
    this.#probe = probe
    this.#context = context
    this.#known = context
    this.#onStrike = onStrike
  }

  add(fault: Fault): AddedFault {
    this.#check(fault)
    return this.#addChecked(fault)
  }

  addAll(faults: readonly Fault[]): AddedFault[] {
    this.checkAll(faults)
    return faults.map((fault) => this.#addChecked(fault))
  }

  /**
   * @param elsewhere machines that other processes have
   * @throws UserError `fault` that says which of them could never strike
   */
  checkAll(faults: readonly Fault[], elsewhere: KnownMachines = new Map()): void {
    const known = withMachines(this.#known, elsewhere)
    for (const [index, fault] of faults.entries())
      try {
        this.#check(fault, known)
      } catch (error) {
        const wrong = userError(error)
        if (!wrong || faults.length === 1) throw error
        throw new UserError(wrong.code, `fault ${index + 1} of ${faults.length}: ${wrong.message}`, {
          kind: wrong.kind,
          ...defined({ remedy: wrong.remedy }),
        })
      }
  }

  /** From now on strikes of the faults that come by {@link follow} are counted for all processes together. */
  shareCounts(claims: StrikeClaims): void {
    this.#claims = claims
  }

  /**
   * Puts in force what all processes have, and lifts what they had. Faults that were added here stay.
   *
   * @param elsewhere machines that other processes have, as far as the faults name them
   */
  follow(present: readonly FollowedFault[], elsewhere: KnownMachines = new Map()): void {
    this.#known = withMachines(this.#context, elsewhere)
    const ids = new Set(present.map(({ id }) => id))
    for (const id of [...this.#followed]) if (!ids.has(id)) this.lift(id)
    for (const { id, fault, struck } of present) {
      const active = this.#faults.get(id) ?? this.#followedFault(id, fault)
      active.struck = Math.max(active.struck, struck)
      if (this.#faults.has(id) || isSpent(active)) this.#setAside(active)
      else this.#index.add(active)
      this.#faults.set(id, active)
      this.#followed.add(id)
    }
    this.#watch()
  }

  #followedFault(id: string, fault: Fault): ActiveFault {
    const number = Number(id.replace(/^\D+/, ''))
    return new ActiveFault(id, fault, this.#context.seed * 1000 + number)
  }

  /** No longer asks whether a fault strikes that has struck for the last time. */
  #setAside(active: ActiveFault): void {
    if (isSpent(active) && this.#index.remove(active)) this.#watch()
  }

  #check(fault: Fault, known = this.#known): void {
    checkFault(fault)
    checkFaultNames(fault, known)
  }

  #addChecked(fault: Fault): AddedFault {
    const id = `${this.#context.isShared ? OWN_FAULT : 'fault-'}${++this.#last}`
    const active = new ActiveFault(id, fault, this.#context.seed * 1000 + this.#last)
    this.#faults.set(id, active)
    if (this.#index.add(active)) this.#watch()
    return { id, [Symbol.dispose]: () => void this.lift(id) }
  }

  take(): FaultsState {
    const faults = [...this.#faults.values()].map(({ id, fault, struck, passed, dark, random }) => ({
      id,
      fault,
      struck,
      passed,
      dark: [...dark],
      random: random.take(),
    }))
    return { last: this.#last, faults }
  }

  /** Lets go of what a fault makes wait: delays end with an error. */
  release(): void {
    for (const fault of this.#faults.values()) fault.end()
  }

  /** Lets go of everything, and strikes no more. */
  end(): void {
    this.release()
    this.clear()
  }

  restore({ last, faults }: FaultsState): void {
    this.#faults.clear()
    this.#followed.clear()
    this.#index.clear()
    this.#dark.clear()
    for (const { id, fault, struck, passed, dark, random } of faults) {
      const active = new ActiveFault(id, fault, 0)
      active.random.restore(random)
      Object.assign(active, { struck, passed })
      for (const [node, until] of dark) active.dark.set(node, until)
      this.#faults.set(id, active)
      if (!isSpent(active)) this.#index.add(active)
      if (dark.length > 0) this.#dark.add(active)
    }
    this.#last = last
    this.#watch()
  }

  list(): FaultReport[] {
    return [...this.#faults.values()].map((fault) => this.#reportOf(fault))
  }

  get(id: string): FaultReport | undefined {
    const fault = this.#faults.get(id)
    return fault && this.#reportOf(fault)
  }

  /** A fault that has struck has met its host; the host may be gone since. */
  #reportOf(active: ActiveFault): FaultReport {
    const waitsFor = active.struck > 0 ? undefined : awaitedBy(active.fault, this.#known)
    return { ...active.report(), ...defined({ waitsFor }) }
  }

  lift(id: string): boolean {
    const fault = this.#faults.get(id)
    if (!fault) return false
    this.#faults.delete(id)
    this.#followed.delete(id)
    this.#dark.delete(fault)
    fault.lift()
    if (this.#index.remove(fault)) this.#watch()
    return true
  }

  clear(label?: string): void {
    for (const { id, fault } of [...this.#faults.values()])
      if (label === undefined || fault.label === label) this.lift(id)
  }

  /** The fault that struck at a point. */
  at(point: LabPoint): string | null {
    return this.#struck.get(point) ?? null
  }

  /** Watches the points at which a present fault can strike, and no others: a watched disk is read more often. */
  #watch(): void {
    this.#attached?.[Symbol.dispose]()
    const { kinds } = this.#index
    this.#attached =
      kinds.length === 0 ? undefined : attachTo(this.#probe, (point, next) => this.#decide(point, next), kinds)
  }

  /** Decides which faults strike before anything moves; the first is the outermost. */
  #decide<T>(point: LabPoint, next: () => Promise<T>): Promise<T> {
    const possible = this.#possible(point)
    const claims = this.#claims
    if (!claims)
      return this.#strikeWith(
        point,
        possible.filter((active) => this.#strikes(active, point)),
        next,
      )
    const near = possible.filter((active) => lastsAt(active, point, this.#context) || this.#isMet(active, point))
    if (near.length === 0) return next()
    return this.#claimed(near, point, claims).then((striking) => this.#strikeWith(point, striking, next))
  }

  #strikeWith<T>(point: LabPoint, striking: readonly ActiveFault[], next: () => Promise<T>): Promise<T> {
    if (striking.length === 0) return next()
    return striking.reduceRight<() => Promise<T>>(
      (inner, active) => () => applyEffect(active, point, inner, this.#context),
      next,
    )()
  }

  /** Those of the faults at a point that strike, as all processes count; faults of this process are counted here. */
  async #claimed(near: readonly ActiveFault[], point: LabPoint, claims: StrikeClaims): Promise<ActiveFault[]> {
    const striking: ActiveFault[] = []
    for (const active of near) {
      if (lastsAt(active, point, this.#context)) {
        striking.push(active)
        continue
      }
      if (!this.#followed.has(active.id)) {
        if (this.#strikes(active, point)) striking.push(active)
        continue
      }
      const claimed = await claims.claim(active.id, active.random.next())
      active.struck = claimed ? claimed.struck : (active.fault.times ?? active.struck)
      if (claimed?.strikes) {
        this.#noteStrike(active, point)
        striking.push(active)
      }
      this.#setAside(active)
    }
    return striking
  }

  /** The faults that may strike at a point, in their order. */
  #possible(point: LabPoint): readonly ActiveFault[] {
    const found = this.#index.at(point.kind, this.#concerned(point))
    if (this.#dark.size === 0 || point.kind !== 'bmc') return found
    return [...new Set([...found, ...this.#dark])].sort((a, b) => a.order - b.order)
  }

  #strikes(active: ActiveFault, point: LabPoint): boolean {
    const { times = Infinity, after = 0, probability = 1 } = active.fault
    if (lastsAt(active, point, this.#context)) return true
    if (!this.#isMet(active, point)) return false
    if (active.struck >= times || active.passed++ < after) return false
    if (probability < 1 && active.random.next() >= probability) return false
    active.struck++
    this.#noteStrike(active, point)
    this.#setAside(active)
    return true
  }

  /** True if a point is one that a fault matches, at a time at which it may strike. */
  #isMet({ fault }: ActiveFault, point: LabPoint): boolean {
    const { effect, between } = fault
    const { clock } = this.#context
    if (!this.#matches(fault, point) || isOver(effect, point, clock)) return false
    return !between || (between[0] <= clock.elapsed() && clock.elapsed() < between[1])
  }

  #noteStrike(active: ActiveFault, point: LabPoint): void {
    if (canLast(active.fault.effect)) this.#dark.add(active)
    this.#struck.set(point, active.id)
    this.#onStrike(active.report(), point)
  }

  /** Names by which faults can match the machine and the nodes of a point. */
  #concerned(point: LabPoint): Concerned {
    const { node, nodeOf, machineOf } = this.#context
    const ident = nodeIn(point)
    const named = ident === undefined ? undefined : node(ident)
    const machine = machineIn(point) ?? (named && machineOf(named.uuid))
    const user = machine === undefined ? undefined : nodeOf(machine)
    // A node that has not used its machine yet may be any.
    if (machine !== undefined && !user && !named) return { machine, nodes: undefined }
    // A program that asks a BMC names no node, and several may share the BMC.
    if (machine !== undefined && !named && point.kind === 'bmc') {
      const isNode = (ident: string) => machineOf(node(ident)?.uuid ?? '') === machine
      return { machine, nodes: undefined, isNode }
    }
    return { machine, nodes: [...new Set([...idents(named), ...idents(user)])] }
  }

  #matches(fault: Fault, point: LabPoint): boolean {
    const { match, effect } = fault
    const context = this.#context
    const wanted = match.node === undefined ? undefined : context.node(match.node)
    if (match.node !== undefined && !wanted) return false
    // A BMC belongs to a node before its machine exists.
    const ofBmc = point.kind === 'bmc' && point.node !== undefined ? context.node(point.node) : undefined
    const machine = ofBmc ? context.machineOf(ofBmc.uuid) : machineIn(point)
    if (match.machine !== undefined && match.machine !== machine) return false
    if (strikesElsewhere(fault, point, machine, context)) return false
    const ident = nodeIn(point)
    const ofPoint = ident === undefined ? undefined : context.node(ident)
    const user = machine === undefined ? undefined : context.nodeOf(machine)
    // Nodes may share a machine: what is done for one is not done for the other. A BMC itself knows no nodes.
    const owner = ofPoint ?? (point.kind === 'bmc' ? undefined : user)
    if (wanted && owner && owner.uuid !== wanted.uuid) return false
    if (wanted && !owner && !(machine !== undefined && context.machineOf(wanted.uuid) === machine)) return false
    const labelled = match.label === undefined ? undefined : this.#labelledNode(match.label, wanted ?? owner, machine)
    if (match.label !== undefined && !labelled) return false
    const node = wanted ?? labelled ?? ofPoint ?? user
    if (match.state !== undefined && node?.provision_state !== match.state) return false
    if (match.step !== undefined && (machine === undefined || context.stepOf(machine) !== match.step)) return false
    if (match.phase !== undefined && (machine === undefined || context.phaseOf(machine, node) !== match.phase))
      return false
    if (match.program !== undefined && programOf(point) !== match.program) return false
    if (match.disk !== undefined && !('disk' in point && point.disk === match.disk)) return false
    if (match.bmc !== undefined && !(point.kind === 'bmc' && point.call === match.bmc)) return false
    if (match.image !== undefined && !('image' in point && point.image.startsWith(match.image))) return false
    if (match.to !== undefined && !(point.kind === 'exchange' && point.to === match.to)) return false
    if (match.route !== undefined && !matchesRoute(match.route, point)) return false
    return canActAt(effect, point)
  }

  /** The node of a host that a selector selects: the one that is meant, or else one that has the machine. */
  #labelledNode(
    selector: string,
    meant: Readonly<NodeRecord> | undefined,
    machine: string | undefined,
  ): Readonly<NodeRecord> | undefined {
    const { hosts, node, machineOf } = this.#context
    if (!hosts) return undefined
    if (meant) return meant.name !== null && hosts.selects(selector, meant.name) ? meant : undefined
    if (machine === undefined) return undefined
    const nodes = hosts.selected(selector).flatMap((name) => node(name) ?? [])
    return nodes.find(({ uuid }) => machineOf(uuid) === machine)
  }
}

/** Beginning of the ids of faults that a process has for itself, where others come from the database. */
const OWN_FAULT = 'own-fault-'

/** The same lab with machines of other processes, which it cannot see and faults may name. */
const withMachines = (context: FaultContext, elsewhere: KnownMachines): FaultContext =>
  elsewhere.size === 0
    ? context
    : { ...context, disksOf: (machine) => context.disksOf(machine) ?? elsewhere.get(machine) }

const idents = (node: Readonly<NodeRecord> | undefined): readonly string[] =>
  node ? [node.uuid, ...(node.name === null ? [] : [node.name])] : []
