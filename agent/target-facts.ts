import { errorChain, type Clock } from '../base/runtime/index.js'
import type { HardwareManager, ManagerStart, TargetHardware } from '../steps/index.js'
import type { Target } from '../targets/index.js'
import type { InspectionBody, InventoryInterface } from '../base/wire/index.js'
import { inspectionData, type HardwareReader } from './agent-inspection.js'
import { interfaceFrames } from './collectors/collect-lldp.js'
import { systemLogs } from './log-collection.js'
import { Managers } from './agent-managers.js'

/**
 * Hardware managers, inventory and MACs of the target, read once per start. Failures are not cached, and the inventory
 * is dropped when it is no longer needed.
 */
export class TargetFacts {
  readonly #options: TargetFactsOptions
  #managers: Promise<Managers> | undefined
  #hardware: Promise<TargetHardware> | undefined
  #macs: string[] | undefined

  constructor(options: TargetFactsOptions) {
    this.#options = options
  }

  managers(): Promise<Managers> {
    if (!this.#managers) {
      const probing = Managers.probe(this.#options.managers, this.#options.target, this.#options)
      this.#managers = probing
      probing.catch(() => (this.#managers = undefined))
    }
    return this.#managers
  }

  hardware(): Promise<TargetHardware> {
    if (!this.#hardware) {
      const reading = this.read()
      this.#hardware = reading
      reading.catch(() => (this.#hardware = undefined))
    }
    return this.#hardware
  }

  /** Reads the hardware without the cache. The managers come first: they may rename the system, and hide NICs. */
  async read(): Promise<TargetHardware> {
    const managers = await this.managers()
    const found = await this.#options.hardware(this.#options.target)
    const interfaces = managers.visibleInterfaces(await this.#withFrames(found.inventory.interfaces))
    return { ...found, inventory: { ...found.inventory, interfaces } }
  }

  /**
   * Interfaces with the LLDP frames of their switches, when those are collected (ironic-python-agent 13.0.0 hardware.py
   * list_network_interfaces). As there, interfaces have none when listening fails.
   */
  async #withFrames(interfaces: InventoryInterface[]): Promise<InventoryInterface[]> {
    const { target, clock, lldpTimeout: timeout, collectsLldp, signal, logger } = this.#options
    if (!collectsLldp) return interfaces
    try {
      const frames = await interfaceFrames(target, interfaces, { clock, timeout, signal })
      return interfaces.map((nic) => ({ ...nic, lldp: frames[nic.name] ?? null }))
    } catch (error) {
      signal.throwIfAborted()
      logger?.('warn', `cannot listen for LLDP frames: ${errorChain(error).join(': ')}`)
      return interfaces
    }
  }

  /** Drops the cached inventory after the start: it is most of the memory of an idle agent. */
  settle(): void {
    this.#hardware = undefined
  }

  async macs(): Promise<string[]> {
    // Cached apart from the inventory: the node may be looked up long after that is dropped.
    this.#macs ??= (await this.hardware()).inventory.interfaces.map((nic) => nic.mac_address)
    return this.#macs
  }

  async inspectionData(collectors: readonly string[], signal: AbortSignal): Promise<InspectionBody> {
    const { target, clock, lldpTimeout, ownLog } = this.#options
    return inspectionData({
      target,
      collectors,
      clock,
      lldpTimeout,
      signal,
      managers: await this.managers(),
      hardware: () => this.hardware(),
      logs: () => systemLogs({ target, clock, signal, ownLog: ownLog() }),
    })
  }
}

export interface TargetFactsOptions extends ManagerStart {
  target: Target
  managers: readonly HardwareManager[]
  hardware: HardwareReader
  clock: Clock
  /** Milliseconds. */
  lldpTimeout: number
  collectsLldp: boolean
  /** Ends listening for LLDP frames. */
  signal: AbortSignal
  ownLog(): readonly string[]
}
