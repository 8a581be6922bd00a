import type { HttpThrough } from '../base/bytes/index.js'
import type { BootNetwork } from './live/boot-network.js'
import { checkSpec } from './hardware/check-spec.js'
import { join } from 'node:path'
import { defined, withClockHeld, makeFolder, UserError } from '../base/runtime/index.js'
import { newState, type StoredBoot, type MachineState } from './machine-record.js'
import { DiskFolder, MachineDisks, type DiskParts } from './machine-disks.js'
import { forgetfulStore, openMachineStore, type MachineStore, type StoredRecord } from './machine-store.js'
import type { MachineParts } from './machine-parts.js'
import type { MachineContents } from './machine-snapshot.js'
import type { MachineSnapshots, Machine, Machines } from './machine.js'
import type { MachineBootSource, MachineSpec } from './machine-spec.js'
import type { FileRecord } from './ramdisk/file-record.js'
import type { StoredRun } from './ramdisk/run-log.js'
import { SimulatedMachine } from './simulated-machine.js'
import { ERRORS } from './errors.js'

export interface MachinesOptions extends Omit<MachineParts, 'store' | 'downloads'> {
  /** Folder of `machines.db` and `disks/`; null stores nothing, and closing the machines deletes their disk files. */
  stateDir: string | null
  /** Hears that the disk of `stateDir` is full: what the machines do is not kept from then on. */
  onStoreFull?: (error: UserError) => void
  /** Sees the requests of a machine for files. */
  downloads?: (machine: string) => HttpThrough
}

/**
 * Opens the machines of a state folder. A machine that was on at the end of the last process is on, in the same boot.
 * `events.ramdiskUp` is called again for those in their ramdisk, after this has resolved.
 *
 * @example
 * await using machines = await openMachines({ stateDir: null, clock, random, probe, logger, pace: NO_PACE, events })
 * const machine = await machines.create(defaultMachineSpec(1))
 * await machine.setBoot({ kind: 'ramdisk', parameters: { 'ipa-api-url': 'http://127.0.0.1:6385' } })
 * await machine.setPower('on')
 */
export async function openMachines(options: MachinesOptions): Promise<Machines> {
  const { stateDir, clock, logger, onStoreFull } = options
  if (stateDir !== null) await withClockHeld(clock, 'making the state folder', () => makeFolder(stateDir, 0o700))
  const onLoss = (sentence: string) => logger('warn', sentence)
  const store =
    stateDir === null
      ? forgetfulStore
      : openMachineStore(join(stateDir, 'machines.db'), clock, { onLoss, ...defined({ onFull: onStoreFull }) })
  const machines = new SimulatedMachines(options, store, new DiskFolder(stateDir, clock))
  machines.load(store.load())
  return machines
}

class SimulatedMachines implements Machines {
  readonly #parts: MachineParts
  readonly #diskParts: DiskParts
  readonly #downloads: MachinesOptions['downloads']
  readonly #store: MachineStore
  readonly #folder: DiskFolder
  readonly #machines = new Map<string, SimulatedMachine>()
  readonly #byBmc = new Map<string, SimulatedMachine>()
  #closed: Promise<void> | undefined

  /** The latest snapshot of each machine, and the machines that were changed since. */
  readonly #latest = new Map<string, MachineContents>()
  readonly #changed = new Set<string>()
  /** Machines that may differ from their latest snapshot without a change: those that are on, and those with files. */
  readonly #watched = new Set<string>()
  /** The snapshots that all machines are as, but for those in {@link #changed} and {@link #watched}. */
  #last: readonly MachineContents[] | undefined

  constructor(options: MachinesOptions, store: MachineStore, folder: DiskFolder) {
    const { clock, probe, logger, downloads } = options
    this.#store = noting(store, this.#changed)
    this.#folder = folder
    this.#downloads = downloads
    this.#parts = machinePartsOf(options, this.#store)
    this.#diskParts = { folder, clock, probe, logger, changing: (machine) => this.#store.note(machine) }
  }

  load(records: StoredRecord[]): void {
    const stored = new Map<string, { spec?: MachineSpec; state?: MachineState; boot: LoadedBoot }>()
    for (const { machine, kind, name, value } of records) {
      const entry = stored.get(machine) ?? { boot: { system: [], saved: [], files: [], runs: [] } }
      stored.set(machine, entry)
      switch (kind) {
        case 'spec':
          entry.spec = value as MachineSpec
          break
        case 'state':
          entry.state = value as MachineState
          break
        case 'system':
          entry.boot.system.push([name, value])
          break
        case 'saved':
          entry.boot.saved.push([name, value])
          break
        case 'file':
          entry.boot.files.push([name, value as FileRecord])
          break
        case 'run':
          entry.boot.runs.push([name, value as StoredRun])
      }
    }
    const resumed: SimulatedMachine[] = []
    for (const { spec, state, boot } of stored.values()) {
      if (!spec) continue
      const machine = this.#add(spec, state ?? newState())
      machine.restore(boot)
      resumed.push(machine)
    }
    if (resumed.length === 0) return
    // The event handlers need the machines, so wait until the caller has them.
    this.#parts.clock.queueWork(() => {
      if (!this.#closed) for (const machine of resumed) machine.resume()
    })
  }

  async create(spec: MachineSpec, source?: MachineBootSource): Promise<Machine> {
    checkSpec(spec)
    if (this.#machines.has(spec.id))
      throw new UserError('machine-exists', `there is a machine ${spec.id} already`, {
        remedy: 'use another id, or remove the old machine first',
      })
    const other = spec.bmc && this.byBmc(spec.bmc.address, spec.bmc.systemId)
    if (other)
      throw new UserError('bmc-taken', `the BMC of ${spec.id} is the one of ${other.spec.id}`, {
        remedy: ERRORS['bmc-taken'].remedy,
      })
    const state = newState(source)
    const machine = this.#add(spec, state)
    this.#store.put(spec.id, 'spec', '', () => spec)
    this.#store.put(spec.id, 'state', '', () => state)
    await this.#store.flush()
    return machine
  }

  async remove(id: string): Promise<void> {
    const machine = this.#machines.get(id)
    if (!machine) return
    await machine.setPower('off')
    await machine.close()
    this.#machines.delete(id)
    this.#last = undefined
    const { bmc } = machine.spec
    if (bmc) this.#byBmc.delete(bmcKey(bmc.address, bmc.systemId))
    this.#store.remove(id)
    await this.#store.flush()
    await this.#folder.forget(id)
  }

  readonly snapshots: MachineSnapshots = {
    busyWith: () => {
      for (const machine of this.#machines.values()) if (machine.isBusy) return `machine ${machine.spec.id} is at work`
      return undefined
    },
    writtenFile: async () => {
      for (const machine of this.#machines.values()) {
        const disk = machine.spec.disks.some(({ backing }) => backing.kind === 'file') && (await machine.writtenFile())
        if (disk !== false && disk !== undefined) return `disk ${disk} of machine ${machine.spec.id} is a file`
      }
      return undefined
    },
    take: () => {
      if (this.#last && this.#unlike(this.#last).length === 0) return this.#last
      return (this.#last = [...this.#machines.values()].map((machine) => this.#taken(machine)))
    },
    end: async (snapshots) => {
      const ending = this.#unlike(snapshots as readonly MachineContents[])
      // Without its work a machine would look as if nothing had changed.
      for (const { spec } of ending) this.#changed.add(spec.id)
      await Promise.all(ending.map((machine) => machine.end()))
    },
    restore: (snapshots) => this.#restore(snapshots as readonly MachineContents[]),
    runningRamdisk: () => {
      for (const machine of this.#machines.values()) if (machine.runsRamdisk) return machine.spec.id
      return undefined
    },
  }

  #taken(machine: SimulatedMachine): MachineContents {
    const { id } = machine
    const latest = this.#latest.get(id)
    if (latest && this.#isAs(latest, machine)) return latest
    const snapshot = machine.take()
    this.#keepLatest(machine, snapshot)
    return snapshot
  }

  #keepLatest(machine: SimulatedMachine, snapshot: MachineContents): void {
    const { id } = machine
    this.#latest.set(id, snapshot)
    this.#changed.delete(id)
    if (machine.power() === 'on' || machine.hasFiles) this.#watched.add(id)
    else this.#watched.delete(id)
  }

  /** True if a machine has not changed since a snapshot. One with an agent is never the same: its process ends. */
  #isAs(snapshot: MachineContents, machine: SimulatedMachine): boolean {
    const { id } = machine
    if (this.#latest.get(id) !== snapshot || this.#changed.has(id)) return false
    return !this.#watched.has(id) || (!machine.isBusy && !machine.runsRamdisk && machine.hasDisksOf(snapshot))
  }

  /** The machines that are not as in the snapshots. Looks at few of them where the snapshots are the last ones. */
  #unlike(snapshots: readonly MachineContents[]): SimulatedMachine[] {
    const suspects = snapshots === this.#last ? new Set([...this.#changed, ...this.#watched]) : this.#machines.keys()
    const machines = [...suspects].flatMap((id) => this.#machines.get(id) ?? [])
    if (machines.length === 0) return []
    const wanted = new Map(snapshots.map((snapshot) => [snapshot.spec.id, snapshot]))
    return machines.filter((machine) => {
      const snapshot = wanted.get(machine.id)
      return !snapshot || !this.#isAs(snapshot, machine)
    })
  }

  async #restore(snapshots: readonly MachineContents[]): Promise<() => void> {
    if (!this.#hasHardwareOf(snapshots)) await this.#exchange(snapshots)
    const adopted = this.#unlike(snapshots)
    this.#last = undefined
    if (adopted.length > 0) {
      const wanted = new Map(snapshots.map((snapshot) => [snapshot.spec.id, snapshot]))
      await Promise.all(adopted.map((machine) => machine.adopt(wanted.get(machine.id)!)))
      for (const machine of adopted) this.#keepLatest(machine, wanted.get(machine.id)!)
    }
    await this.#store.flush()
    this.#last = snapshots
    return () => {
      for (const machine of adopted) machine.resume()
    }
  }

  /** True if there are the machines of the snapshots, in their order. */
  #hasHardwareOf(snapshots: readonly MachineContents[]): boolean {
    if (snapshots === this.#last) return true
    const machines = [...this.#machines.values()]
    return machines.length === snapshots.length && machines.every((machine, n) => machine.had(snapshots[n]!.spec))
  }

  /** Removes the machines that are not in the snapshots, and makes those that are missing. */
  async #exchange(snapshots: readonly MachineContents[]): Promise<void> {
    const wanted = new Map(snapshots.map((snapshot) => [snapshot.spec.id, snapshot]))
    const before = new Map(this.#machines)
    await Promise.all(
      [...before.values()].map(async (machine) => {
        const { id } = machine
        const snapshot = wanted.get(id)
        if (snapshot && machine.had(snapshot.spec)) return
        before.delete(id)
        await machine.discard()
        this.#latest.delete(id)
        this.#store.remove(id)
        await this.#folder.forget(id)
      }),
    )
    this.#machines.clear()
    this.#byBmc.clear()
    for (const { spec } of snapshots) this.#put(before.get(spec.id) ?? this.#make(spec, newState()))
  }

  get(id: string): Machine | undefined {
    return this.#machines.get(id)
  }

  byBmc(address: string, systemId: string): Machine | undefined {
    return this.#byBmc.get(bmcKey(address, systemId))
  }

  list(): Machine[] {
    return [...this.#machines.values()]
  }

  [Symbol.asyncDispose](): Promise<void> {
    return (this.#closed ??= this.#close())
  }

  async #close(): Promise<void> {
    await Promise.all([...this.#machines.values()].map((machine) => machine.close()))
    await this.#store[Symbol.asyncDispose]()
    await this.#folder[Symbol.asyncDispose]()
  }

  #add(spec: MachineSpec, state: MachineState): SimulatedMachine {
    const machine = this.#make(spec, state)
    this.#last = undefined
    this.#put(machine)
    return machine
  }

  #put(machine: SimulatedMachine): void {
    const { id, bmc } = machine.spec
    this.#machines.set(id, machine)
    if (bmc) this.#byBmc.set(bmcKey(bmc.address, bmc.systemId), machine)
  }

  #make(spec: MachineSpec, state: MachineState): SimulatedMachine {
    const through = this.#downloads?.(spec.id)
    const parts = through ? seenParts(through, this.#parts) : this.#parts
    return new SimulatedMachine(spec, state, parts, (now) => new MachineDisks(now, this.#diskParts))
  }
}

/** The parts that all machines share. */
const machinePartsOf = (
  { stateDir: _, downloads: __, ...parts }: MachinesOptions,
  store: MachineStore,
): MachineParts => ({
  ...parts,
  store,
})

/** A network whose requests for a machine are seen. */
const seenBy = (through: HttpThrough, network: BootNetwork): BootNetwork => ({
  ...network,
  open: (url, options) => network.open(url, { ...options, through }),
})

/**
 * The parts of a machine whose downloads are seen. The spread does not come first: V8 gives the thousandth object that
 * begins with one a shape of its own, of 300 bytes.
 */
function seenParts(downloads: HttpThrough, { network, ...parts }: MachineParts): MachineParts {
  return network ? { downloads, network: seenBy(downloads, network), ...parts } : { downloads, ...parts }
}

/** Notes the machines that change. */
const noting = (store: MachineStore, changed: Set<string>): MachineStore => ({
  load: () => store.load(),
  put: (machine, kind, name, value) => {
    changed.add(machine)
    store.put(machine, kind, name, value)
  },
  remove: (machine, kind, name) => {
    changed.add(machine)
    store.remove(machine, kind, name)
  },
  note: (machine) => void changed.add(machine),
  flush: () => store.flush(),
  [Symbol.asyncDispose]: () => store[Symbol.asyncDispose](),
})

/** {@link StoredBoot} while its records are collected. */
type LoadedBoot = { -readonly [Kind in keyof StoredBoot]: StoredBoot[Kind][number][] }

const bmcKey = (address: string, systemId: string): string => `${address.length} ${address} ${systemId}`
