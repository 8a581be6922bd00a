import { errorChain } from '../../runtime/index.js'
import type { Bootable } from './bootable.js'
import { bootDisk, findOnDisks } from './disk-boot.js'
import type { BootState, KeptOfBoot } from '../kept-machine.js'
import { startAgentUnit } from '../live/agent-unit.js'
import { NO_NETWORK } from '../live/boot-network.js'
import { bootLive, type LiveMedium } from '../live/live-boot.js'
import { missingDriver } from '../live/live-version.js'
import type { Boot } from '../machine.js'
import type { BootingMachine } from '../machine-parts.js'
import { runNodeImage } from '../os/later-boot.js'
import { NO_REGISTRY } from '../os/registry.js'
import { RamdiskSession } from '../ramdisk/ramdisk-session.js'

/** Work that ends with the boot at the latest. */
interface Work {
  controller: AbortController
  done: Promise<void>
}

/** One boot of a machine, from power-on to power-off: the way up from each kind of source, and what then runs. */
export class MachineBoot {
  readonly #booting: BootingMachine
  readonly #state: BootState
  /** The boot, once it has got where it goes and that is kept. */
  #up: Boot | undefined
  #session: RamdiskSession | undefined
  #wayUp: Work | undefined
  /** What runs in the booted system by itself. */
  #unit: Work | undefined

  /** @param state what is kept of this boot */
  constructor(booting: BootingMachine, state: BootState) {
    this.#booting = booting
    this.#state = state
  }

  /** Undefined on the way up, and after the end. */
  get up(): Boot | undefined {
    return this.#up
  }

  get session(): RamdiskSession | undefined {
    return this.#session
  }

  start(): void {
    const { machine, parts } = this.#booting
    const controller = new AbortController()
    const done = this.#bootUp(controller.signal)
      .catch((error: unknown) => {
        if (!controller.signal.aborted)
          parts.logger('error', `${machine.spec.id} could not boot: ${errorChain(error).join(': ')}`, { error })
      })
      .finally(() => (this.#wayUp = undefined))
    this.#wayUp = { controller, done }
  }

  /** Takes up a boot of an earlier process. Nothing happens before {@link resume}. */
  restore(kept: KeptOfBoot): void {
    this.#up = this.#booting.kept.lastBoot()
    if (this.#up?.outcome === 'ramdisk') this.#startSession(this.#up, kept)
  }

  /** Lets it go on from where it was restored. */
  resume(): void {
    if (this.#wayUp) return
    if (this.#state.outcome === null) this.start()
    else if (this.#up && this.#session) this.#startAgent(this.#up)
    else if (this.#up?.outcome === 'disk') this.#runSystem((signal) => findOnDisks(this.#booting, signal))
  }

  /** Power is lost: at once nothing is up any more. Resolves when all that ran has ended. */
  async end(lost: unknown): Promise<void> {
    const session = this.#session
    this.#up = this.#session = undefined
    this.#wayUp?.controller.abort(lost)
    await this.#endUnit(lost)
    await session?.end('lost power')
    await this.#wayUp?.done
  }

  /** Ends this process's part only. */
  async abandon(reason: unknown): Promise<void> {
    this.#wayUp?.controller.abort(reason)
    await this.#wayUp?.done
    await this.#endUnit(reason)
    await this.#session?.abandon()
    this.#session = undefined
  }

  async #bootUp(signal: AbortSignal): Promise<void> {
    const { machine, parts } = this.#booting
    const { firmware } = machine
    const { clock, pace } = parts
    const { source } = this.#state
    const time = source.kind === 'disk' ? pace.bootDisk : pace.bootRamdisk
    if (time > 0) await clock.sleep(time, { signal })
    switch (source.kind) {
      case 'ramdisk':
        return this.#ramdiskUp(await this.#booted('ramdisk', signal))
      case 'live':
        await this.#booted('live', signal)
        return
      case 'iso':
        await firmware.hold()
        return this.#bootMedium(source, signal)
      case 'pxe':
        return this.#bootMedium(source, signal)
      case 'cdrom':
        return this.#bootMediumOrDisk(firmware.inserted('cdrom'), signal)
      case 'disk':
        return this.#bootMediumOrDisk(firmware.heldMedium, signal)
    }
  }

  #bootMediumOrDisk(iso: string | undefined, signal: AbortSignal): Promise<void> {
    return iso === undefined ? this.#bootDisk(signal) : this.#bootMedium({ kind: 'iso', url: iso }, signal)
  }

  async #bootMedium(medium: LiveMedium, signal: AbortSignal): Promise<void> {
    const { machine, parts, console } = this.#booting
    const { network = NO_NETWORK, clock, probe } = parts
    const say = (line: string) => machine.say(line)
    const { outcome: came, live } = await bootLive(medium, {
      machine: machine.spec.id,
      network,
      clock,
      probe,
      signal,
      say,
    })
    signal.throwIfAborted()
    const failure = missingDriver(live.kernelArguments, machine.spec.supportedSince)
    const outcome = failure !== null && came === 'ramdisk' ? 'live' : came
    if (failure !== null) {
      Object.assign(live, { agent: null, failure })
      say(failure)
    }
    this.#state.live = { ...live, console }
    if (outcome === 'ramdisk') this.#ramdiskUp(await this.#booted(outcome, signal))
    else await this.#booted(outcome, signal)
  }

  async #bootDisk(signal: AbortSignal): Promise<void> {
    const { outcome, system } = await bootDisk(this.#booting, signal)
    await this.#booted(outcome, signal)
    if (system) this.#runSystem(() => Promise.resolve(system))
  }

  async #booted(outcome: Boot['outcome'], signal: AbortSignal): Promise<Boot> {
    const { machine, kept, parts } = this.#booting
    signal.throwIfAborted()
    this.#state.outcome = outcome
    await kept.keep()
    // The power button may have been pressed while the outcome was being kept.
    signal.throwIfAborted()
    this.#up = kept.lastBoot()!
    parts.probe.report({ kind: 'boot', machine: machine.spec.id, boot: this.#up.id, outcome })
    return this.#up
  }

  #ramdiskUp(boot: Boot): void {
    this.#startSession(boot)
    this.#startAgent(boot)
  }

  #startSession(boot: Boot, restored?: KeptOfBoot): void {
    const { machine, kept, parts, staged, request } = this.#booting
    const { disks, store, clock, random, probe, pace, logger } = parts
    const { firmware } = machine
    this.#session = new RamdiskSession({
      spec: kept.asBooted(),
      boot,
      efi: kept.state.efi,
      mounts: kept.mounts,
      staged,
      disks: (signal) => disks.forBoot(signal),
      store,
      clock,
      random,
      probe,
      pace,
      logger,
      keep: () => kept.keep(),
      ...(firmware.inserted('cdrom') === undefined ? {} : { eject: () => firmware.release() }),
      request,
      ...(restored && { restored }),
    })
  }

  /** At once where it is part of the ramdisk; otherwise once its container has been pulled. */
  #startAgent(boot: Boot): void {
    const { machine, kept, parts } = this.#booting
    const { clock, probe, events } = parts
    const agent = boot.live?.agent
    if (!agent || this.#state.agentUp) return events.ramdiskUp(machine, boot)
    this.#startUnit(agent.unit, async (signal) => {
      const say = (line: string) => machine.say(line)
      const runs = await startAgentUnit(agent, { machine: machine.spec.id, clock, probe, signal, say })
      if (!runs || this.#up !== boot) return
      this.#state.agentUp = true
      await kept.keep()
      if (this.#up === boot) events.ramdiskUp(machine, boot)
    })
  }

  /** What the system on the disk does by itself once it is up: it becomes what its cluster wants. */
  #runSystem(find: (signal: AbortSignal) => Promise<Bootable | undefined>): void {
    const { machine, kept, parts, request } = this.#booting
    const { system } = kept
    if (!system.isPivoting) return
    const { registry = NO_REGISTRY, clock, probe } = parts
    this.#startUnit('the system', async (signal) => {
      const bootable = await find(signal)
      if (!bootable) return
      const keep = () => kept.keep()
      await runNodeImage(bootable, { machine: machine.spec.id, system, registry, clock, probe, signal, keep })
      // Whoever was switched off meanwhile does not start itself again.
      signal.throwIfAborted()
      request('reboot')
    })
  }

  #startUnit(name: string, run: (signal: AbortSignal) => Promise<void>): void {
    const { machine, parts } = this.#booting
    const controller = new AbortController()
    const done = run(controller.signal).catch((error: unknown) => {
      if (!controller.signal.aborted)
        parts.logger('error', `${name} of ${machine.spec.id} broke: ${errorChain(error).join(': ')}`, { error })
    })
    this.#unit = { controller, done }
  }

  async #endUnit(reason: unknown): Promise<void> {
    this.#unit?.controller.abort(reason)
    await this.#unit?.done
    this.#unit = undefined
  }
}
