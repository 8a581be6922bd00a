import { errorChain, seconds, UserError, type Clock, type Logger } from '../../base/runtime/index.js'
import type { OtherProcesses } from '../store/open-store.js'
import {
  beatHeart,
  endSilent,
  forgetMembers,
  listMembers,
  registerMember,
  signOff,
  type MemberDescription,
  type MemberRow,
} from './member-rows.js'
import { keyOfPlacement, Placement } from './placement.js'
import {
  claimShards,
  LockTableFull,
  lockOf,
  markRested,
  placeOfLock,
  ringIds,
  tryLocks,
  unlock,
} from './shard-locks.js'
import { ringName, shardOf, type PlacedNode } from './shards.js'
import type { ConductorMember, LeftWork, NodesOfShare, ShareWatcher, WorkShare } from './work-share.js'

/** Times of a member, in milliseconds. */
export interface MemberTiming {
  /** Between looks at the other members: a dead one is noticed after this at the latest. */
  readonly look: number
  /** Between heartbeats. */
  readonly heartbeat: number
  /** A member that has been silent for longer is dead, and its connection is ended. */
  readonly silence: number
  /** Longest wait for the end of an effect before its node goes to another member. */
  readonly handover: number
}

/**
 * Ironic's heartbeats are 10 s apart and miss for 60 s. Here a process that is stopped, or behind a link that is half open,
 * must be replaced within 5 s. Its wait for workers at its end is also 60 s (`[conductor]graceful_shutdown_timeout`).
 */
const MEMBER_TIMING: MemberTiming = { look: 50, heartbeat: seconds(1), silence: seconds(4), handover: seconds(60) }

/** Milliseconds that a database is waited for at the end of a process, which has 1.5 s for all. */
const END_WAIT = 500

/** Milliseconds until locks are asked for again that the server had no place for. */
const FULL_TABLE_WAIT = seconds(5)

const FORGET_INTERVAL = seconds(600)

export interface MemberParts {
  readonly others: OtherProcesses
  readonly self: MemberDescription
  /** The clock of the wall. */
  readonly clock: Clock
  /** The time of the lab, which all processes share; absent where it is that of their hosts. */
  readonly labTime?: SharedTime
  readonly logger: Logger
  readonly timing?: Partial<MemberTiming>
}

/** A time that passes faster or slower than that of the hosts, so that processes tell each other how late it is. */
interface SharedTime {
  /** Milliseconds since the epoch. */
  now(): number
  /** Goes ahead to a time; never back. */
  reach(at: number): void
}

/**
 * This process as one of several that share a database. Shards of the rings are owned by session-level locks on the
 * connection that commits; when that breaks, so does the ownership. The members that are alive decide who wants which
 * shard; the locks decide who has it.
 */
export class Members implements WorkShare {
  readonly isWhole = false
  readonly #parts: MemberParts
  readonly #timing: MemberTiming
  readonly #stop = new AbortController()
  #watcher: ShareWatcher | undefined
  #id = 0
  #isRegistered = false
  #rows: readonly MemberRow[] = []
  #conductors: readonly ConductorMember[] = []
  #placement = new Placement([])
  #placements = 0
  /** Ids of the rings that this process is on. */
  #rings = new Map<string, number>()
  /** Shards whose locks are held. */
  readonly #held = new Set<number>()
  /** Those of them whose nodes are worked on. */
  readonly #working = new Set<number>()
  /** Those of them whose last effects are waited for. */
  readonly #leaving = new Set<number>()
  #leaseUntil = -Infinity
  #lookedAt = -Infinity
  #steadySince = Infinity
  #patientUntil = -Infinity
  #takeAfter = -Infinity
  /** Members whose end is known, with the stream of the process that has ended. */
  #gone: ReadonlyMap<number, number> = new Map()
  #forgetAt = 0
  #running: Promise<unknown> | undefined
  readonly #watching: Disposable[] = []
  readonly #lookers = new Set<() => void>()

  constructor(parts: MemberParts) {
    this.#parts = parts
    this.#timing = { ...MEMBER_TIMING, ...parts.timing }
  }

  get host(): string {
    return this.#parts.self.host
  }

  /** The processes that have registered, in the order of their ids. */
  get members(): readonly MemberRow[] {
    return this.#rows
  }

  /** Base URL of an API that lives, this process's before others; undefined while there is none. */
  get apiUrl(): string | undefined {
    return this.#parts.self.url ?? this.#rows.find((row) => row.url !== null && this.#isAlive(row))?.url ?? undefined
  }

  /** Base URLs of the APIs that live, without `/v1`. */
  get apis(): readonly string[] {
    return this.#rows.flatMap((row) => (row.url !== null && this.#isAlive(row) ? [row.url] : []))
  }

  /** The row of this process; undefined before the first look. */
  get own(): MemberRow | undefined {
    return this.#rows.find(({ id }) => id === this.#id)
  }

  /** True while a process gives signs of life. */
  isAlive(row: MemberRow): boolean {
    return this.#isAlive(row)
  }

  /** Calls a listener after each look at the rows of the processes. */
  watchLooks(listener: () => void): Disposable {
    this.#lookers.add(listener)
    return { [Symbol.dispose]: () => void this.#lookers.delete(listener) }
  }

  get placement(): number {
    return this.#placements
  }

  owns(node: PlacedNode): boolean {
    return this.#parts.clock.now() < this.#leaseUntil && this.#isAmong(node, this.#working)
  }

  holderOf(node: PlacedNode): string | null {
    return this.#placement.holderOf(node)
  }

  serves(group: string, driver: string): boolean {
    return this.#placement.has(group, driver)
  }

  mayRelease(reservation: string, left: LeftWork): boolean {
    if (reservation === this.host) return left === 'abandoned'
    return !this.#rows.some((row) => row.host === reservation && this.#isAlive(row))
  }

  conductors(): readonly ConductorMember[] {
    return this.#conductors
  }

  ownsAllocation(uuid: string): boolean {
    return this.#placement.holderOfAllocation(uuid) === this.host
  }

  watch(watcher: ShareWatcher): Disposable {
    this.#watcher = watcher
    return { [Symbol.dispose]: () => (this.#watcher = undefined) }
  }

  /**
   * Registers, and takes the shards that are free.
   *
   * @throws UserError while another process has this name, and `member-clock` for a clock that is not that of the others
   */
  async begin(): Promise<void> {
    const { others } = this.#parts
    await this.#checkClock()
    await this.#registerFirst()
    // Another may have begun at the same time.
    await this.#checkClock()
    this.#watching.push(
      others.session.watch({ begun: () => this.#begun(), lost: () => this.#lose() }),
      others.watchFollowed((nodes) => this.#watcher?.changed(nodes)),
    )
    await this.#look()
    this.#running = Promise.all([this.#keepLooking(), this.#keepBeating(), this.#keepLease()])
  }

  async end(): Promise<void> {
    if (this.#stop.signal.aborted) return
    this.#stop.abort(new UserError('conductor-stopped', 'the conductor has been stopped'))
    const { clock } = this.#parts
    const { session } = this.#parts.others
    try {
      // Without a connection its locks are free.
      if (await session.endUnlessAnswering(END_WAIT)) {
        await this.#running
        if (this.#isRegistered && clock.now() < this.#leaseUntil) {
          await signOff(session, this.#id, this.#parts.labTime?.now() ?? null)
          await this.#leave([...this.#working])
        }
      }
    } catch {
      // The connection broke meanwhile.
    }
    for (const watching of this.#watching.splice(0)) watching[Symbol.dispose]()
  }

  /** Waits for the end of an earlier process of the same name. */
  async #registerFirst(): Promise<void> {
    const { others, self, clock } = this.#parts
    const { silence, heartbeat, look } = this.#timing
    const until = clock.now() + silence + 2 * heartbeat
    while (!(await this.#register())) {
      const earlier = (await listMembers(others.session)).find(({ host }) => host === self.host)
      if (earlier && earlier.silence > silence) await endSilent(others.session, earlier.id, silence)
      if (clock.now() > until)
        throw new UserError('member-name', `another process of this database is called ${self.host}`)
      await clock.sleep(look)
    }
  }

  /** Time limits and machines are of all processes, so that time has to pass as fast in each. Who was first is right. */
  async #checkClock(): Promise<void> {
    const { others, self } = this.#parts
    const { stream } = others.session
    if (self.clock === undefined) return
    const rows = await listMembers(others.session)
    const other = rows.find(
      (row) =>
        row.stream < stream &&
        row.isOnline &&
        row.isConnected &&
        row.silence < this.#timing.silence &&
        row.clock !== undefined &&
        row.clock !== self.clock,
    )
    if (!other) return
    await signOff(others.session, this.#id, null)
    throw new UserError(
      'member-clock',
      `the clock of ${other.host} is ${other.clock}, and that of this process would be ${self.clock}: processes of one database have the same`,
    )
  }

  async #register(): Promise<boolean> {
    const { others, self, clock } = this.#parts
    const { session } = others
    const { generation } = session
    const at = clock.now()
    const id = await registerMember(session, self)
    if (id === undefined) return false
    const names = this.#isConductor ? self.drivers.map((driver) => ringName(self.group, driver)) : []
    const rings = await ringIds(session, names)
    if (generation !== session.generation) return false
    this.#id = id
    this.#rings = rings
    this.#isRegistered = true
    this.#leaseUntil = at + this.#timing.silence
    return true
  }

  get #isConductor(): boolean {
    const { role } = this.#parts.self
    return role === 'all' || role === 'conductor'
  }

  /** A new connection: the others may be connecting again too, so that those without one are waited for. */
  async #begun(): Promise<void> {
    this.#patientUntil = this.#parts.clock.now() + this.#timing.silence
    await this.#register()
  }

  /** The connection is broken, and with it all locks are free. */
  #lose(): void {
    this.#isRegistered = false
    this.#held.clear()
    this.#working.clear()
    this.#leaving.clear()
    this.#leaseUntil = -Infinity
    this.#steadySince = Infinity
    this.#watcher?.lost(() => true)
  }

  /** Repeats some work until the end; while the connection is broken there is none. */
  async #repeat(interval: number, work: () => Promise<void>): Promise<void> {
    const { clock, others, logger } = this.#parts
    const { signal } = this.#stop
    for (let complaint = ''; !signal.aborted;) {
      await clock.sleep(interval, { weak: true, signal }).catch(() => {})
      const { generation, backend } = others.session
      if (signal.aborted || backend === null) continue
      try {
        await work()
        complaint = ''
      } catch (error) {
        const isSame = generation === others.session.generation && others.session.backend !== null
        const words = errorChain(error).join(': ')
        if (isSame && words !== complaint) logger('warn', `membership of the database: ${words}`)
        complaint = words
      }
    }
  }

  #keepLooking(): Promise<void> {
    return this.#repeat(this.#timing.look, () => this.#look())
  }

  #keepBeating(): Promise<void> {
    return this.#repeat(this.#timing.heartbeat, async () => {
      const { others, clock } = this.#parts
      if (!this.#isRegistered) return
      const { generation } = others.session
      const at = clock.now()
      const isOwn = await beatHeart(others.session, this.#id, this.#parts.labTime?.now() ?? null)
      if (generation !== others.session.generation) return
      if (isOwn) this.#leaseUntil = at + this.#timing.silence
      else this.#isRegistered = false
      if (at < this.#forgetAt) return
      this.#forgetAt = at + FORGET_INTERVAL
      await forgetMembers(others.session)
    })
  }

  /** Stops working when no heartbeat has reached the database for so long that others may have taken over. */
  async #keepLease(): Promise<void> {
    const { clock, logger } = this.#parts
    const { signal } = this.#stop
    while (!signal.aborted) {
      const wait = Math.max(this.#timing.look, Math.min(this.#leaseUntil - clock.now(), this.#timing.silence))
      await clock.sleep(wait, { weak: true, signal }).catch(() => {})
      if (this.#working.size === 0 || clock.now() < this.#leaseUntil) continue
      logger('warn', 'the database has not answered for too long: the work on nodes is left to other processes')
      const lapsed = new Set(this.#working)
      this.#working.clear()
      this.#watcher?.lost((node) => this.#isAmong(node, lapsed))
    }
  }

  async #look(): Promise<void> {
    const { others, clock } = this.#parts
    const { session } = others
    const { generation } = session
    if (!this.#isRegistered && !(await this.#register())) throw new Error(`another process is called ${this.host}`)
    const at = clock.now()
    const rows = await listMembers(session)
    if (generation !== session.generation || session.backend === null) return
    // After a longer pause this process or the database stood still, rather than others.
    if (at - this.#lookedAt > this.#timing.silence / 2 || this.#steadySince === Infinity) this.#steadySince = at
    this.#lookedAt = clock.now()
    await this.#note(rows)
    for (const looker of this.#lookers) looker()
    if (this.#isConductor && this.#isRegistered) await this.#balance()
  }

  /** True while looks were close to one another for so long that each living member must have shown a sign of life. */
  get #isSteady(): boolean {
    return this.#lookedAt - this.#steadySince >= 2 * this.#timing.heartbeat
  }

  #isAlive({ id, isOnline, isConnected, silence }: MemberRow): boolean {
    if (!isOnline) return false
    if (id === this.#id && this.#isRegistered) return true
    const isSilent = silence > this.#timing.silence
    if (isConnected) return !isSilent || !this.#isSteady
    return !isSilent && this.#parts.clock.now() < this.#patientUntil
  }

  async #note(rows: readonly MemberRow[]): Promise<void> {
    const { others, logger } = this.#parts
    this.#rows = rows
    // Time goes on from the latest that any process has had, also when all of them have ended.
    const latest = Math.max(...rows.map(({ labTime }) => labTime ?? -Infinity))
    this.#parts.labTime?.reach(latest)
    this.#conductors = rows
      .filter(({ role }) => role === 'all' || role === 'conductor')
      .map((row) => ({ ...row, alive: this.#isAlive(row) }))
    if (keyOfPlacement(this.#conductors) !== this.#placement.key) {
      this.#placement = new Placement(this.#conductors)
      this.#placements++
    }
    const silent = rows.filter((row) => row.isOnline && row.isConnected && !this.#isAlive(row))
    for (const { host, id } of silent) {
      logger('warn', `${host} has given no sign of life for too long: its connection to the database is ended`)
      await endSilent(others.session, id, this.#timing.silence).catch((error: unknown) =>
        logger('error', `the connection of ${host} to the database cannot be ended`, { error }),
      )
    }
    // One that lived between two looks alone may have reserved nodes too.
    const dead = rows.filter((row) => !this.#isAlive(row))
    const gone = dead.filter(({ id, stream }) => this.#gone.get(id) !== stream)
    if (gone.length > 0) {
      await others.catchUp()
      this.#watcher?.gone(gone.map(({ host }) => host))
    }
    this.#gone = new Map(dead.map(({ id, stream }) => [id, stream]))
  }

  /** Takes the shards that are this process's, and gives others away. */
  async #balance(): Promise<void> {
    const wanted = this.#wanted()
    const isLeased = this.#parts.clock.now() < this.#leaseUntil
    const lapsed = [...this.#held].filter((lock) => isLeased && !this.#working.has(lock) && !this.#leaving.has(lock))
    const missing = [...wanted].filter((lock) => !this.#held.has(lock))
    const unwanted = [...this.#working].filter((lock) => !wanted.has(lock))
    if (missing.length > 0 && this.#parts.clock.now() >= this.#takeAfter)
      await this.#take(missing).catch((error: unknown) => {
        if (error instanceof LockTableFull) this.#takeAfter = this.#parts.clock.now() + FULL_TABLE_WAIT
        throw error
      })
    // Its locks are still held after all, so no other process has had them.
    if (lapsed.length > 0) this.#takeUp(lapsed, 'interrupted')
    if (unwanted.length > 0)
      this.#leave(unwanted).catch((error: unknown) => {
        // The next look takes up those that are still held, and leaves them once more.
        for (const lock of unwanted) this.#leaving.delete(lock)
        if (this.#parts.others.session.backend !== null)
          this.#parts.logger('error', 'nodes could not be given to another process', { error })
      })
  }

  #wanted(): Set<number> {
    const wanted = new Set<number>()
    if (this.#stop.signal.aborted) return wanted
    for (const [name, ring] of this.#rings)
      for (const shard of this.#placement.shardsOf(name, this.host)) wanted.add(lockOf(ring, shard))
    return wanted
  }

  async #take(missing: readonly number[]): Promise<void> {
    const { others, logger } = this.#parts
    const { session } = others
    const { generation } = session
    const isSame = () => generation === session.generation && session.backend !== null
    const taken = await tryLocks(session, missing)
    if (!isSame() || taken.length === 0) return
    for (const lock of taken) this.#held.add(lock)
    try {
      const shards = await claimShards(session, taken)
      await others.catchUp()
      if (!isSame()) return
      for (const left of ['abandoned', 'rested', 'interrupted'] as const)
        this.#takeUp(
          taken.filter((lock) => (shards.get(lock) ?? 'abandoned') === left),
          left,
        )
      logger('info', `works on ${this.#working.size} shards of the nodes`)
    } catch (error) {
      if (isSame()) {
        for (const lock of taken) this.#held.delete(lock)
        await unlock(session, taken)
      }
      throw error
    }
  }

  #takeUp(locks: readonly number[], left: LeftWork): void {
    if (locks.length === 0) return
    for (const lock of locks) this.#working.add(lock)
    const own = new Set(locks)
    this.#watcher
      ?.gained((node) => this.#isAmong(node, own), left)
      .catch((error: unknown) => {
        if (!this.#stop.signal.aborted && this.#parts.others.session.backend !== null)
          this.#parts.logger('error', 'the work of nodes could not be taken up', { error })
      })
  }

  /** Stops the work on shards, and gives them away once no effect of their nodes runs. */
  async #leave(locks: readonly number[]): Promise<void> {
    for (const lock of locks) {
      this.#working.delete(lock)
      this.#leaving.add(lock)
    }
    const busy = new Set<number>()
    for (const node of this.#watcher?.busy() ?? []) {
      const lock = this.#lockOf(node)
      if (lock !== undefined && this.#leaving.has(lock)) busy.add(lock)
    }
    const idle = locks.filter((lock) => !busy.has(lock))
    const late = locks.filter((lock) => busy.has(lock))
    await Promise.all([this.#release(idle), ...late.map((lock) => this.#finish(lock))])
  }

  /** Waits for the effects of a shard's nodes, up to a limit. */
  async #finish(lock: number): Promise<void> {
    const { clock, logger, others } = this.#parts
    const { generation } = others.session
    const own = new Set([lock])
    const nodes: NodesOfShare = (node) => this.#isAmong(node, own)
    const ended = new AbortController()
    const finished = this.#watcher?.finishing(nodes).then(() => true)
    const limit = clock.sleep(this.#timing.handover, { weak: true, signal: ended.signal }).then(
      () => false,
      () => false,
    )
    const isRested = await Promise.race([finished ?? true, limit])
    ended.abort()
    if (generation !== others.session.generation) return
    if (!isRested) {
      logger('warn', `work on nodes of shard ${placeOfLock(lock).shard} has not ended in time, and is given up`)
      this.#watcher?.lost(nodes)
    }
    await this.#release([lock], isRested)
  }

  /** Gives shards away, unless they are this process's again by now. */
  async #release(locks: readonly number[], isRested = true): Promise<void> {
    if (locks.length === 0) return
    const { session } = this.#parts.others
    const { generation } = session
    if (session.backend === null) return
    const wanted = this.#wanted()
    const left = isRested ? 'rested' : 'interrupted'
    const again = locks.filter((lock) => wanted.has(lock))
    for (const lock of again) this.#leaving.delete(lock)
    this.#takeUp(again, left)
    const leaving = locks.filter((lock) => !wanted.has(lock))
    if (leaving.length === 0) return
    if (isRested) await markRested(session, leaving)
    if (generation !== session.generation) return
    for (const lock of leaving) {
      this.#leaving.delete(lock)
      this.#held.delete(lock)
    }
    await unlock(session, leaving)
  }

  #lockOf({ uuid, driver, conductor_group: group }: PlacedNode): number | undefined {
    const ring = this.#rings.get(ringName(group, driver))
    return ring === undefined ? undefined : lockOf(ring, shardOf(uuid))
  }

  #isAmong(node: PlacedNode, locks: ReadonlySet<number>): boolean {
    const lock = this.#lockOf(node)
    return lock !== undefined && locks.has(lock)
  }
}
