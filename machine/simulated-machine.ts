import { errorChain, Mutex, uuid, type Clock, type Logger, type Probe, type Random } from '../runtime/index.js'
import type { Executor, StageAsset, Target } from '../steps/index.js'
import { findBootable, type Bootable } from './bootable.js'
import { firstBoot, type DiskBoot } from './first-boot.js'
import { startAgentUnit } from './live/agent-unit.js'
import { NO_NETWORK, type BootNetwork } from './live/boot-network.js'
import { bootLive, type LiveMedium } from './live/live-boot.js'
import { missingDriver } from './live/live-version.js'
import type { MachineDisks } from './machine-disks.js'
import type { MachineStore } from './machine-store.js'
import {
  type Boot,
  type FirstBoot,
  type Machine,
  type MachineBootSource,
  type MachineEvents,
  type MachinePace,
  type MachinePower,
  type MachineSpec,
} from './machine.js'
import { MachineFirmware, type FirmwareState } from './machine-firmware.js'
import { InstalledSystem, type JournalLine } from './os/installed-system.js'
import { laterBoot, runNodeImage } from './os/later-boot.js'
import { osReport, type OsReport } from './os/os-report.js'
import { NO_REGISTRY, type ImageRegistry } from './os/registry.js'
import type { EfiEntry, Inside } from './programs/program.js'
import type { RunRecord } from './run-log.js'
import { MachineUnreachable, RamdiskSession, type FileRecord } from './ramdisk-session.js'
import type { RootTree } from './root/root-tree.js'

/** What is kept of a machine besides its specification. */
export interface MachineState {
  power: MachinePower
  source: MachineBootSource
  /** The current or, when off, the latest boot. `outcome` is null while the firmware and boot loader are at work. */
  boot: {
    id: string
    source: MachineBootSource
    outcome: Boot['outcome'] | null
    reported: boolean
    firmware?: MachineSpec['firmware']
    live?: Boot['live']
    /** The container of the agent runs. */
    agentUp?: boolean
  } | null
  efi: { entries: EfiEntry[]; order: string[]; current: string | null }
  firstBoot: FirstBoot | null
  mounts: [string, { device: string; readOnly: boolean }][]
  /** Absent as it left the factory. */
  firmware?: FirmwareState
}

export const newState = (): MachineState => ({
  power: 'off',
  source: { kind: 'disk' },
  boot: null,
  efi: { entries: [], order: [], current: null },
  firstBoot: null,
  mounts: [],
})

/** What an earlier process had kept of a machine's boot, and of the system on its disk. */
export interface KeptOfBoot {
  system: [string, unknown][]
  saved: [string, unknown][]
  files: [string, FileRecord][]
  runs: [string, RunRecord][]
}

export interface MachineParts {
  disks: MachineDisks
  store: MachineStore
  clock: Clock
  random: Random
  probe: Probe
  logger: Logger
  pace: MachinePace
  events: MachineEvents
  /** Fetches images for it, to files of this process. */
  stage?: StageAsset
  /** How it reaches what it boots from. */
  network?: BootNetwork
  /** Where the system on its disk pulls its images. */
  registry?: ImageRegistry
}

/** Lines of a console that are kept. */
const CONSOLE_LINES = 200

/** Power, firmware and boot of one machine. */
export class SimulatedMachine implements Machine {
  readonly executor: Executor
  readonly target: Target
  readonly firmware: MachineFirmware
  readonly #parts: MachineParts
  readonly #state: MachineState
  readonly #mounts: Inside['mounts']
  /** Power changes happen one after another, in the order in which they were asked for. */
  readonly #button = new Mutex()
  readonly #saved = new Map<string, unknown>()
  readonly #staged = new Map<string, string>()
  readonly #closing = new AbortController()
  /** The boot, once it has got where it goes and that is kept. */
  #up: Boot | undefined
  #session: RamdiskSession | undefined
  #booting: { controller: AbortController; done: Promise<void> } | undefined
  /** What runs in the booted system by itself. */
  #unit: { controller: AbortController; done: Promise<void> } | undefined
  #console: string[] = []
  #system: InstalledSystem

  constructor(
    readonly spec: MachineSpec,
    state: MachineState,
    parts: MachineParts,
  ) {
    this.#parts = parts
    this.#state = state
    this.#mounts = new Map(state.mounts)
    this.#system = this.#openSystem([])
    this.firmware = new MachineFirmware(
      spec,
      (state.firmware ??= {}),
      () => this.#keep(),
      (what, attributes) => this.#report(what, attributes),
    )
    this.executor = {
      start: (command) => this.#reach((session) => session.start(command)),
      attach: (id, offset) => this.#reach((session) => session.attach(id, offset)),
      files: {
        read: (path) => this.#reach((session) => session.files.read(path)),
        write: (path, bytes, options) => this.#reach((session) => session.files.write(path, bytes, options)),
        remove: (path) => this.#reach((session) => session.files.remove(path)),
        exists: (path) => this.#reach((session) => session.files.exists(path)),
        list: (path) => this.#reach((session) => session.files.list(path)),
      },
    }
    this.target = {
      name: `sim ${spec.id}`,
      executor: this.executor,
      disks: { mayWrite: () => true },
      clock: parts.clock,
      ...(parts.stage ? { stage: stagedIn(this.#staged, parts.stage) } : {}),
      hostPath: (path) => path,
      has: () => true,
    }
  }

  power(): MachinePower {
    return this.#state.power
  }

  boot(): Boot | undefined {
    return this.#up
  }

  lastBoot(): Boot | undefined {
    const { boot } = this.#state
    if (this.#up || !boot?.outcome) return this.#up
    const { id, source, outcome, live } = boot
    return { id, source, outcome, ...(live && { live }) }
  }

  console(): readonly string[] {
    return this.#console
  }

  say(line: string): void {
    this.#console.push(line)
    if (this.#console.length > CONSOLE_LINES) this.#console.shift()
    this.#report('console', { line })
  }

  firstBoot(): FirstBoot | undefined {
    return this.#state.firstBoot ?? undefined
  }

  rootFiles(): RootTree | undefined {
    return this.#system.tree()
  }

  journal(): readonly JournalLine[] {
    return this.#system.journal
  }

  os(): OsReport | null {
    return osReport(this.#system)
  }

  diskFile(disk: string): Promise<string | undefined> {
    return this.#parts.disks.fileOf(disk)
  }

  saved(name: string): unknown {
    return this.#saved.get(name)
  }

  async save(name: string, value: unknown): Promise<void> {
    this.#saved.set(name, value)
    this.#parts.store.put(this.spec.id, 'saved', name, () => value ?? null)
    await this.#parts.store.flush()
  }

  get medium(): string | undefined {
    const { source } = this.#state
    return source.kind === 'iso' ? source.url : undefined
  }

  async setBoot(source: MachineBootSource): Promise<void> {
    this.#state.source = source
    await this.#keep()
  }

  setPower(target: MachinePower | 'reboot', options: { soft?: boolean } = {}): Promise<void> {
    return this.#button.run(() =>
      this.#parts.probe.around(
        { kind: 'power', machine: this.spec.id, target, soft: options.soft ?? false },
        async () => {
          if (target !== 'on') await this.#switchOff()
          if (target !== 'off') await this.#switchOn()
        },
      ),
    )
  }

  /** Takes up where an earlier process was killed: the machine itself never noticed. Nothing happens before {@link resume}. */
  restore(kept: KeptOfBoot): void {
    for (const [name, value] of kept.saved) this.#saved.set(name, value)
    this.#system = this.#openSystem(kept.system)
    const { power, boot } = this.#state
    if (power === 'off' || !boot || boot.outcome === null) return
    this.#console = boot.live?.console ?? []
    this.#up = this.lastBoot()!
    const { outcome } = boot
    if (outcome === 'ramdisk') this.#startSession(this.#up, kept)
  }

  /** Lets it live on from where it was restored. */
  resume(): void {
    const { power, boot } = this.#state
    if (power === 'off' || !boot || this.#booting) return
    if (boot.outcome === null) this.#startBoot()
    else if (this.#up && this.#session) this.#startAgent(this.#up)
    else if (this.#up?.outcome === 'disk') void this.#resumeSystem()
  }

  /** Closes this process's part. The machine stays as it is in the state folder. */
  async close(): Promise<void> {
    this.#closing.abort(new MachineUnreachable('ironstage is closing'))
    this.#booting?.controller.abort(this.#closing.signal.reason)
    await this.#booting?.done
    await this.#endUnit(this.#closing.signal.reason)
    await this.#session?.abandon()
    this.#session = undefined
    await this.#parts.disks[Symbol.asyncDispose]()
  }

  async #switchOn(): Promise<void> {
    if (this.#state.power === 'on') return
    const { store, clock, pace, random } = this.#parts
    await this.#wait(pace.power)
    for (const kind of ['saved', 'run', 'file'] as const) store.remove(this.spec.id, kind)
    this.#saved.clear()
    this.#mounts.clear()
    this.#console = []
    this.#state.power = 'on'
    this.#state.efi.current = null
    this.firmware.booting()
    this.#state.boot = {
      id: uuid(random),
      source: this.#state.source,
      outcome: null,
      reported: false,
      firmware: this.firmware.bootMode,
    }
    await this.#keep()
    this.#report('power', { power: 'on', at: clock.now() })
    this.#startBoot()
  }

  async #switchOff(): Promise<void> {
    if (this.#state.power === 'off') return
    await this.#wait(this.#parts.pace.power)
    const boot = this.#up
    const session = this.#session
    this.#up = this.#session = undefined
    const lost = new MachineUnreachable(`${this.spec.id} lost power`)
    this.#booting?.controller.abort(lost)
    await this.#endUnit(lost)
    await session?.end('lost power')
    await this.#booting?.done
    this.#state.power = 'off'
    this.#mounts.clear()
    await this.#keep()
    await this.#parts.disks.close()
    this.#report('power', { power: 'off' })
    if (boot) this.#parts.events.down(this, boot)
  }

  #startBoot(): void {
    const controller = new AbortController()
    const done = this.#bootUp(controller.signal)
      .catch((error: unknown) => {
        if (!controller.signal.aborted)
          this.#parts.logger('error', `${this.spec.id} could not boot: ${errorChain(error).join(': ')}`, { error })
      })
      .finally(() => {
        if (this.#booting?.controller === controller) this.#booting = undefined
      })
    this.#booting = { controller, done }
  }

  async #bootUp(signal: AbortSignal): Promise<void> {
    const { clock, pace } = this.#parts
    const { source } = this.#state.boot!
    const time = source.kind === 'disk' ? pace.bootDisk : pace.bootRamdisk
    if (time > 0) await clock.sleep(time, { signal })
    switch (source.kind) {
      case 'ramdisk':
        return this.#ramdiskUp(await this.#booted('ramdisk', signal))
      case 'live':
        await this.#booted('live', signal)
        return
      case 'iso':
        await this.firmware.hold()
        return this.#bootLive(source, signal)
      case 'pxe':
        return this.#bootLive(source, signal)
      case 'cdrom': {
        const inserted = this.firmware.inserted('cdrom')
        return inserted === undefined ? this.#bootDisk(signal) : this.#bootLive({ kind: 'iso', url: inserted }, signal)
      }
      case 'disk': {
        const { heldMedium } = this.firmware
        return heldMedium === undefined
          ? this.#bootDisk(signal)
          : this.#bootLive({ kind: 'iso', url: heldMedium }, signal)
      }
    }
  }

  async #bootDisk(signal: AbortSignal): Promise<void> {
    const { clock, pace, random } = this.#parts
    for (;;) {
      const disks = this.#parts.disks.forBoot(signal)
      const bootable = await findBootable(this.#asBooted(), disks, this.#state.efi, this.#parts)
      const came = bootable ? await this.#startSystem(bootable, signal) : 'no bootable device'
      if (came !== 'reboot') {
        await this.#booted(came === 'up' ? 'disk' : came, signal)
        if (bootable && came === 'up') this.#runSystem(bootable)
        return
      }
      signal.throwIfAborted()
      this.#state.boot!.id = uuid(random)
      if (pace.bootDisk > 0) await clock.sleep(pace.bootDisk, { signal })
    }
  }

  async #bootLive(medium: LiveMedium, signal: AbortSignal): Promise<void> {
    const { network = NO_NETWORK, clock } = this.#parts
    const { outcome: came, live } = await bootLive(medium, { network, clock, signal, say: (line) => this.say(line) })
    signal.throwIfAborted()
    const failure = missingDriver(live.kernelArguments, this.spec.supportedSince)
    const outcome = failure !== null && came === 'ramdisk' ? 'live' : came
    if (failure !== null) {
      Object.assign(live, { agent: null, failure })
      this.say(failure)
    }
    this.#state.boot!.live = { ...live, console: this.#console }
    if (outcome === 'ramdisk') this.#ramdiskUp(await this.#booted(outcome, signal))
    else await this.#booted(outcome, signal)
  }

  async #startSystem(bootable: Bootable, signal: AbortSignal): Promise<DiskBoot> {
    const state = this.#state
    const boot = state.boot!
    state.efi.current = bootable.efiEntry
    let came: DiskBoot = 'up'
    if (bootable.firstBoot) {
      const { clock, random, probe } = this.#parts
      const disks = this.#parts.disks.forBoot(signal)
      const parts = {
        spec: this.#asBooted(),
        bootId: boot.id,
        disks,
        system: this.#system,
        clock,
        random,
        probe,
        signal,
      }
      came = await firstBoot(bootable, parts, async (report) => {
        signal.throwIfAborted()
        state.firstBoot = report
        boot.reported = true
        await this.#keep()
      })
    } else laterBoot(bootable, this.#system, this.#parts.clock)
    // Also when an earlier process died between keeping the report and telling of it.
    if (boot.reported && state.firstBoot) this.#parts.events.firstBoot?.(this, state.firstBoot)
    return came
  }

  /** What the system on the disk does by itself once it is up: it becomes what its cluster wants. */
  #runSystem(bootable: Bootable): void {
    if (!this.#system.isPivoting) return
    const { registry = NO_REGISTRY, clock, probe, logger } = this.#parts
    const controller = new AbortController()
    const { signal } = controller
    const parts = {
      machine: this.spec.id,
      system: this.#system,
      registry,
      clock,
      probe,
      signal,
      keep: () => this.#keep(),
    }
    const done = runNodeImage(bootable, parts)
      .then(() => this.#fromInside('reboot'))
      .catch((error: unknown) => {
        if (!signal.aborted)
          logger('error', `the system of ${this.spec.id} broke: ${errorChain(error).join(': ')}`, { error })
      })
    this.#unit = { controller, done }
  }

  /** Takes up what the system was at when an earlier process was killed. */
  async #resumeSystem(): Promise<void> {
    if (!this.#system.isPivoting) return
    const { signal } = this.#closing
    const disks = this.#parts.disks.forBoot(signal)
    const bootable = await findBootable(this.#asBooted(), disks, this.#state.efi, this.#parts)
    if (bootable && !signal.aborted && this.#up?.outcome === 'disk') this.#runSystem(bootable)
  }

  #openSystem(kept: [string, unknown][]): InstalledSystem {
    const { store } = this.#parts
    const put = (name: string, value: () => unknown) => store.put(this.spec.id, 'system', name, value)
    return new InstalledSystem({ put }, new Map(kept))
  }

  async #booted(outcome: Boot['outcome'], signal: AbortSignal): Promise<Boot> {
    signal.throwIfAborted()
    const boot = this.#state.boot!
    boot.outcome = outcome
    await this.#keep()
    // The power button may have been pressed while the outcome was being kept.
    signal.throwIfAborted()
    this.#up = { id: boot.id, source: boot.source, outcome, ...(boot.live && { live: boot.live }) }
    this.#report('boot', { boot: boot.id, outcome })
    return this.#up
  }

  #ramdiskUp(boot: Boot): void {
    this.#startSession(boot)
    this.#startAgent(boot)
  }

  /** At once where it is part of the ramdisk; otherwise once its container has been pulled. */
  #startAgent(boot: Boot): void {
    const { events, clock, probe, logger } = this.#parts
    const agent = boot.live?.agent
    if (!agent || this.#state.boot?.agentUp) return events.ramdiskUp(this, boot)
    const controller = new AbortController()
    const { signal } = controller
    const parts = { machine: this.spec.id, clock, probe, signal, say: (line: string) => this.say(line) }
    const done = startAgentUnit(agent, parts)
      .then(async (runs) => {
        if (!runs || this.#up !== boot) return
        this.#state.boot!.agentUp = true
        await this.#keep()
        if (this.#up === boot) events.ramdiskUp(this, boot)
      })
      .catch((error: unknown) => {
        if (!signal.aborted) logger('error', `${agent.unit} of ${this.spec.id} broke: ${errorChain(error).join(': ')}`)
      })
    this.#unit = { controller, done }
  }

  async #endUnit(reason: unknown): Promise<void> {
    this.#unit?.controller.abort(reason)
    await this.#unit?.done
    this.#unit = undefined
  }

  #startSession(boot: Boot, restored?: KeptOfBoot): void {
    const { disks, store, clock, random, probe, pace, logger } = this.#parts
    this.#session = new RamdiskSession({
      spec: this.#asBooted(),
      boot,
      efi: this.#state.efi,
      mounts: this.#mounts,
      staged: this.#staged,
      disks: (signal) => disks.forBoot(signal),
      store,
      clock,
      random,
      probe,
      pace,
      logger,
      keep: () => this.#keep(),
      ...(this.firmware.inserted('cdrom') === undefined ? {} : { eject: () => this.firmware.release() }),
      request: (action) => this.#fromInside(action),
      ...(restored && { restored }),
    })
  }

  /** The machine as it was set up when it booted: another boot mode counts from the next time on. */
  #asBooted(): MachineSpec {
    const mode = this.#state.boot?.firmware ?? this.spec.firmware
    return mode === this.spec.firmware ? this.spec : { ...this.spec, firmware: mode }
  }

  /** The OS switches its own machine off: nobody waits for that. */
  #fromInside(action: 'power off' | 'reboot'): void {
    this.setPower(action === 'reboot' ? 'reboot' : 'off', { soft: true }).catch((error: unknown) => {
      if (!this.#closing.signal.aborted)
        this.#parts.logger('warn', `${this.spec.id} did not ${action}: ${errorChain(error).join(': ')}`)
    })
  }

  async #reach<T>(use: (session: RamdiskSession) => Promise<T>): Promise<T> {
    if (this.#session) return use(this.#session)
    const why = this.#state.power === 'off' ? 'is powered off' : 'does not run the ramdisk'
    throw new MachineUnreachable(`${this.spec.id} ${why}`)
  }

  #keep(): Promise<void> {
    this.#state.mounts = [...this.#mounts]
    this.#parts.store.put(this.spec.id, 'state', '', () => this.#state)
    return this.#parts.store.flush()
  }

  async #wait(ms: number): Promise<void> {
    if (ms > 0) await this.#parts.clock.sleep(ms, { signal: this.#closing.signal })
  }

  #report(kind: string, attributes: Record<string, unknown>): void {
    this.#parts.probe.report({ kind, machine: this.spec.id, ...attributes })
  }
}

/** A file of this process shows in the machine below /run, by the end of its path: its digest and its name. */
function stagedIn(files: Map<string, string>, stage: StageAsset): StageAsset {
  return async (asset, options) => {
    const staged = await stage(asset, options)
    if (staged?.from.kind !== 'file') return staged
    const path = `/run/ironstage/images/${staged.from.path.split(/[/\\]/).slice(-2).join('/')}`
    files.set(path, staged.from.path)
    return { ...staged, from: { kind: 'file', path }, [Symbol.asyncDispose]: () => staged[Symbol.asyncDispose]() }
  }
}
