import { errorChain, randomUuid, LazyMap, sharedAbort } from '../../base/runtime/index.js'
import type { TargetCommand, CommandExit, TargetFiles, RunningCommand } from '../../targets/index.js'
import { MemoryFileTree } from '../file-tree.js'
import { liveVersion } from '../live/live-version.js'
import type { Boot } from '../machine.js'
import type { DiskUser } from '../machine-disks.js'
import type { BootingMachine, MachineParts } from '../machine-parts.js'
import type { StoredBoot } from '../machine-record.js'
import type { MachineSpec } from '../machine-spec.js'
import { fileView, type FileView } from '../programs/files/file-view.js'
import { installedPrograms } from '../programs/installed.js'
import type { ProgramMachine } from '../programs/machine-program.js'
import { fromRecord, toRecord } from './file-record.js'
import { ramdiskTree } from './ramdisk-tree.js'
import { RunLog } from './run-log.js'
import { RunningProcess } from './running-process.js'
import { SessionFiles, type FilesOfSession } from './session-files.js'
import type { SessionState } from './session-state.js'

/** Probe point before a command runs on a simulated machine. `next()` resolves to a {@link CommandEnd}. */
export interface CommandPoint {
  readonly kind: 'command'
  /** Id of the machine. */
  readonly machine: string
  readonly argv: readonly [string, ...string[]]
}

/**
 * The end of a command. An interceptor can return another one: without calling `next()` the program does not run at all;
 * after it the program has run, and only its reported end differs. An interceptor that throws cuts the connection to the
 * machine: the run ends as `unknown`.
 */
export interface CommandEnd {
  exitCode: number
  /** Printed after everything that the program itself printed. */
  stderr?: string
}

/** The machine is off, has lost power, or runs another system than the ramdisk. */
export class MachineUnreachable extends Error {
  override name = 'MachineUnreachable'
  readonly code = 'EHOSTUNREACH'
}

/** The process that simulates the machine ends; the machine itself has its power. */
export class SimulatorClosing extends MachineUnreachable {
  constructor() {
    super('ironstage is closing')
  }
}

/** Abort reason of a cancelled program. */
class Cancelled extends Error {}

/** Records that an earlier process stored of a boot. */
type StoredSession = Pick<StoredBoot, 'files' | 'runs'>

interface RunEntry {
  log: RunLog
  /** Aborts the program. Its signal is made when it is first asked for, which most programs never do. */
  controller: AbortController
  stopped?: boolean
  program?: Promise<number>
}

/** One boot of the ramdisk, from the moment it is up: its files and the programs that run in it. */
export class RamdiskSession implements DiskUser, FilesOfSession {
  readonly files: TargetFiles
  readonly inside: ProgramMachine
  readonly #booting: BootingMachine
  readonly #parts: MachineParts
  readonly #tree: MemoryFileTree
  readonly #power = sharedAbort()
  readonly #runs = new LazyMap<string, RunEntry>()
  /** Those whose program runs, with its name if it may write. */
  readonly #programs = new LazyMap<RunEntry, string | null>()

  /** @param restored of a boot of an earlier process */
  constructor(booting: BootingMachine, boot: Boot, restored?: StoredSession) {
    const { machine, record, parts, disks, staged } = booting
    const spec = withCarriedImage(record.asBooted(), boot, parts)
    this.#booting = booting
    this.#parts = parts
    const tree = new MemoryFileTree(
      () => ramdiskTree(spec, boot),
      restored?.files.map(([path, stored]) => [path, fromRecord(stored)]),
      (path, node) => parts.store.put(spec.id, 'file', path, () => toRecord(node)),
    )
    this.#tree = tree
    const { firmware } = machine
    this.inside = {
      spec,
      boot,
      files: tree,
      disks: disks.forBoot(this, boot.id),
      efi: record.state.efi,
      mounts: record.mounts,
      staged,
      persist: () => record.persist(),
      request: (action) => void (this.#requested = action),
    }
    if (firmware.inserted('cdrom') !== undefined) this.inside.eject = () => firmware.release()
    for (const [id, stored] of restored?.runs ?? [])
      this.#runs.set(id, { log: RunLog.restore(id, stored), controller: new AbortController() })
    this.files = new SessionFiles(this)
  }

  get signal(): AbortSignal {
    return this.#power.signal
  }

  get isOver(): boolean {
    return this.#power.aborted
  }

  get writer(): string {
    return [...this.#programs.values()].findLast((name) => name) ?? 'ramdisk'
  }

  throwIfOver(): void {
    if (this.isOver) throw this.signal.reason
  }

  view(): FileView {
    return fileView(this.inside, this.#parts.clock)
  }

  flush(): Promise<void> {
    return this.#parts.store.flush()
  }

  #requested: 'power off' | 'reboot' | undefined

  /** Shows the cable of a NIC to programs; an interface that is down shows none. */
  linkChanged(name: string): void {
    const nic = this.inside.spec.nics.find((each) => each.name === name)
    const folder = `/sys/class/net/${name}`
    if (!nic || !this.inside.files.exists(`${folder}/carrier`)) return
    this.inside.files.write(`${folder}/carrier`, Buffer.from(nic.carrier ? '1\n' : '0\n'))
    this.inside.files.write(`${folder}/operstate`, Buffer.from(nic.carrier ? 'up\n' : 'down\n'))
  }

  async start(command: TargetCommand): Promise<RunningCommand> {
    const known = command.id === undefined ? undefined : this.#runs.get(command.id)
    if (known) return this.#follow(known, 0)
    const id = command.id ?? randomUuid(this.#parts.random)
    const entry: RunEntry = { log: this.#newLog(id, command), controller: new AbortController() }
    this.#runs.set(id, entry)
    // Store the run before it starts, so that a later process that gets the same id does not start it twice.
    if (command.id !== undefined) await this.#parts.store.flush()
    this.#parts.clock.queueWork(() => void this.#run(command, entry))
    return this.#follow(entry, 0)
  }

  attach(id: string, offset: number): Promise<RunningCommand> {
    const known = this.#runs.get(id)
    return known
      ? Promise.resolve(this.#follow(known, offset))
      : Promise.reject(
          Object.assign(new Error(`no run ${id} in this boot of ${this.inside.spec.id}`), { code: 'ENOENT' }),
        )
  }

  /** True if a program runs. */
  get isBusy(): boolean {
    return this.#programs.size > 0
  }

  take(): SessionState {
    const named = [...this.#runs].filter(([, { log }]) => log.ended)
    return { files: this.#tree.changes(), runs: named.map(([id, { log }]) => [id, log.record()]) }
  }

  /** Ends the boot: programs are aborted and lose access to the disks. Resolves when all of them have ended. */
  async end(why: string): Promise<void> {
    const reason = new MachineUnreachable(`${this.inside.spec.id} ${why}`)
    this.#power.abort(reason)
    for (const entry of this.#runs.values()) {
      if (entry.log.ended) continue
      this.#finish(entry.log, { kind: 'unknown', why: reason.message })
      stop(entry, reason)
    }
    await this.#programsEnded()
  }

  /** Ends the work of this process; a later process reports the programs as killed. */
  async abandon(): Promise<void> {
    const reason = new SimulatorClosing()
    this.#power.abort(reason)
    for (const entry of this.#runs.values()) if (!entry.log.ended) stop(entry, reason)
    await this.#programsEnded()
  }

  #newLog(id: string, command: TargetCommand): RunLog {
    const { store } = this.#parts
    const { spec } = this.inside
    if (command.id === undefined) return new RunLog(id, command.argv)
    let queued = false
    const queueRecord = () => {
      if (queued || this.isOver) return
      queued = true
      store.put(spec.id, 'run', id, () => {
        queued = false
        return log.record()
      })
    }
    const log: RunLog = new RunLog(id, command.argv, queueRecord)
    queueRecord()
    return log
  }

  #follow(entry: RunEntry, offset: number): RunningCommand {
    return entry.log.follow(offset, async () => {
      if (entry.log.ended) return
      stop(entry, new Cancelled('cancelled'))
      // Report the end only when the program has ended: until then it may still be writing.
      await entry.program?.catch(() => {})
      entry.log.finish({ kind: 'signalled', signal: 'SIGTERM' })
      await this.#parts.store.flush()
    })
  }

  async #run(command: TargetCommand, entry: RunEntry): Promise<void> {
    const { log, controller } = entry
    const { probe, store } = this.#parts
    const { spec } = this.inside
    let exit: CommandExit
    try {
      const point: CommandPoint = { kind: 'command', machine: spec.id, argv: command.argv }
      const end = await probe.around<CommandEnd>(point, () => this.#program(command, entry))
      if (end.stderr !== undefined) log.write('stderr', Buffer.from(end.stderr))
      exit = { kind: 'exited', code: end.exitCode }
    } catch (error) {
      exit =
        controller.signal.reason instanceof Cancelled
          ? { kind: 'signalled', signal: 'SIGTERM' }
          : { kind: 'unknown', why: errorChain(error).join(': ') }
    }
    // Store the end before it is reported, unless the boot is over and the run removed with it.
    if (!log.ended && !this.isOver && command.id !== undefined) {
      const record = { ...log.record(), exit }
      store.put(spec.id, 'run', log.id, () => record)
    }
    try {
      await store.flush()
    } catch (error) {
      // Nothing awaits a program's end but its log: on a full disk it ends without an outcome.
      exit = { kind: 'unknown', why: errorChain(error).join(': ') }
    }
    if (this.isOver && !log.ended) exit = { kind: 'signalled', signal: 'SIGKILL' }
    this.#finish(log, exit)
    // Only its caller, which has the run, can read it: the output would be most of what an idle ramdisk takes.
    if (command.id === undefined) this.#runs.delete(log.id)
    this.#actOnRequest()
  }

  async #program(command: TargetCommand, entry: RunEntry): Promise<CommandEnd> {
    const { log, controller } = entry
    const name = command.argv[0].split('/').at(-1)!
    const program = installedPrograms.get(name)
    if (!program) return { exitCode: 127, stderr: `${command.argv[0]}: command not found\n` }
    if (entry.stopped) throw controller.signal.reason
    const { logger } = this.#parts
    const { spec } = this.inside
    const write = (stream: 'stdout' | 'stderr', bytes: Uint8Array): void =>
      command.tty ? log.write('stdout', throughTerminal(bytes)) : log.write(stream, bytes)
    const process = new RunningProcess(command, this.inside, this.#parts, write, controller)
    this.#programs.set(entry, command.effect === 'writes' ? name : null)
    try {
      entry.program = program(process)
      return { exitCode: await entry.program }
    } catch (error) {
      if (!entry.stopped) logger('error', `${name} on ${spec.id} broke: ${errorChain(error).join(': ')}`, { error })
      throw error
    } finally {
      this.#programs.delete(entry)
    }
  }

  /** Followers of a program hear of the end of the boot after all that ends with it. */
  #finish(log: RunLog, exit: CommandExit): void {
    if (this.isOver) this.#parts.clock.queueWork(() => log.finish(exit))
    else log.finish(exit)
  }

  async #programsEnded(): Promise<void> {
    await Promise.allSettled([...this.#programs.keys()].flatMap(({ program }) => program ?? []))
  }

  #actOnRequest(): void {
    const action = this.#requested
    if (action === undefined || this.isOver) return
    this.#requested = undefined
    this.#parts.clock.queueWork(() => this.#booting.request(action))
  }
}

function stop(entry: RunEntry, reason: Error): void {
  entry.stopped = true
  entry.controller.abort(reason)
}

/** A pseudo-terminal writes CR LF for every LF (ONLCR). */
function throughTerminal(bytes: Uint8Array): Uint8Array {
  return Buffer.from(Buffer.from(bytes).toString('latin1').replaceAll('\n', '\r\n'), 'latin1')
}

/** The machine with the metal image that its live system carries, where that is known by the system's version. */
function withCarriedImage(spec: MachineSpec, { live }: Boot, { metalImageOf }: MachineParts): MachineSpec {
  const version = liveVersion(live?.kernelArguments ?? '')
  const metalImage = version === null ? undefined : metalImageOf?.(version)
  return metalImage === undefined ? spec : { ...spec, metalImage }
}
