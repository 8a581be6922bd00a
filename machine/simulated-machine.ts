import { errorChain, LazyMap, Mutex, sharedAbort, randomUuid, waitInQueue } from '../base/runtime/index.js'
import type { Executor, Target } from '../targets/index.js'
import { MachineRecord, type StoredBoot, type MachineState } from './machine-record.js'
import type { Boot, FirstBoot, Machine, MachinePower } from './machine.js'
import type { DiskSpec, MachineBootSource, MachineSpec } from './machine-spec.js'
import { chooseBootSource } from './boot/boot-source.js'
import { MachineBoot } from './boot/machine-boot.js'
import { addLine } from './console-lines.js'
import { swappedWhileOn, withCable, withDisk, type NewDisk } from './hardware/changed-hardware.js'
import type { MachineDisks, SeenDisk } from './machine-disks.js'
import { MachineFirmware } from './hardware/machine-firmware.js'
import type { BootingMachine, MachineParts } from './machine-parts.js'
import type { ConsolePoint, HardwarePoint, PowerPoint, PowerRequestPoint } from './machine-points.js'
import type { JournalLine } from './os/installed-system.js'
import { osReport, type OsReport } from './os/os-report.js'
import type { RunningOs } from './os/running-os.js'
import { OsOfBoots } from './os/running-system.js'
import type { MachineContents } from './machine-snapshot.js'
import { toRecord } from './ramdisk/file-record.js'
import { MachineUnreachable, SimulatorClosing, type RamdiskSession } from './ramdisk/ramdisk-session.js'
import { SessionExecutor } from './ramdisk/session-executor.js'
import type { RootTree } from './root/root-tree.js'
import { simulatedTarget } from './ramdisk/simulated-target.js'

/** A machine with its power, its console and the parts that other rooms use. */
export class SimulatedMachine implements Machine {
  readonly id: string
  readonly spec: MachineSpec
  readonly executor: Executor
  readonly target: Target
  readonly firmware: MachineFirmware
  readonly running: RunningOs
  readonly #parts: MachineParts
  readonly #disks: MachineDisks
  readonly #record: MachineRecord
  /** Serializes power changes. */
  #button = new Mutex()
  readonly #staged = new LazyMap<string, string>()
  #closing = sharedAbort()
  #presses = 0
  #console: string[] = []
  /** The current boot or, when off, the latest one of this process. */
  #boot: MachineBoot | undefined

  constructor(
    hardware: MachineSpec,
    state: MachineState,
    parts: MachineParts,
    disks: (spec: MachineSpec) => MachineDisks,
  ) {
    this.#record = new MachineRecord(hardware, state, parts.store)
    const { spec } = this.#record
    this.id = spec.id
    this.spec = spec
    this.#parts = parts
    this.#disks = disks(spec)
    this.firmware = new MachineFirmware(spec, (state.firmware ??= {}), {
      keep: () => this.#record.persist(),
      report: (point) => parts.probe.report(point),
      now: () => parts.clock.now(),
    })
    this.executor = new SessionExecutor((use) => this.#reach(use))
    this.running = new OsOfBoots(spec.id, () => (this.#boot?.running ? this.#boot.system : undefined))
    this.target = simulatedTarget(spec.id, this.executor, this.#staged, parts)
  }

  power(): MachinePower {
    return this.#record.state.power
  }

  boot(): Boot | undefined {
    return this.#boot?.running
  }

  lastBoot(): Boot | undefined {
    return this.boot() ?? this.#record.lastBoot()
  }

  console(): readonly string[] {
    return this.#console
  }

  say(line: string): void {
    addLine(this.#console, line)
    this.#record.note()
    this.#report({ kind: 'console', machine: this.id, line })
  }

  firstBoot(): FirstBoot | undefined {
    return this.#record.finishesFirstBoot ? undefined : (this.#record.state.firstBoot ?? undefined)
  }

  rootFiles(): RootTree | undefined {
    return this.#record.system.tree()
  }

  journal(): readonly JournalLine[] {
    return this.#record.system.journal
  }

  os(): OsReport | null {
    return osReport(this.#record.system)
  }

  diskFile(disk: string): Promise<string | undefined> {
    return this.#disks.fileOf(disk)
  }

  look<T>(disk: string, work: (seen: SeenDisk) => Promise<T>): Promise<T> {
    return this.#disks.look(disk, this.power() === 'on', work)
  }

  saved(name: string): unknown {
    return this.#record.saved(name)
  }

  save(name: string, value: unknown): Promise<void> {
    return this.#record.save(name, value)
  }

  async setBoot(source: MachineBootSource): Promise<void> {
    this.#record.state.source = source
    await this.#record.persist()
  }

  setPower(target: MachinePower | 'reboot', options: { soft?: boolean } = {}): Promise<void> {
    this.#presses++
    this.#record.note()
    const point: PowerRequestPoint = { kind: 'power', machine: this.id, target, soft: options.soft ?? false }
    const pressed = this.#button.run(() =>
      this.#parts.probe.around(point, async () => {
        if (target !== 'on') await this.#switchOff()
        if (target !== 'off') await this.#switchOn()
      }),
    )
    return pressed.finally(() => this.#presses--)
  }

  get takenOut(): readonly DiskSpec[] {
    return this.#record.hardware.takenOut ?? []
  }

  async setCarrier(nic: string, carrier: boolean): Promise<void> {
    const hardware = withCable(this.#record.hardware, nic, carrier)
    if (!hardware) return
    const changed = this.#record.change(hardware)
    this.#boot?.session?.linkChanged(nic)
    const what = `the cable of ${nic} was ${carrier ? 'plugged in' : 'pulled'}`
    this.#report({ kind: 'hardware', machine: this.id, what })
    await changed
  }

  swapDisk(disk: string, wanted: NewDisk = {}): Promise<void> {
    this.#presses++
    this.#record.note()
    const swapped = this.#button.run(async () => {
      const hardware = withDisk(this.#record.hardware, disk, wanted)
      if (this.power() === 'on') throw swappedWhileOn(this.spec.id)
      await this.#disks.close()
      await this.#record.change(hardware)
      this.#disks.fit()
      const { serial } = this.spec.disks.find(({ name }) => name === disk)!
      this.#report({ kind: 'hardware', machine: this.id, what: `the disk ${disk} is another one: ${serial}` })
    })
    return swapped.finally(() => this.#presses--)
  }

  /** True if its hardware was this one at some time. */
  had(hardware: MachineSpec): boolean {
    return this.#record.had(hardware)
  }

  /** True if it changes its power, boots or runs a program. */
  get isBusy(): boolean {
    return this.#presses > 0 || (this.#boot?.isBusy ?? false)
  }

  /** Name of a disk whose contents are in a file, and so in no snapshot. */
  writtenFile(): Promise<string | undefined> {
    return this.#disks.writtenFile()
  }

  /** True if one of its disks is a file, which no snapshot has. */
  get hasFiles(): boolean {
    return this.#disks.hasFiles
  }

  /** True if nothing was written to its disks since a snapshot. */
  hasDisksOf({ disks }: MachineContents): boolean {
    return this.#disks.are(disks)
  }

  /** True if its ramdisk runs, and the agent in it. */
  get runsRamdisk(): boolean {
    return this.#boot?.session !== undefined
  }

  /** Only while it is not busy. */
  take(): MachineContents {
    return {
      console: [...this.#console],
      // Not first, as V8 would give each of thousands of snapshots a shape of its own.
      ...this.#record.take(),
      staged: [...this.#staged],
      disks: this.#disks.take(),
      session: this.#boot?.session?.take() ?? null,
    }
  }

  /** Ends what it does, for {@link adopt}. What waits for a time that is never reached does not end. */
  async end(): Promise<void> {
    const ended = new MachineUnreachable(`${this.spec.id} went back to a snapshot`)
    this.#closing.abort(ended)
    await this.#boot?.abandon(ended)
    if (this.#presses > 0) await this.#button.run(() => {})
  }

  /** Closes its disks, after {@link end}. */
  discard(): Promise<void> {
    return this.#disks[Symbol.asyncDispose]()
  }

  /** Becomes what it was in a snapshot, after {@link end}. Nothing runs before {@link resume}. */
  async adopt(snapshot: MachineContents): Promise<void> {
    this.#closing = sharedAbort()
    this.#button = new Mutex()
    this.#presses = 0
    this.#boot = undefined
    this.#staged.clear()
    for (const [path, file] of snapshot.staged) this.#staged.set(path, file)
    await this.#record.adopt(snapshot)
    await this.#disks.restore(snapshot.disks)
    this.#console = [...snapshot.console]
    const { session, saved, system } = snapshot
    this.#bootAgain({
      saved,
      system,
      runs: session?.runs ?? [],
      files: (session?.files ?? []).map(([path, node]) => [path, toRecord(node)]),
    })
  }

  /** Restores the state of an earlier process. Nothing runs before {@link resume}. */
  restore(stored: StoredBoot): void {
    this.#record.restore(stored)
    this.#bootAgain(stored)
  }

  #bootAgain(stored: StoredBoot): void {
    const { power, boot } = this.#record.state
    if (power === 'off' || !boot) return
    if (boot.outcome !== null) this.#console = boot.live?.console ?? this.#console
    this.#boot = new MachineBoot(this.#booting(), boot)
    this.#boot.restore(stored)
  }

  /** Continues the restored boot. */
  resume(): void {
    if (this.power() === 'on') this.#boot?.resume()
  }

  /** Ends the work of this process. The machine stays as it is in the state folder. */
  async close(): Promise<void> {
    const closing = new SimulatorClosing()
    this.#closing.abort(closing)
    await this.#boot?.abandon(closing)
    await this.#disks[Symbol.asyncDispose]()
  }

  async #switchOn(): Promise<void> {
    const { state } = this.#record
    if (state.power === 'on') return
    const { clock, pace, random } = this.#parts
    await this.#wait(pace.power)
    this.#record.forgetBoot()
    this.#console = []
    state.power = 'on'
    state.efi.current = null
    const override = this.firmware.booting()
    const boot = {
      id: randomUuid(random),
      source: chooseBootSource(override, state.source),
      outcome: null,
      reported: false,
      firmware: this.firmware.bootMode,
    }
    state.boot = boot
    this.firmware.note('power on')
    await this.#record.persist()
    this.#report({ kind: 'power', machine: this.id, power: 'on', at: clock.now() })
    this.#boot = new MachineBoot(this.#booting(), boot)
    this.#boot.start()
    // A boot that takes no time has ended before the caller goes on.
    await waitInQueue(clock)
  }

  async #switchOff(): Promise<void> {
    const { state, mounts } = this.#record
    if (state.power === 'off') return
    await this.#wait(this.#parts.pace.power)
    const ended = this.boot()
    await this.#boot?.end(new MachineUnreachable(`${this.spec.id} lost power`))
    state.power = 'off'
    mounts.clear()
    this.firmware.note('power off')
    await this.#record.persist()
    await this.#disks.close()
    this.#report({ kind: 'power', machine: this.id, power: 'off' })
    if (ended) this.#parts.events.down(this, ended)
  }

  #booting(): BootingMachine {
    return {
      machine: this,
      record: this.#record,
      parts: this.#parts,
      disks: this.#disks,
      staged: this.#staged,
      console: this.#console,
      request: (action) => this.#fromInside(action),
    }
  }

  /** Switches the machine off from inside its OS, without waiting for it. */
  #fromInside(action: 'power off' | 'reboot'): void {
    this.setPower(action === 'reboot' ? 'reboot' : 'off', { soft: true }).catch((error: unknown) => {
      if (!this.#closing.aborted)
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

  #report(point: ConsolePoint | HardwarePoint | PowerPoint): void {
    this.#parts.probe.report(point)
  }
}
