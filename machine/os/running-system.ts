import { errorChain, Mutex } from '../../base/runtime/index.js'
import type { BootingMachine } from '../machine-parts.js'
import type { Bootable } from '../boot/bootable.js'
import { withBootPlace } from '../disk/boot-place.js'
import { parentFolderOf, newFile } from '../root/root-tree.js'
import { MachineUnreachable } from '../ramdisk/ramdisk-session.js'
import { titleOf } from './deployments.js'
import type { JournalLine } from './system-journal.js'
import type { RunningOs } from './running-os.js'
import { addEntry } from './loader-entries.js'
import { pullDeployment, type ImagePullPoint } from './pivot.js'
import { NO_REGISTRY, PullFailure } from './machine-registry.js'

/** Probe point around the writing of the boot entry of a deployment. */
export interface BootEntryPoint {
  readonly kind: 'boot-entry'
  readonly machine: string
  readonly title: string
}

/** One run of the installed system, from the end of its boot to the loss of power. */
export class RunningSystem {
  readonly #booting: BootingMachine
  readonly #find: (signal: AbortSignal) => Promise<Bootable | undefined>
  readonly #controller = new AbortController()
  readonly #work = new Mutex()

  constructor(booting: BootingMachine, find: (signal: AbortSignal) => Promise<Bootable | undefined>) {
    this.#booting = booting
    this.#find = find
  }

  write(path: string, bytes: Uint8Array, mode = 0o644): Promise<void> {
    return this.#edit((system) =>
      system.edit((tree) => {
        tree.mkdirs(parentFolderOf(path))
        tree.put(path, newFile(bytes, { mode }))
      }),
    )
  }

  remove(path: string): Promise<void> {
    return this.#edit((system) => system.edit((tree) => tree.remove(path)))
  }

  log(from: string, priority: JournalLine['priority'], message: string): void {
    const { record, parts } = this.#booting
    record.system.print({ at: parts.clock.now(), from, priority, message })
  }

  rebase(image: string): Promise<void> {
    return this.#work.run(async () => {
      const { machine, record, parts } = this.#booting
      const { system } = record
      const { registry = NO_REGISTRY, clock, probe } = parts
      const { signal } = this.#controller
      signal.throwIfAborted()
      if (!system.os || system.isPivoting) throw new PullFailure('another transaction is in progress')
      if (system.os.booted.image === image) return
      const point: ImagePullPoint = { kind: 'image-pull', machine: machine.spec.id, image }
      const { deployment } = await probe.around(point, () => pullDeployment({ system, registry, signal }, image))
      signal.throwIfAborted()
      system.keepOs({ ...system.os, staged: deployment })
      system.print({
        at: clock.now(),
        from: 'rpm-ostree[1544]',
        priority: 'info',
        message: `Staged deployment of ${deployment.version}; reboot to start it`,
      })
      await record.persist()
    })
  }

  reboot(): Promise<void> {
    return this.#work.run(async () => {
      const { record, request } = this.#booting
      const { signal } = this.#controller
      const staged = record.system.os?.staged
      if (staged) {
        // ostree-finalize-staged.service writes the boot entry at shutdown: a loss of power before loses the deployment.
        const bootable = await this.#find(signal)
        if (bootable) await this.#finalize(bootable, titleOf(staged))
      }
      signal.throwIfAborted()
      request('reboot')
    })
  }

  /** A system whose entry cannot be written, as of a /boot that is full, goes down all the same, and comes up as it was. */
  async #finalize({ device, bootPlace }: Bootable, title: string): Promise<void> {
    const { machine, parts } = this.#booting
    const { clock, probe } = parts
    try {
      const point: BootEntryPoint = { kind: 'boot-entry', machine: machine.spec.id, title }
      await probe.around(point, () => withBootPlace(device, bootPlace, clock, (volume) => addEntry(volume, title)))
      await device.flush()
    } catch (error) {
      this.#controller.signal.throwIfAborted()
      this.log('ostree[3107]', 'err', `error: Finalizing deployment: ${errorChain(error).join(': ')}`)
    }
  }

  /** Ends it by loss of power, or with this process. */
  async end(reason: unknown): Promise<void> {
    this.#controller.abort(reason)
    await this.#work.run(() => Promise.resolve())
  }

  #edit(change: (system: BootingMachine['record']['system']) => void): Promise<void> {
    return this.#work.run(async () => {
      this.#controller.signal.throwIfAborted()
      change(this.#booting.record.system)
      await this.#booting.record.persist()
    })
  }
}

/** A machine's {@link RunningOs} over all of its boots. */
export class OsOfBoots implements RunningOs {
  readonly #name: string
  readonly #current: () => RunningSystem | undefined
  #watchers: Set<(path: string) => void> | undefined

  /** @param current the system that runs */
  constructor(name: string, current: () => RunningSystem | undefined) {
    this.#name = name
    this.#current = current
  }

  async write(path: string, bytes: Uint8Array, mode?: number): Promise<void> {
    await this.#reached().write(path, bytes, mode)
    this.#changed(path)
  }

  async remove(path: string): Promise<void> {
    await this.#reached().remove(path)
    this.#changed(path)
  }

  log(from: string, priority: JournalLine['priority'], message: string): void {
    this.#reached().log(from, priority, message)
  }

  async rebase(image: string): Promise<void> {
    await this.#reached().rebase(image)
  }

  async reboot(): Promise<void> {
    await this.#reached().reboot()
  }

  watch(changed: (path: string) => void): Disposable {
    const watchers = (this.#watchers ??= new Set())
    watchers.add(changed)
    return { [Symbol.dispose]: () => void watchers.delete(changed) }
  }

  #changed(path: string): void {
    for (const changed of this.#watchers ?? []) changed(path)
  }

  #reached(): RunningSystem {
    const system = this.#current()
    if (!system) throw new MachineUnreachable(`${this.#name} does not run the system on its disk`)
    return system
  }
}
