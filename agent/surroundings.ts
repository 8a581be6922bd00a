import type { Clock } from '../runtime/index.js'
import type { HardwareManager, TargetHardware } from '../steps/index.js'
import type { Target } from '../targets/index.js'
import type { InspectionData } from '../wire/index.js'
import { inspectionData, type HardwareReader } from './inspection.js'
import { systemLogs } from './log-collection.js'
import { Managers } from './managers.js'

/** What an agent knows of the machine it runs on. Asked once a start; neither a failure is remembered, nor what is no longer needed. */
export class Surroundings {
  readonly #options: SurroundingsOptions
  #managers: Promise<Managers> | undefined
  #hardware: Promise<TargetHardware> | undefined
  #macs: string[] | undefined

  constructor(options: SurroundingsOptions) {
    this.#options = options
  }

  managers(): Promise<Managers> {
    if (!this.#managers) {
      const probing = Managers.probe(this.#options.managers, this.#options.target)
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

  /** As it is now. */
  read(): Promise<TargetHardware> {
    return this.#options.hardware(this.#options.target)
  }

  /** The start is over: an inventory is most of what an agent would carry around while nobody wants anything of it. */
  settle(): void {
    this.#hardware = undefined
  }

  async macs(): Promise<string[]> {
    // Remembered on their own: the node is looked up again long after the inventory is gone.
    this.#macs ??= (await this.hardware()).inventory.interfaces.map((nic) => nic.mac_address)
    return this.#macs
  }

  async inspectionData(collectors: readonly string[]): Promise<InspectionData> {
    const { target, clock, signal, lldpTimeout, ownLog } = this.#options
    return inspectionData({
      ...{ target, collectors, clock, lldpTimeout, signal },
      managers: await this.managers(),
      hardware: () => this.hardware(),
      logs: () => systemLogs({ target, clock, signal, ownLog: ownLog() }),
    })
  }
}

export interface SurroundingsOptions {
  target: Target
  managers: readonly HardwareManager[]
  hardware: HardwareReader
  clock: Clock
  /** Milliseconds. */
  lldpTimeout: number
  /** Aborted when the agent is stopped. */
  signal: AbortSignal
  ownLog(): readonly string[]
}
