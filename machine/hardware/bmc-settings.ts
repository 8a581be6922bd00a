/** Settings of a BMC that only IPMI has. A missing one has its factory value. */
export interface BmcSettings {
  /** State of the machine's power once it comes back. */
  powerRestorePolicy?: 'always off' | 'previous' | 'always on'
  /** Data of the boot flags as they were set, where they say more than the boot override. */
  bootFlags?: readonly number[]
  /** Bits that keep the boot flags valid, as IPMI's boot option 3 has them. */
  bootFlagClearing?: number
  /** The boot initiator acknowledgement, as IPMI's boot option 4 has it. */
  bootInfoAcknowledge?: readonly number[]
}

/** The settings of a machine's BMC that only IPMI has. A change is stored when its promise resolves. */
export class IpmiSettings {
  readonly #state: { bmcSettings?: BmcSettings }
  readonly #keep: () => Promise<void>

  constructor(state: { bmcSettings?: BmcSettings }, keep: () => Promise<void>) {
    this.#state = state
    this.#keep = keep
  }

  get(): Readonly<BmcSettings> {
    return this.#state.bmcSettings ?? {}
  }

  async set(change: BmcSettings): Promise<void> {
    this.#state.bmcSettings = { ...this.#state.bmcSettings, ...change }
    await this.#keep()
  }
}
