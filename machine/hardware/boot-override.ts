import type { MachineSpec } from '../machine-spec.js'

/** Devices that a BMC can be asked to boot, by the names of Redfish's `ComputerSystem.BootSource`. */
export type BootTarget =
  'None' | 'Pxe' | 'Floppy' | 'Cd' | 'Usb' | 'Hdd' | 'BiosSetup' | 'Diags' | 'UefiTarget' | 'UefiHttp'

export const BOOT_OVERRIDES = ['Disabled', 'Once', 'Continuous'] as const

/** A BMC's order to boot a device before what the boot order names. */
export interface BootOverride {
  target: BootTarget
  /** `Once` ends with the next boot, as it begins. */
  enabled: (typeof BOOT_OVERRIDES)[number]
  /** Device of {@link target} `UefiTarget`: a UEFI device path, or the reference of a {@link BootOption}. */
  uefiTarget: string | null
  /** URL of {@link target} `UefiHttp`; null to ask DHCP for it. */
  httpBootUri: string | null
  /** Name that the BMC has for the target, where it is another: `UsbCd`. */
  name?: string
}

/** A device that the firmware can boot. */
export interface BootOption {
  /** `NIC.1`: name in the boot order. */
  reference: string
  /** Kind of the device. */
  target: 'Pxe' | 'UefiHttp' | 'Cd' | 'Usb' | 'Hdd'
  name: string
  /** Kernel name of the disk or NIC; null for virtual media. */
  device: string | null
  path: string
}

/** Stored boot settings; what is missing has its factory value. */
export interface BootSettingsState {
  override?: Partial<BootOverride>
  /** References of the boot options, in the order in which they are tried. */
  order?: readonly string[]
}

const NO_OVERRIDE: BootOverride = { target: 'None', enabled: 'Disabled', uefiTarget: null, httpBootUri: null }

/**
 * A machine's boot options, in the factory's boot order: disks, virtual media, NICs whose network boot is enabled. HTTP
 * boot is UEFI's. The virtual floppy is no option: it has parameters for the agent, and no system.
 */
function bootOptions({ disks, nics }: Pick<MachineSpec, 'disks' | 'nics'>, mode: 'uefi' | 'bios'): BootOption[] {
  const ofDisks = disks.map(({ name, model }, index): BootOption => {
    const path = `PciRoot(0x0)/Pci(0x17,0x0)/Sata(0x${index},0xFFFF,0x0)`
    return { reference: `Disk.${index + 1}`, target: 'Hdd', name: model, device: name, path }
  })
  const ofNics = nics.flatMap(({ name, mac, pxe: isEnabled }, index): BootOption[] => {
    if (!isEnabled) return []
    const path = `PciRoot(0x0)/Pci(0x1,0x${index})/MAC(${mac.replaceAll(':', '').toUpperCase()},0x1)/IPv4(0.0.0.0)`
    const pxe: BootOption = { reference: `NIC.${index + 1}`, target: 'Pxe', name: `${name} PXE`, device: name, path }
    if (mode === 'bios') return [pxe]
    const http = { reference: `HTTP.${index + 1}`, target: 'UefiHttp', name: `${name} HTTP` } as const
    return [pxe, { ...http, device: name, path: `${path}/Uri()` }]
  })
  const medium = (reference: string, target: BootOption['target'], name: string, port: number): BootOption => {
    return { reference, target, name, device: null, path: `PciRoot(0x0)/Pci(0x14,0x0)/USB(0x${port},0x0)` }
  }
  return [...ofDisks, medium('CD.1', 'Cd', 'Virtual CD', 1), medium('USB.1', 'Usb', 'Virtual USB stick', 3), ...ofNics]
}

/** The parts of a firmware's state that boots follow. */
interface BootedFirmware {
  boot?: BootSettingsState
  bootMode?: 'uefi' | 'bios'
}

/** The boot override and the boot order of a machine. A change is stored when its promise resolves. */
export class BootSettings {
  readonly #spec: MachineSpec
  readonly #firmware: BootedFirmware
  readonly #keep: () => Promise<void>

  constructor(spec: MachineSpec, firmware: BootedFirmware, keep: () => Promise<void>) {
    this.#spec = spec
    this.#firmware = firmware
    this.#keep = keep
  }

  get override(): BootOverride {
    return { ...NO_OVERRIDE, ...this.#state.override }
  }

  async setOverride(change: Partial<BootOverride>): Promise<void> {
    const override = { ...this.override, ...change }
    const isFactory = Object.entries(NO_OVERRIDE).every(([key, value]) => override[key as keyof BootOverride] === value)
    const { override: _, ...rest } = this.#state
    await this.#set(isFactory ? rest : { ...rest, override })
  }

  /** @param mode boot mode, by default the present one */
  options(mode = this.#firmware.bootMode ?? this.#spec.firmware): BootOption[] {
    return bootOptions(this.#spec, mode)
  }

  /** References of all boot options: the set order, then those that it lacks. */
  get order(): readonly string[] {
    const all = this.options().map(({ reference }) => reference)
    // The stored order may name options of the other boot mode, and those of earlier versions.
    const order = (this.#state.order ?? []).filter((reference) => all.includes(reference))
    return [...order, ...all.filter((reference) => !order.includes(reference))]
  }

  /** True if the boot order was ever set. */
  get isOrdered(): boolean {
    return this.#state.order !== undefined
  }

  async setOrder(order: readonly string[]): Promise<void> {
    await this.#set({ ...this.#state, order: [...order] })
  }

  get #state(): BootSettingsState {
    return this.#firmware.boot ?? {}
  }

  #set(state: BootSettingsState): Promise<void> {
    this.#firmware.boot = state
    return this.#keep()
  }

  /** The override for the boot that begins, which ends one for a single boot. The caller stores the state. */
  taken(): { override: BootOverride | undefined; left: BootSettingsState } {
    const { override } = this
    const { override: _, ...rest } = this.#state
    if (override.enabled === 'Disabled' || override.target === 'None') return { override: undefined, left: this.#state }
    return { override, left: override.enabled === 'Once' ? rest : this.#state }
  }
}
