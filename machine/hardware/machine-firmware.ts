import { maskedUrl } from '../../base/bytes/index.js'
import { dialectOf } from '../../bmc/dialects/index.js'
import { UserError, defined } from '../../base/runtime/index.js'
import { BmcLog, type BmcLogPoint, type LogEntry, type LogKind } from './bmc-log.js'
import { IpmiSettings } from './bmc-settings.js'
import { BootSettings, type BootOverride } from './boot-override.js'
import type { FirmwareValue } from './firmware-attribute.js'
import { factorySettings, settingProblem } from './firmware-settings.js'
import type {
  BmcClock,
  RedfishSubscription,
  FirmwareReport,
  FirmwareState,
  InstalledFirmware,
  MediaDrive,
  MediaOptions,
  MediaTrust,
  WrittenImage,
  SecureBootDatabase,
  MediumState,
} from './firmware-state.js'
import { firmwareVersions } from './firmware-versions.js'
import type { MachineSpec } from '../machine-spec.js'

/** Probe point after an event of a machine that changes no state. */
export interface SignalPoint {
  readonly kind: 'nmi' | 'bmc reset' | 'raw'
  readonly machine: string
  /** True if a reset of the BMC is a warm one. */
  readonly warm?: boolean
  /** Raw bytes, as Ironic writes them. */
  readonly bytes?: string
}

/** Parts of a machine that its firmware uses. */
export interface FirmwareParts {
  /** Stores the state. */
  keep: () => Promise<void>
  report: (point: BmcLogPoint | SignalPoint) => void
  now: () => number
}

const INDICATORS = { chassis: ['LED'], system: ['LED'] }
const INDICATOR_STATES = ['blinking', 'off', 'on']

/** Firmware and BMC of one machine, beyond its power. A change is stored when its promise resolves. */
export class MachineFirmware {
  readonly #spec: MachineSpec
  readonly #state: FirmwareState
  readonly #parts: FirmwareParts

  constructor(spec: MachineSpec, state: FirmwareState, parts: FirmwareParts) {
    this.#spec = spec
    this.#state = state
    this.#parts = parts
  }

  /** Boot override and boot order. */
  get boot(): BootSettings {
    return new BootSettings(this.#spec, this.#state, this.#parts.keep)
  }

  get log(): BmcLog {
    return new BmcLog(this.#state, this.#parts.now)
  }

  get ipmi(): IpmiSettings {
    return new IpmiSettings(this.#state, this.#parts.keep)
  }

  /** Adds an entry to the BMC's log, which is stored with the next change. */
  note(kind: LogKind, detail?: string): LogEntry {
    const entry = this.log.add(kind, detail)
    this.#parts.report({ kind: 'bmc log', machine: this.#spec.id, entry })
    return entry
  }

  async clearLog(): Promise<void> {
    this.log.clear()
    await this.#parts.keep()
  }

  get bootMode(): 'uefi' | 'bios' {
    return this.#state.bootMode ?? this.#spec.firmware
  }

  /** RAID volumes of the controller. They do not change the disks that programs see. */
  get volumes(): readonly Record<string, unknown>[] {
    return this.#state.volumes ?? []
  }

  report(): FirmwareReport {
    const settings = this.#state.settings ?? {}
    return {
      bootMode: this.bootMode,
      secureBoot: this.#state.secureBoot ?? false,
      vendor: this.#spec.manufacturer,
      health: this.#state.health ?? 'OK',
      bios: factorySettings(this.#spec).map((each) => ({ ...each, value: settings[each.name] ?? each.value })),
      firmware: this.versions(),
    }
  }

  /** The components and their versions. */
  versions(): InstalledFirmware[] {
    return firmwareVersions(this.#spec, this.#state.versions ?? {})
  }

  async setBootMode(mode: 'uefi' | 'bios'): Promise<void> {
    this.#state.bootMode = mode
    if (mode === 'bios') this.#state.secureBoot = false
    await this.#parts.keep()
  }

  /** @throws UserError when the boot mode is BIOS */
  async setSecureBoot(on: boolean): Promise<void> {
    if (on && this.bootMode === 'bios')
      throw new UserError('secure-boot', `${this.#spec.id} boots by BIOS, which knows no secure boot`)
    this.#state.secureBoot = on
    await this.#parts.keep()
  }

  /** Databases of secure boot without keys. */
  get emptyKeys(): readonly SecureBootDatabase[] {
    return this.#state.emptyKeys ?? []
  }

  /** Without the platform key secure boot is off. */
  async setEmptyKeys(databases: readonly SecureBootDatabase[]): Promise<void> {
    this.#state.emptyKeys = [...databases]
    if (databases.includes('PK')) this.#state.secureBoot = false
    await this.#parts.keep()
  }

  /**
   * Sets BIOS settings for the next boot.
   *
   * @throws UserError for a setting that the firmware lacks or that cannot have this value; then none is set
   */
  async setBios(settings: Readonly<Record<string, FirmwareValue>>): Promise<void> {
    this.#checkBios(settings)
    this.#state.pending = { ...this.#state.pending, ...this.#state.staged, ...settings }
    delete this.#state.staged
    await this.#parts.keep()
  }

  #checkBios(settings: Readonly<Record<string, FirmwareValue>>): void {
    const known = new Map(factorySettings(this.#spec).map((each) => [each.name, each]))
    const problems = Object.entries(settings).flatMap(
      ([name, value]) => settingProblem(name, value, known.get(name)) ?? [],
    )
    if (problems.length > 0) throw new UserError('bios-setting', problems.join('; '))
  }

  /** Settings that a BMC has taken without a time to apply them: they wait until one is named. */
  get stagedBios(): Readonly<Record<string, FirmwareValue>> {
    return this.#state.staged ?? {}
  }

  /** @throws UserError as {@link setBios} */
  async stageBios(settings: Readonly<Record<string, FirmwareValue>>): Promise<void> {
    this.#checkBios(settings)
    this.#state.staged = { ...this.#state.staged, ...settings }
    await this.#parts.keep()
  }

  async resetBios(): Promise<void> {
    this.#state.pending = null
    delete this.#state.staged
    await this.#parts.keep()
  }

  /** Settings that wait for the next boot; null for a reset to the factory values. */
  get pendingBios(): Readonly<Record<string, FirmwareValue>> | null | undefined {
    return this.#state.pending
  }

  /** Secure boot of the present boot, or the latest. */
  get bootedSecurely(): boolean {
    return this.#state.bootedSecurely ?? false
  }

  /**
   * Applies the settings that wait for a boot. The caller stores the state.
   *
   * @returns the override that this boot follows
   */
  booting(): BootOverride | undefined {
    const { pending, secureBoot = false } = this.#state
    if (secureBoot || this.#state.bootedSecurely) this.#state.bootedSecurely = secureBoot
    if (pending !== undefined) {
      this.#state.settings = pending === null ? {} : { ...this.#state.settings, ...pending }
      delete this.#state.pending
      this.note('bios applied', pending === null ? 'factory values' : Object.keys(pending).join(', '))
    }
    const { override, left } = this.boot.taken()
    if (override) this.#state.boot = left
    return override
  }

  /**
   * Flashes a component. The new version is that of the image's file name, or the next one when it has none.
   *
   * @throws UserError for a component that the machine does not have
   */
  async flash(component: string, url: string): Promise<void> {
    const current = this.versions().find((each) => each.component === component)
    if (!current) throw new UserError('firmware-component', `${this.#spec.id} has no firmware component ${component}`)
    const named = /\d+(?:\.\d+)+/.exec(url.split(/[?#]/)[0]!.split('/').at(-1)!)?.[0]
    const version = named ?? current.version.replace(/\d+$/, (last) => String(Number(last) + 1))
    this.#state.versions = { ...this.#state.versions, [component]: version }
    this.note('firmware updated', `${component} ${version}`)
    await this.#parts.keep()
  }

  /** The slots of the system, or else those of its manager, as its BMC lists them. */
  media(): MediumState[] {
    const { slots, systemLink } = dialectOf(this.#spec).media
    const folder = systemLink === 'own' ? 'Systems' : 'Managers'
    return slots
      .filter(({ below }) => below.includes(folder))
      .map(({ drive, types }) => {
        const image = (drive === null ? undefined : this.inserted(drive)) ?? null
        return { image, inserted: image !== null, media_types: [...types] }
      })
  }

  /** True if its BMC has a slot for images that is this drive, and takes them as Redfish has it. */
  hasSlot(device: MediaDrive): boolean {
    const { slots, insertBy } = dialectOf(this.#spec).media
    return insertBy !== 'config' && insertBy !== 'none' && slots.some(({ drive }) => drive === device)
  }

  /** URL of the medium in a slot. */
  inserted(device: MediaDrive): string | undefined {
    return this.#state.media?.[device]
  }

  /** Details of the medium in a slot. */
  mediaOptions(device: MediaDrive): MediaOptions {
    return this.#state.mediaOptions?.[device] ?? {}
  }

  /** Verification of image servers' certificates by a slot. */
  mediaTrust(device: MediaDrive): MediaTrust {
    return this.#state.mediaTrust?.[device] ?? { verify: false, certificates: [] }
  }

  async trustMedia(device: MediaDrive, change: Partial<MediaTrust>): Promise<void> {
    const trust = { ...this.mediaTrust(device), ...change }
    this.#state.mediaTrust = { ...this.#state.mediaTrust, [device]: trust }
    await this.#parts.keep()
  }

  /** The image that a client has written where an action mounts it; undefined if none has. */
  get writtenImage(): WrittenImage | undefined {
    return this.#state.writtenImage
  }
  writeImage(image: WrittenImage): Promise<void> {
    this.#state.writtenImage = image
    return this.#parts.keep()
  }

  get bmcClock(): BmcClock {
    return this.#state.bmcClock ?? { ahead: 0, offset: '+00:00' }
  }
  setBmcClock(clock: BmcClock): Promise<void> {
    this.#state.bmcClock = clock
    return this.#parts.keep()
  }

  /** URL of the image that was ejected last from a slot; undefined if none was. */
  ejected(device: MediaDrive): string | undefined {
    return this.#state.ejected?.[device]
  }

  async insert(device: MediaDrive, url: string, options: MediaOptions = {}): Promise<void> {
    this.#state.media = { ...this.#state.media, [device]: url }
    const { [device]: _, ...others } = this.#state.mediaOptions ?? {}
    this.#state.mediaOptions = Object.keys(options).length === 0 ? others : { ...others, [device]: { ...options } }
    this.note('media inserted', `${device} ${maskedUrl(url)}`)
    await this.#parts.keep()
  }

  /** The held CD, which is booted before every other source; undefined without one. */
  get heldMedium(): string | undefined {
    return this.#state.held ? this.inserted('cdrom') : undefined
  }

  /** Holds the CD when the machine boots from it and is of that kind. */
  async hold(): Promise<void> {
    if (!this.#spec.holdsBootMedia || this.inserted('cdrom') === undefined) return
    this.#state.held = true
    await this.#parts.keep()
  }

  /** Ejects the held CD, as the running system does. */
  async release(): Promise<void> {
    delete this.#state.held
    await this.eject(['cdrom'])
  }

  /** Ejects media, all with null. A held CD stays. */
  async eject(devices: readonly MediaDrive[] | null): Promise<void> {
    const left = Object.entries(this.#state.media ?? {}).filter(
      ([device]) =>
        (devices !== null && !devices.includes(device as MediaDrive)) || (device === 'cdrom' && this.#state.held),
    )
    for (const [device, url] of Object.entries(this.#state.media ?? {}))
      if (!left.some(([other]) => other === device)) {
        this.note('media ejected', device)
        // Some BMCs go on to show its name.
        if (dialectOf(this.#spec).media.keepsImageName) this.#state.ejected = { ...this.#state.ejected, [device]: url }
      }
    this.#state.media = Object.fromEntries(left)
    const options = Object.entries(this.#state.mediaOptions ?? {})
    this.#state.mediaOptions = Object.fromEntries(options.filter(([device]) => device in this.#state.media!))
    await this.#parts.keep()
  }

  indicators(): Record<string, Record<string, { readonly: boolean; states: string[] }>> {
    return Object.fromEntries(
      Object.entries(INDICATORS).map(([component, names]) => [
        component,
        Object.fromEntries(names.map((name) => [name, { readonly: false, states: [...INDICATOR_STATES] }])),
      ]),
    )
  }

  indicator(component: string, name: string): string {
    return this.#state.indicators?.[`${name}@${component}`] ?? 'off'
  }

  /** @throws UserError for a state that it cannot have */
  async setIndicator(component: string, name: string, state: string): Promise<void> {
    if (!INDICATOR_STATES.includes(state))
      throw new UserError('indicator-state', `an indicator is ${INDICATOR_STATES.join(' or ')}, not ${state}`)
    this.#state.indicators = { ...this.#state.indicators, [`${name}@${component}`]: state }
    await this.#parts.keep()
  }

  subscriptions(): readonly RedfishSubscription[] {
    return this.#state.subscriptions ?? []
  }

  /** @param id of a subscription that several machines have; the next number without */
  async subscribe(wanted: Omit<RedfishSubscription, 'Id'>, id?: string): Promise<RedfishSubscription> {
    const { Context, Protocol, Destination, EventTypes, HttpHeaders } = wanted
    const number = this.#state.nextSubscription ?? 1
    const made = {
      Id: id ?? String(number),
      Context,
      Protocol,
      Destination,
      EventTypes: [...EventTypes],
      ...defined({ HttpHeaders: HttpHeaders ? { ...HttpHeaders } : undefined }),
    }
    if (id === undefined) this.#state.nextSubscription = number + 1
    this.#state.subscriptions = [...this.subscriptions(), made]
    await this.#parts.keep()
    return made
  }

  async changeSubscription(changed: RedfishSubscription): Promise<void> {
    this.#state.subscriptions = this.subscriptions().map((each) => (each.Id === changed.Id ? { ...changed } : each))
    await this.#parts.keep()
  }

  /** @throws UserError when there is none of this id */
  async unsubscribe(id: string): Promise<void> {
    const left = this.subscriptions().filter((each) => each.Id !== id)
    if (left.length === this.subscriptions().length)
      throw new UserError('subscription', `${this.#spec.id} has no event subscription ${id}`)
    this.#state.subscriptions = left
    await this.#parts.keep()
  }

  async setVolumes(volumes: readonly Record<string, unknown>[]): Promise<void> {
    this.#state.volumes = volumes.map((each) => ({ ...each }))
    await this.#parts.keep()
  }

  /** Reports an event that changes no state: a non-maskable interrupt, a reset of the BMC, raw bytes sent to it. */
  signal(what: SignalPoint['kind'], attributes: Pick<SignalPoint, 'warm' | 'bytes'> = {}): void {
    if (what !== 'raw') this.note(what)
    this.#parts.report({ kind: what, machine: this.#spec.id, ...attributes })
  }
}

/** Firmware in its factory state, for a machine that does not exist yet. */
export const factoryFirmware = (spec: MachineSpec): MachineFirmware =>
  new MachineFirmware(spec, {}, { keep: () => Promise.resolve(), report: () => {}, now: () => 0 })
