import { defined, errorChain, waitInQueue } from '../../base/runtime/index.js'
import type { Bootable } from './bootable.js'
import { bootDisk, findOnDisks, type DiskBootEnd } from './disk-boot.js'
import { loadMedium, selfTest } from './load-medium.js'
import { bootInOrder } from './ordered-boot.js'
import type { BootOverride } from '../hardware/boot-override.js'
import type { BootState, StoredBoot } from '../machine-record.js'
import { startAgentUnit } from '../live/run-agent-unit.js'
import type { LiveMedium, LiveOutcome } from '../live/live-boot.js'
import type { Boot } from '../machine.js'
import type { BootingMachine } from '../machine-parts.js'
import { runNodeImage } from '../os/later-boot.js'
import { NO_REGISTRY } from '../os/machine-registry.js'
import { RunningSystem } from '../os/running-system.js'
import { RamdiskSession } from '../ramdisk/ramdisk-session.js'

/** Probe point after a boot has come to its outcome. */
export interface BootPoint {
  readonly kind: 'boot'
  readonly machine: string
  /** Id of the boot. */
  readonly boot: string
  readonly outcome: Boot['outcome']
  /** Reason of one that failed. */
  readonly why?: string
}

/** Probe point after a system has found that it is on its node image already. */
export interface NodeImagePoint {
  readonly kind: 'node-image'
  readonly machine: string
}

/** Background work of a boot, which the end of the boot aborts. */
interface BootWork {
  controller: AbortController
  done: Promise<unknown>
}

const FAILED: readonly Boot['outcome'][] = ['no bootable device', 'kernel panic', 'emergency shell']

/** The reason of a failed boot: the last line of the console says more than the outcome. */
const reasonOf = ({ live }: BootState): string | undefined => live?.failure ?? live?.console.at(-1)

/** The failed boot in the BMC's log, which has an entry with the reason already for each device of the boot order. */
function loggedFailure(outcome: Boot['outcome'], state: BootState): string {
  const { kind } = state.source
  const reason = kind === 'boot order' ? undefined : reasonOf(state)
  return reason ? `${kind}: ${outcome}: ${reason}` : `${kind}: ${outcome}`
}

/** One boot of a machine, from power-on to power-off: it starts from each kind of source and runs what the system starts. */
export class MachineBoot {
  readonly #booting: BootingMachine
  readonly #state: BootState
  /** The boot, once its outcome is stored. */
  #running: Boot | undefined
  #session: RamdiskSession | undefined
  #starting: BootWork | undefined
  /** The agent's unit, or the update of the installed system. */
  #unit: BootWork | undefined
  #system: RunningSystem | undefined
  /** Pieces of background work that have not ended. */
  #working = 0

  /** @param state the stored state of this boot */
  constructor(booting: BootingMachine, state: BootState) {
    this.#booting = booting
    this.#state = state
  }

  /** Undefined while the machine is booting, and after the end. */
  get running(): Boot | undefined {
    return this.#running
  }

  get session(): RamdiskSession | undefined {
    return this.#session
  }

  /** The system on the disk, while it is up. */
  get system(): RunningSystem | undefined {
    return this.#system
  }

  /** True on the way up, and while something runs. */
  get isBusy(): boolean {
    return this.#working > 0 || (this.#session?.isBusy ?? false)
  }

  start(): void {
    const { machine, parts } = this.#booting
    const controller = new AbortController()
    this.#working++
    const done = waitInQueue(parts.clock)
      .then(() => this.#bootFromSource(controller.signal))
      .catch((error: unknown) => {
        if (!controller.signal.aborted)
          parts.logger('error', `${machine.spec.id} could not boot: ${errorChain(error).join(': ')}`, { error })
      })
      .finally(() => {
        this.#starting = undefined
        this.#working--
      })
    this.#starting = { controller, done }
  }

  /** Restores a boot of an earlier process. Nothing runs before {@link resume}. */
  restore(stored: StoredBoot): void {
    this.#running = this.#booting.record.lastBoot()
    if (this.#running?.outcome === 'ramdisk') this.#startSession(this.#running, stored)
  }

  /** Continues a restored boot. */
  resume(): void {
    if (this.#starting) return
    if (this.#state.outcome === null) this.start()
    else if (this.#running && this.#session) this.#startAgent(this.#running)
    else if (this.#running?.outcome === 'disk') this.#runSystem((signal) => findOnDisks(this.#booting, signal))
  }

  /** Ends the boot by loss of power. Resolves when all that ran has ended. */
  async end(lost: unknown): Promise<void> {
    const session = this.#session
    this.#running = this.#session = undefined
    this.#starting?.controller.abort(lost)
    await this.#endSystem(lost)
    await this.#endUnit(lost)
    await session?.end('lost power')
    await this.#starting?.done
  }

  /** Ends the work of this process; the stored boot stays as it is. */
  async abandon(reason: unknown): Promise<void> {
    this.#starting?.controller.abort(reason)
    await this.#starting?.done
    await this.#endSystem(reason)
    await this.#endUnit(reason)
    await this.#session?.abandon()
    this.#session = undefined
  }

  async #bootFromSource(signal: AbortSignal): Promise<void> {
    const { firmware } = this.#booting.machine
    const { source } = this.#state
    if (source.kind === 'boot order') return this.#bootInOrder(source.override, signal)
    await selfTest(source.kind === 'disk' ? 'disk' : 'ramdisk', this.#booting, signal)
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
    await this.#mediumBooted(await loadMedium(medium, this.#booting, this.#state, signal), signal)
  }

  async #mediumBooted(outcome: LiveOutcome, signal: AbortSignal): Promise<void> {
    if (outcome === 'ramdisk') this.#ramdiskUp(await this.#booted(outcome, signal))
    else await this.#booted(outcome, signal)
  }

  async #bootInOrder(override: BootOverride | undefined, signal: AbortSignal): Promise<void> {
    const end = await bootInOrder(override, this.#booting, this.#state, signal)
    switch (end.kind) {
      case 'medium':
        return this.#mediumBooted(end.outcome, signal)
      case 'disk':
        return this.#diskBooted(end.end, signal)
      case 'nothing':
        await this.#booted('no bootable device', signal)
        return
      case 'power off':
        this.#booting.request('power off')
    }
  }

  async #bootDisk(signal: AbortSignal): Promise<void> {
    await this.#diskBooted(await bootDisk(this.#booting, signal), signal)
  }

  async #diskBooted({ outcome, system }: DiskBootEnd, signal: AbortSignal): Promise<void> {
    await this.#booted(outcome, signal)
    if (system) this.#runSystem(() => Promise.resolve(system))
  }

  async #booted(outcome: Boot['outcome'], signal: AbortSignal): Promise<Boot> {
    const { machine, record, parts } = this.#booting
    signal.throwIfAborted()
    this.#state.outcome = outcome
    const isFailed = FAILED.includes(outcome)
    const why = isFailed ? reasonOf(this.#state) : undefined
    if (isFailed) machine.firmware.note('boot failed', loggedFailure(outcome, this.#state))
    else machine.firmware.note('boot', this.#state.source.kind)
    await record.persist()
    // The power button may have been pressed while the outcome was being stored.
    signal.throwIfAborted()
    this.#running = record.lastBoot()!
    const { id } = this.#running
    const point: BootPoint = {
      kind: 'boot',
      machine: machine.spec.id,
      boot: id,
      outcome,
      ...defined({ why: why || undefined }),
    }
    parts.probe.report(point)
    return this.#running
  }

  #ramdiskUp(boot: Boot): void {
    this.#startSession(boot)
    this.#startAgent(boot)
  }

  #startSession(boot: Boot, restored?: StoredBoot): void {
    this.#session = new RamdiskSession(this.#booting, boot, restored)
  }

  /** Starts the agent: at once when it is part of the ramdisk, otherwise when its container has been pulled. */
  #startAgent(boot: Boot): void {
    const { machine, record, parts } = this.#booting
    const { clock, probe, events } = parts
    const agent = boot.live?.agent
    if (!agent || this.#state.agentUp) return events.ramdiskUp(machine, boot)
    this.#startUnit(agent.unit, async (signal) => {
      const say = (line: string) => machine.say(line)
      const runs = await startAgentUnit(agent, { machine: machine.spec.id, clock, probe, signal, say })
      if (!runs || this.#running !== boot) return
      this.#state.agentUp = true
      await record.persist()
      if (this.#running === boot) events.ramdiskUp(machine, boot)
    })
  }

  /** Updates the installed system to its cluster's node image, and reboots it. */
  #runSystem(find: (signal: AbortSignal) => Promise<Bootable | undefined>): void {
    const { machine, record, parts, request } = this.#booting
    const { system } = record
    this.#system = new RunningSystem(this.#booting, find)
    if (!system.isPivoting) return
    const { registry = NO_REGISTRY, clock, probe } = parts
    this.#startUnit('the system', async (signal) => {
      const bootable = await find(signal)
      if (!bootable) return
      const persist = () => record.persist()
      const id = machine.spec.id
      const isStaged = await runNodeImage(bootable, {
        machine: id,
        system,
        registry,
        clock,
        probe,
        signal,
        persist,
      })
      if (!isStaged) {
        const point: NodeImagePoint = { kind: 'node-image', machine: id }
        return probe.report(point)
      }
      // A machine that was switched off meanwhile must not start itself again.
      signal.throwIfAborted()
      request('reboot')
    })
  }

  #startUnit(name: string, run: (signal: AbortSignal) => Promise<void>): void {
    const { machine, parts } = this.#booting
    const controller = new AbortController()
    this.#working++
    const done: Promise<unknown> = waitInQueue(parts.clock)
      .then(() => run(controller.signal))
      .catch((error: unknown) => {
        if (!controller.signal.aborted)
          parts.logger('error', `${name} of ${machine.spec.id} broke: ${errorChain(error).join(': ')}`, { error })
      })
      .finally(() => this.#working--)
    this.#unit = { controller, done }
  }

  async #endSystem(reason: unknown): Promise<void> {
    const system = this.#system
    this.#system = undefined
    await system?.end(reason)
  }

  async #endUnit(reason: unknown): Promise<void> {
    this.#unit?.controller.abort(reason)
    await this.#unit?.done
    this.#unit = undefined
  }
}
