import { defined } from '../../base/runtime/index.js'
import type {
  ArgsInfo,
  DriverInterface,
  JsonObject,
  NodeRecord,
  StepInterface,
  StepKind,
} from '../../base/wire/index.js'
import type { BmcError } from './bmc-error.js'
import type { Indicators } from './bmc-hardware.js'

/** A hardware type: one file in this folder and one row in `hardware-types.ts`. */
export interface HardwareType {
  readonly name: string
  /** Name of upstream's class, used in sentences. */
  readonly className: string
  /** Enabled implementations by interface, the default first; recorded from a real Ironic. */
  readonly interfaces: Readonly<Record<DriverInterface, readonly string[]>>
  /** Accepts the interfaces of every type, so that tests can combine them. */
  readonly takesAllInterfaces?: true
  /** `GET /v1/drivers/X/properties`: documentation by field of `driver_info`. */
  readonly properties: Readonly<Record<string, string>>
  /** Fields of `driver_info` about the BMC; absent for a type without BMC. */
  readonly bmc?: BmcFields
  /** This type's own implementations, by interface and name. */
  readonly implementations: Implementations
}

/** Fields of `driver_info` about the BMC. */
interface BmcFields {
  /** Address of the BMC; empty when the field is missing. */
  address(info: JsonObject): string
  /** Redfish addresses are URLs, others a host with its port. */
  readonly addressForm: 'url' | 'host'
  systemId(info: JsonObject): string
  readonly username: string
  readonly password: string
  /** The agent does not detect the BMC's address. */
  readonly skipsDetection: boolean
}

/** The interfaces whose implementations differ by hardware type. */
export interface ImplementationKinds {
  bios: ReadableImplementation
  boot: BootImplementation
  firmware: ReadableImplementation
  management: ManagementImplementation
  power: PowerImplementation
  raid: StepImplementation
  vendor: VendorImplementation
}

export type Implementations = {
  readonly [Kind in keyof ImplementationKinds]?: Readonly<Record<string, ImplementationKinds[Kind]>>
}

interface StepImplementation {
  readonly steps: readonly InterfaceStep[]
}

interface ReadableImplementation extends StepImplementation {
  /** The BMC reports settings or components, which the conductor stores. */
  readonly reads: boolean
}

export interface BootImplementation {
  /** Boots from an ISO. */
  readonly takesIso: boolean
  /** Inserts images as virtual media, with parameters and a token for the agent in them. */
  readonly virtualMedia: boolean
  /** Boots an instance without a disk (upstream's capability `ramdisk_boot`). */
  readonly bootsRamdisks: boolean
  /** Ironic boots the ramdisk itself for an inspection. */
  readonly managesInspection: boolean
  /** Needs a node with a port. */
  readonly needsPort: boolean
}

interface ManagementImplementation {
  /** Calls that it supports. */
  readonly calls: readonly ManagementCall[]
  /** Boot devices in the order of a real Ironic's list. */
  readonly bootDevices: readonly string[]
  /** The refusal of another boot device lists them. */
  readonly listsBootDevices?: true
  /** The BMC reports boot mode, secure boot, health and NICs. */
  readonly readsModes: boolean
  /** Answers that are always the same, from an implementation that asks no BMC. */
  readonly fixed?: FixedAnswers
}

export interface FixedAnswers {
  /** Boot device, also after another one was set. */
  readonly bootDevice: BootDevice
  /** Indicators, each of them on; absent where indicators are not supported. */
  readonly indicators?: Indicators
}

/** As `GET /v1/nodes/X/management/boot_device` shows it. */
export interface BootDevice {
  readonly boot_device: string
  readonly persistent: boolean
}

interface PowerImplementation {
  /** Absent for an implementation without a BMC. */
  readonly bmc?: BmcPower
  /** True if no BMC controls the machine: its power state is only the one last requested. */
  remembersPower?(conf: { readonly fakeHardwareMachines: boolean }): boolean
  /** The agent reboots the machine, which nothing can power on: it has to stay on. */
  readonly rebootsByAgent?: true
}

/** Checks of a power interface for the fields of its BMC, and its sentences. */
interface BmcPower {
  /** Fields that `driver_info` must have. */
  readonly required: readonly string[]
  missing(fields: readonly string[], node: Readonly<NodeRecord>): string
  /** Reason why the fields are not valid; undefined when they are. */
  invalid?(node: Readonly<NodeRecord>): string | undefined
  /** Sentence for a BMC that cannot be used. */
  refused(node: Pick<NodeRecord, 'uuid' | 'driver_info'>, error: BmcError): string
  /** Milliseconds before each further try of a call that has failed so; none when it is not tried again. */
  waits(error: BmcError, conf: BmcRetryConf): readonly number[]
}

/** Options about how long a BMC is tried. Times in milliseconds. */
export interface BmcRetryConf {
  readonly redfishConnectionAttempts: number
  readonly redfishConnectionRetryInterval: number
}

interface VendorImplementation extends StepImplementation {
  readonly methods: Readonly<Record<string, VendorMethod>>
}

/** Calls of a management interface, by the names in Ironic's sentences. */
export type ManagementCall =
  | 'set_boot_mode'
  | 'set_secure_boot_state'
  | 'inject_nmi'
  | 'get_supported_indicators'
  | 'get_indicator_state'
  | 'set_indicator_state'
  | 'get_virtual_media'
  | 'attach_virtual_media'
  | 'detach_virtual_media'

/** A step that a BMC carries out. */
export interface InterfaceStep {
  readonly interface: StepInterface
  readonly step: string
  readonly argsinfo?: ArgsInfo
  /** The flows that offer it, and whether it needs the ramdisk there. */
  readonly in: Partial<Record<StepKind, { ramdisk?: boolean; abortable?: boolean }>>
}

/** A vendor method with the check of its arguments, which throws an IronicError 400. */
export interface VendorMethod {
  readonly shown: ShownVendorMethod
  check?(data: JsonObject): void
}

/** A method of a vendor interface, as `GET /v1/nodes/X/vendor_passthru/methods` shows it. */
export interface ShownVendorMethod {
  readonly http_methods: readonly string[]
  readonly async: boolean
  readonly description: string
  readonly attach: false
  readonly require_exclusive_lock: boolean
}

export const vendorMethod = (
  http: string,
  description: string,
  {
    sync = false,
    shared = false,
    check,
  }: { sync?: boolean; shared?: boolean; check?: (data: JsonObject) => void } = {},
): VendorMethod => ({
  shown: {
    http_methods: [http],
    async: !sync,
    description,
    attach: false,
    require_exclusive_lock: !shared,
  },
  ...defined({ check }),
})
