import { errorChain, Mutex, sharedAbort, uuid } from '../runtime/index.js'
import type { Executor, Target } from '../targets/index.js'
import { KeptMachine, type KeptOfBoot, type MachineState } from './kept-machine.js'
import type { Boot, FirstBoot, Machine, MachinePower } from './machine.js'
import type { MachineBootSource, MachineSpec } from './machine-spec.js'
import { MachineBoot } from './boot/machine-boot.js'
import { MachineFirmware } from './hardware/machine-firmware.js'
import type { BootingMachine, MachineParts } from './machine-parts.js'
import type { JournalLine } from './os/installed-system.js'
import { osReport, type OsReport } from './os/os-report.js'
import { MachineUnreachable, type RamdiskSession } from './ramdisk/ramdisk-session.js'
import type { RootTree } from './root/root-tree.js'
import { stagedIn } from './ramdisk/staged-files.js'

/** Lines of a console that are kept. */
const CONSOLE_LINES = 200

/** One machine: its power button, and what others see and reach of it. */
export class SimulatedMachine implements Machine {
  readonly executor: Executor
  readonly target: Target
  readonly firmware: MachineFirmware
  readonly #parts: MachineParts
  readonly #kept: KeptMachine
  /** Power changes happen one after another, in the order in which they were asked for. */
  readonly #button = new Mutex()
  readonly #staged = new Map<string, string>()
  readonly #closing = sharedAbort()
  #console: string[] = []
  /** The current boot or, when off, the latest one of this process. */
  #boot: MachineBoot | undefined

  constructor(
    readonly spec: MachineSpec,
    state: MachineState,
    parts: MachineParts,
  ) {
    this.#parts = parts
    this.#kept = new KeptMachine(spec, state, parts.store)
    this.firmware = new MachineFirmware(
      spec,
      (state.firmware ??= {}),
      () => this.#kept.keep(),
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
    return this.#kept.state.power
  }

  boot(): Boot | undefined {
    return this.#boot?.up
  }

  lastBoot(): Boot | undefined {
    return this.boot() ?? this.#kept.lastBoot()
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
    return this.#kept.state.firstBoot ?? undefined
  }

  rootFiles(): RootTree | undefined {
    return this.#kept.system.tree()
  }

  journal(): readonly JournalLine[] {
    return this.#kept.system.journal
  }

  os(): OsReport | null {
    return osReport(this.#kept.system)
  }

  diskFile(disk: string): Promise<string | undefined> {
    return this.#parts.disks.fileOf(disk)
  }

  saved(name: string): unknown {
    return this.#kept.saved(name)
  }

  save(name: string, value: unknown): Promise<void> {
    return this.#kept.save(name, value)
  }

  get medium(): string | undefined {
    const { source } = this.#kept.state
    return source.kind === 'iso' ? source.url : undefined
  }

  async setBoot(source: MachineBootSource): Promise<void> {
    this.#kept.state.source = source
    await this.#kept.keep()
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
    this.#kept.restore(kept)
    const { power, boot } = this.#kept.state
    if (power === 'off' || !boot) return
    if (boot.outcome !== null) this.#console = boot.live?.console ?? []
    this.#boot = new MachineBoot(this.#booting(), boot)
    this.#boot.restore(kept)
  }

  /** Lets it live on from where it was restored. */
  resume(): void {
    if (this.power() === 'on') this.#boot?.resume()
  }

  /** Closes this process's part. The machine stays as it is in the state folder. */
  async close(): Promise<void> {
    const closing = new MachineUnreachable('ironstage is closing')
    this.#closing.abort(closing)
    await this.#boot?.abandon(closing)
    await this.#parts.disks[Symbol.asyncDispose]()
  }

  async #switchOn(): Promise<void> {
    const { state } = this.#kept
    if (state.power === 'on') return
    const { clock, pace, random } = this.#parts
    await this.#wait(pace.power)
    this.#kept.forgetBoot()
    this.#console = []
    state.power = 'on'
    state.efi.current = null
    this.firmware.booting()
    const boot = {
      id: uuid(random),
      source: state.source,
      outcome: null,
      reported: false,
      firmware: this.firmware.bootMode,
    }
    state.boot = boot
    await this.#kept.keep()
    this.#report('power', { power: 'on', at: clock.now() })
    this.#boot = new MachineBoot(this.#booting(), boot)
    this.#boot.start()
  }

  async #switchOff(): Promise<void> {
    const { state, mounts } = this.#kept
    if (state.power === 'off') return
    await this.#wait(this.#parts.pace.power)
    const up = this.boot()
    await this.#boot?.end(new MachineUnreachable(`${this.spec.id} lost power`))
    state.power = 'off'
    mounts.clear()
    await this.#kept.keep()
    await this.#parts.disks.close()
    this.#report('power', { power: 'off' })
    if (up) this.#parts.events.down(this, up)
  }

  #booting(): BootingMachine {
    return {
      machine: this,
      kept: this.#kept,
      parts: this.#parts,
      staged: this.#staged,
      console: this.#console,
      request: (action) => this.#fromInside(action),
    }
  }

  /** The OS switches its own machine off: nobody waits for that. */
  #fromInside(action: 'power off' | 'reboot'): void {
    this.setPower(action === 'reboot' ? 'reboot' : 'off', { soft: true }).catch((error: unknown) => {
      if (!this.#closing.signal.aborted)
        this.#parts.logger('warn', `${this.spec.id} did not ${action}: ${errorChain(error).join(': ')}`)
    })
  }

  async #reach<T>(use: (session: RamdiskSession) => Promise<T>): Promise<T> {
    const session = this.#boot?.session
    if (session) return use(session)
    const why = this.power() === 'off' ? 'is powered off' : 'does not run the ramdisk'
    throw new MachineUnreachable(`${this.spec.id} ${why}`)
  }

  async #wait(ms: number): Promise<void> {
    if (ms > 0) await this.#parts.clock.sleep(ms, { signal: this.#closing.signal })
  }

  #report(kind: string, attributes: Record<string, unknown>): void {
    this.#parts.probe.report({ kind, machine: this.spec.id, ...attributes })
  }
}
