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
