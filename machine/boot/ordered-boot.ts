import type { BootOverride } from '../hardware/boot-override.js'
import { NO_NETWORK } from '../live/boot-network.js'
import type { LiveMedium, LiveOutcome } from '../live/live-boot.js'
import type { BootState } from '../machine-record.js'
import type { BootingMachine } from '../machine-parts.js'
import { bootOverNetwork } from '../network/boot-over-network.js'
import type { FirmwareFacts } from '../network/ipxe-settings.js'
import type { ScriptEnd } from '../network/ipxe.js'
import { systemUuid } from '../ramdisk/ramdisk-tree.js'
import { bootAttempts, type BootAttempt } from './boot-order.js'
import { bootDisk, type DiskBootEnd } from './disk-boot.js'
import { loadMedium, selfTest } from './load-medium.js'

/** The end of a boot by its order. */
export type OrderedEnd =
  | { kind: 'medium'; outcome: Exclude<LiveOutcome, 'no bootable device'> }
  | { kind: 'disk'; end: DiskBootEnd }
  | { kind: 'nothing' }
  | { kind: 'power off' }

/**
 * Tries the device of the override and then the boot order, until one boots. The console and the BMC's log record why each earlier
 * device failed. Sets `state` to the source and the details of the device that booted.
 */
export async function bootInOrder(
  override: BootOverride | undefined,
  booting: BootingMachine,
  state: BootState,
  signal: AbortSignal,
): Promise<OrderedEnd> {
  const { machine, parts } = booting
  const { network = NO_NETWORK } = parts
  const boot = new OrderedBoot(booting, state, signal)
  for (const attempt of bootAttempts(override, machine, network.bootScript)) {
    if (attempt.kind === 'setup') {
      boot.fail('BIOS', `the machine stays in ${attempt.what}, as its BMC was asked to`)
      break
    }
    const end = await boot.tryDevice(attempt)
    if (end) return end
  }
  return boot.endWithoutSystem()
}

/** One boot by the order: what its devices have in common, and why they failed so far. */
class OrderedBoot {
  readonly #booting: BootingMachine
  readonly #state: BootState
  readonly #signal: AbortSignal
  readonly #failures: string[] = []

  constructor(booting: BootingMachine, state: BootState, signal: AbortSignal) {
    this.#booting = booting
    this.#state = state
    this.#signal = signal
  }

  /** Tries one device; undefined when it does not boot. */
  async tryDevice(attempt: Exclude<BootAttempt, { kind: 'setup' }>): Promise<OrderedEnd | undefined> {
    switch (attempt.kind) {
      case 'nothing':
        this.fail(attempt.from, attempt.why)
        return undefined
      case 'medium':
        await selfTest('ramdisk', this.#booting, this.#signal)
        if (attempt.from === 'virtual CD') await this.#booting.machine.firmware.hold()
        return this.#tryMedium(attempt.from, attempt.medium)
      case 'network':
        return this.#tryNetwork(attempt.nic, attempt.bootScript)
      case 'disk': {
        await selfTest('disk', this.#booting, this.#signal)
        const end = await this.#tryDisks()
        if (!end) this.fail('disk', 'no bootable system')
        return end
      }
    }
  }

  fail(from: string, why: string): void {
    this.#booting.machine.say(`${from}: ${why}`)
    this.#noteFailure(`${from}: ${why}`)
  }

  /** The details of a boot in which no device booted. */
  endWithoutSystem(): OrderedEnd {
    const failures = this.#failures
    this.#state.live = {
      kernelArguments: '',
      ignition: null,
      files: [],
      agent: null,
      console: this.#booting.console,
      failure: failures.length > 0 ? failures.join('; ') : 'no device of the boot order has anything to boot',
    }
    return { kind: 'nothing' }
  }

  async #tryMedium(from: string, medium: LiveMedium): Promise<OrderedEnd | undefined> {
    const state = this.#state
    const outcome = await loadMedium(medium, this.#booting, state, this.#signal)
    if (outcome !== 'no bootable device') {
      state.source = medium.kind === 'iso' ? { kind: 'iso', url: medium.url } : medium
      return { kind: 'medium', outcome }
    }
    // The console has the reason already.
    this.#noteFailure(`${from}: ${state.live?.failure ?? outcome}`)
    return undefined
  }

  async #tryDisks(): Promise<OrderedEnd | undefined> {
    const end = await bootDisk(this.#booting, this.#signal)
    if (end.outcome === 'no bootable device') return undefined
    this.#state.source = { kind: 'disk' }
    delete this.#state.live
    return { kind: 'disk', end }
  }

  async #tryNetwork(nic: string, bootScript: string): Promise<OrderedEnd | undefined> {
    await selfTest('ramdisk', this.#booting, this.#signal)
    const end = await this.#runBootScript(nic, bootScript)
    switch (end.kind) {
      case 'power off':
        return { kind: 'power off' }
      case 'next':
        this.fail('PXE', end.why)
        return undefined
      case 'kernel':
      case 'iso':
        return this.#tryMedium('PXE', mediumOf(end))
      case 'disk': {
        const booted = await this.#tryDisks()
        if (!booted) this.fail('PXE', 'the boot script chooses the disks, which have no bootable system')
        return booted
      }
    }
  }

  #runBootScript(nic: string, bootScript: string): Promise<ScriptEnd> {
    const { machine, parts } = this.#booting
    const { network = NO_NETWORK, clock } = parts
    return bootOverNetwork(bootScript, {
      network,
      clock,
      signal: this.#signal,
      say: (line) => machine.say(line),
      facts: factsOf(this.#booting, nic),
    })
  }

  #noteFailure(line: string): void {
    this.#failures.push(line)
    this.#booting.machine.firmware.note('boot failed', line)
  }
}

const mediumOf = (end: ScriptEnd & { kind: 'kernel' | 'iso' }): LiveMedium =>
  end.kind === 'iso' ? end : { kind: 'pxe', kernel: end.kernel, ramdisk: end.ramdisk, append: end.append }

/** Facts that a boot script may ask for; `nic` is the NIC that boots. */
function factsOf({ machine, record }: BootingMachine, nic: string): FirmwareFacts {
  const { spec } = machine
  const { nics, serial, manufacturer, product, architecture } = spec
  const boots = ({ name }: (typeof nics)[number]): boolean => name === nic
  const ordered = [...nics.filter(boots), ...nics.filter((one) => !boots(one))]
  return {
    macs: ordered.map(({ mac }) => mac),
    platform: record.asBooted().firmware === 'uefi' ? 'efi' : 'pcbios',
    architecture,
    serial,
    manufacturer,
    product,
    uuid: systemUuid(spec),
  }
}
