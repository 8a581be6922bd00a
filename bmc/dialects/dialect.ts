/** Folders of Redfish in which a BMC shows its virtual media. */
type MediaFolder = 'Systems' | 'Managers'

/** Makers whose firmware has settings with names of its own. */
export type FirmwareMaker = 'ironstage' | 'dell' | 'hpe' | 'lenovo' | 'supermicro' | 'ami' | 'nvidia'

/** Devices to which an override of a BMC can lead, as a machine's firmware has them. */
type OverrideDevice =
  'None' | 'Pxe' | 'Floppy' | 'Cd' | 'Usb' | 'Hdd' | 'BiosSetup' | 'Diags' | 'UefiTarget' | 'UefiHttp'

/** Paths of a BMC's resources. */
interface DialectPaths {
  /** Id of the system; null for the machine's own id. */
  readonly system: string | null
  readonly manager: string | null
  readonly chassis: string | null
  /** True if the case of a path has no meaning. */
  readonly ignoresCase: boolean
  /** True if the links of the system's BIOS are in lower case, and end with a slash. */
  readonly lowerCaseBios: boolean
  /** Members of a collection: references, or their paths alone. */
  readonly members: 'references' | 'texts'
  /** `Members` of a collection that has none: an empty list, or null. */
  readonly noMembers: 'list' | 'null'
}

/** A resource that a BMC refuses to every client. */
export interface RefusedResource {
  /** Path below `/redfish/v1` with the names of DMTF; a star is any part. */
  readonly at: string
  /** Methods that are refused; null for all. */
  readonly methods: readonly string[] | null
  readonly status: number
  /** MessageId and sentence of the refusal. */
  readonly messageId: string
  readonly message: string
  /** When it is refused: always, or while the machine is off. */
  readonly while: 'always' | 'off'
}

/** One more member of a collection, behind which there is no machine. */
export interface FurtherMember {
  readonly folder: 'Systems' | 'Managers' | 'Chassis'
  readonly id: string
  /** Its place among the members. */
  readonly place: 'first' | 'last'
  /** Properties besides its id and name. */
  readonly properties: Readonly<Record<string, unknown>>
}

/** Resources that a BMC has otherwise than others. */
interface DialectResources {
  /** Paths, as in {@link RefusedResource.at}, that are not there, with all below them. */
  readonly absent: readonly string[]
  readonly refused: readonly RefusedResource[]
  /** Further systems, managers and chassis. */
  readonly further: readonly FurtherMember[]
}

/** The service root, where all machines of a service have this BMC. Null for a member that the root lacks. */
interface DialectService {
  readonly vendor: string | null
  readonly product: string | null
  /** The first key of `Oem`, by which clients find the vendor where `Vendor` is missing. */
  readonly oem: string | null
  readonly redfishVersion: string
}

/** A slot for virtual media. */
export interface DialectSlot {
  readonly id: string
  readonly name: string
  /** Drive of the machine behind it; null for a slot that refuses every image. */
  readonly drive: 'cdrom' | 'floppy' | 'disk' | null
  readonly types: readonly string[]
  readonly below: readonly MediaFolder[]
}

export interface DialectMedia {
  readonly slots: readonly DialectSlot[]
  /** Collection to which a system links: its own, its manager's, or none. */
  readonly systemLink: 'own' | 'manager' | 'absent'
  /**
   * `config` is the resource CfgCD of older Supermicros beside the slots, which has address and path of an image and the
   * actions that mount it; with `none` slots can only be read.
   */
  readonly insertBy: 'action' | 'patch' | 'both' | 'config' | 'none'
  /** Last part of the path of the manager's collection of slots. */
  readonly folder: string
  /** Values of TransferProtocolType that it takes; null for all. */
  readonly protocols: readonly string[] | null
  /** Slots that take no image: InsertMedia is listed and answers 400, or is not, and answers 405. */
  readonly driveless: 'listed' | 'unlisted'
  /** Properties without which an image is refused, besides `Image`. */
  readonly required: readonly string[]
  /** Properties with which an image is refused as unknown. */
  readonly refused: readonly string[]
  /** End that the path of an image must have, as in `.iso`; null for any. */
  readonly imageSuffix: string | null
  /** Body of EjectMedia: an object must be sent, or may be missing. */
  readonly ejectBody: 'optional' | 'required'
  /** An image for a slot that has one: it takes the place of the other, or is refused. */
  readonly whenFull: 'replaced' | 'refused'
  /** True if only the action is listed that can be carried out now. */
  readonly actionsFollowState: boolean
  /** Status of that refusal. */
  readonly fullStatus: 400 | 500
  /** `Image` and `ImageName` of an empty slot; `absent` where it has neither. */
  readonly emptyImage: null | '' | 'absent'
  /** True if `ImageName` stays after the image was ejected. */
  readonly keepsImageName: boolean
}

export interface DialectBoot {
  /** Resource whose `Boot` changes the override. The other one's is read-only. */
  readonly at: 'system' | 'settings' | 'both'
  /** Last part of the path of the system's settings object; null without one. */
  readonly settings: string | null
  /** Contents of `Boot` of the settings object. */
  readonly settingsHold: 'override' | 'order'
  /** Values of the target, each with the device that it boots. */
  readonly targets: Readonly<Record<string, OverrideDevice>>
  /** Resource with the list of the targets; both, where both change the override. */
  readonly targetsAt: 'system' | 'settings' | 'nowhere'
  readonly enabled: readonly ('Disabled' | 'Once' | 'Continuous')[]
  readonly showsEnabledValues: boolean
  /** `BootSourceOverrideMode`: changes, is shown only, is always null, or is missing. */
  readonly mode: 'writable' | 'read-only' | 'null' | 'absent'
  /** Properties that must come together, if one of them comes. */
  readonly together: readonly string[]
  /** True if an `Enabled` is refused that is so already. */
  readonly refusesUnchangedEnabled: boolean
  /** Targets with which no `Enabled` may come. */
  readonly withoutEnabled: readonly string[]
  /** Key of `Oem` below which the system has a resource BootConfig, which changes the override too; null for none. */
  readonly config: string | null
  /** Value that `Enabled` gets where a target comes alone. */
  readonly enabledDefault: 'kept' | 'Once'
  /** Value that the mode gets where a target comes without it. */
  readonly modeDefault: 'kept' | 'Legacy'
  /** A change while the firmware is at work. */
  readonly duringPost: 'accepted' | 'refused'
}

interface DialectEtags {
  /** `"x"`, `W/"x"`, the same in quotes (`"W/'x'"`), `x`, or no tags at all. */
  readonly form: 'strong' | 'weak' | 'quoted' | 'bare' | 'none'
  /** Forms of a tag that If-Match may have: strong and weak, strong ones only, without quotes, or none at all. */
  readonly match: 'any' | 'strong' | 'bare' | 'never'
  /** A change without If-Match. */
  readonly without: 'accepted' | 'refused' | 'dropped'
  /** Status of that refusal. */
  readonly withoutStatus: 412 | 428
  /** If-Match on an action. */
  readonly onActions: 'ignored' | 'refused'
}

interface DialectPower {
  /** Values of a reset of the system. */
  readonly resets: readonly string[]
  /** Place of the list of these values. */
  readonly resetsBy: 'inline' | 'ActionInfo' | 'both' | 'nowhere'
  readonly managerResets: readonly string[]
  /** Status of a reset that would change nothing, as On of a system that is on. */
  readonly repeat: 204 | 400 | 409
  /** Status of a reset that needs a system which is on. */
  readonly whenOff: 400 | 409
  /** Seconds after a change of the power during which another is refused, and the status; null for none. */
  readonly settling: { readonly seconds: number; readonly status: 400 | 409 } | null
  /** Seconds after a change of the power in which `PowerState` still shows the older one. */
  readonly shownAfter: number
}

interface DialectBios {
  /** Last part of the path of the settings object. */
  readonly settings: string
  /** `@Redfish.SettingsApplyTime`: without it settings wait for ever, it may be missing, or it is refused. */
  readonly applyTime: 'required' | 'optional' | 'refused'
  /** Attributes of the settings object: what waits, all, or what waits and otherwise no `Attributes` at all. */
  readonly pending: 'changes' | 'all' | 'omitted'
  /** Body of ResetBios. */
  readonly resetBody: 'optional' | 'required'
  /** Id of the attribute registry; null where none is named. */
  readonly registry: string | null
  /** Attributes by their names; null for those that machines of the maker have. */
  readonly attributes: Readonly<Record<string, DialectAttribute>> | null
}

/** A setting of the firmware. Its value tells its type: a text with a list of values is an enumeration. */
export interface DialectAttribute {
  readonly value: string | number | boolean
  /** Values that a text can have. */
  readonly allowed?: readonly string[]
  /** Bounds of a whole number, or of a text's length. */
  readonly least?: number
  readonly most?: number
  readonly readOnly?: boolean
}

/** A dump with which the BMC answers where nothing lives. */
interface DialectDump {
  /** Folder or zip; absolute, once a file has been read. */
  readonly folder: string
  /** Id of the machine's system; null where the dump has one only. */
  readonly system: string | null
}

/** Versions of the firmware that machines are delivered with; null for ironstage's own. */
interface DialectVersions {
  readonly bios: string | null
  readonly bmc: string | null
}

interface DialectSessions {
  /** Seconds of idleness after which a session ends. */
  readonly timeout: number
  /** Sessions that a BMC has at a time. */
  readonly limit: number
}

/** Subscriptions to events. */
interface DialectEvents {
  /** Properties of a new subscription that are refused as unknown. */
  readonly refused: readonly string[]
  /** Properties that it must have, besides Destination and Protocol. */
  readonly required: readonly string[]
  /** A Context of no letters. */
  readonly emptyContext: 'accepted' | 'refused'
}

interface DialectTasks {
  /** TaskState of a task that has just begun. */
  readonly first: 'New' | 'Running'
  /** Seconds for which a task that has ended can be read; null for as long as the service runs. */
  readonly retention: number | null
}

interface DialectErrors {
  /** Statuses whose answers are pages of XHTML, and not JSON. */
  readonly pages: readonly number[]
  /** Registry of messages and its version: `Base.1.5`. */
  readonly base: string
  /**
   * MessageIds in the place of those of the registry Base, by their keys, and of refusals of a situation: `duringPost`,
   * `settling`, `repeat`, `slotFull`.
   */
  readonly ids: Readonly<Record<string, string>>
  /** `error.code`; null for the id of the message. */
  readonly code: string | null
  /** `error.message`; null for the text of the message. */
  readonly message: string | null
  /** Form of `@Message.ExtendedInfo`. */
  readonly info: 'list' | 'object'
  /** Members of a message that are sent; null for all. */
  readonly members: readonly string[] | null
  /** Answer to a change that was carried out: the resource, a message, or nothing. */
  readonly success: 'resource' | 'message' | 'nothing'
}

/** Sensors of a machine by the names that ironstage has for them. */
type SensorId = 'InletTemp' | 'Cpu1Temp' | 'Fan1' | 'Fan2' | 'Psu1Voltage' | 'PowerConsumption'

/** Texts of the FRU that are not the machine's manufacturer, product and serial number; null for those, or none. */
interface DialectFru {
  readonly chassisPart: string | null
  readonly boardProduct: string | null
  readonly boardPart: string | null
  /** Serial number of the board: the machine's, or one of its own. */
  readonly boardSerial: 'machine' | 'own'
  readonly productPart: string | null
}

/** The BMC over IPMI. */
export interface DialectIpmi {
  /** IANA number of Get Device ID; null for that of the machine's manufacturer. */
  readonly manufacturerId: number | null
  readonly productId: number
  readonly deviceId: number
  readonly deviceRevision: number
  readonly fru: DialectFru
  /** Names in the sensor data records; up to 16 letters. */
  readonly sensors: Readonly<Partial<Record<SensorId, string>>>
  /** Boot flags for all boots: they stay, are for one boot, or are not taken at all. */
  readonly persistentBoot: 'kept' | 'once' | 'ignored'
  /**
   * Parameter 3 of the boot options, by which a caller keeps boot flags that no chassis control command follows within the
   * minute: it can be set, is refused by 80h, or changes nothing.
   */
  readonly flagClearing: 'settable' | 'refused' | 'ignored'
  readonly cipherSuites: readonly (3 | 17)[]
  /** Seconds after a change of the power in which the chassis status still has the older one. */
  readonly shownAfter: number
  /** Users that it can have. */
  readonly users: number
}

interface DialectProperties {
  /** Properties that are missing: schema and path, as in `ComputerSystem.Boot.HttpBootUri`. */
  readonly leftOut: readonly string[]
  /** Properties with another value, or added ones, by schema and path. */
  readonly changed: Readonly<Record<string, unknown>>
  /** Properties that have another name: by schema and path their last part. */
  readonly renamed: Readonly<Record<string, string>>
  /** Letters of MAC addresses. */
  readonly macs: 'lower' | 'upper'
}

/** Values of ResetType that the machines here can do, as DMTF's schema has them. */
export const RESET_TYPES: readonly string[] = [
  'On',
  'ForceOn',
  'ForceOff',
  'GracefulShutdown',
  'GracefulRestart',
  'ForceRestart',
  'PushPowerButton',
  'PowerCycle',
  'Nmi',
]

/** The dialect of a BMC: how its Redfish service differs from others in front of the same machine. */
export interface BmcDialect {
  readonly description: string
  /** Source of the record: a dump of such a BMC and reports, reports alone, or ironstage's own. */
  readonly basis: 'dump' | 'reports' | 'ironstage'
  readonly maker: FirmwareMaker
  /** Manufacturer of a machine whose hardware names none; null for the default machine's. */
  readonly manufacturer: string | null
  readonly model: string | null
  /** Dump behind the resources that live; null for resources of ironstage. */
  readonly dump: DialectDump | null
  readonly versions: DialectVersions
  readonly paths: DialectPaths
  readonly service: DialectService
  readonly resources: DialectResources
  readonly media: DialectMedia
  readonly boot: DialectBoot
  readonly etags: DialectEtags
  readonly power: DialectPower
  readonly bios: DialectBios
  readonly sessions: DialectSessions
  readonly events: DialectEvents
  readonly tasks: DialectTasks
  readonly errors: DialectErrors
  readonly properties: DialectProperties
  readonly ipmi: DialectIpmi
}

type DialectHead = Pick<BmcDialect, 'description' | 'basis' | 'maker' | 'manufacturer' | 'model' | 'dump'>

type DialectPart = Omit<BmcDialect, keyof DialectHead>

/** Differences of a dialect from another: whole values, those of lists too. */
export type DialectChanges = Partial<DialectHead> & {
  readonly [Part in keyof DialectPart]?: Partial<DialectPart[Part]>
}

/** A dialect that differs from another. */
export function dialectFrom(base: BmcDialect, changes: DialectChanges): BmcDialect {
  return {
    ...base,
    ...changes,
    versions: { ...base.versions, ...changes.versions },
    paths: { ...base.paths, ...changes.paths },
    service: { ...base.service, ...changes.service },
    resources: { ...base.resources, ...changes.resources },
    media: { ...base.media, ...changes.media },
    boot: { ...base.boot, ...changes.boot },
    etags: { ...base.etags, ...changes.etags },
    power: { ...base.power, ...changes.power },
    bios: { ...base.bios, ...changes.bios },
    sessions: { ...base.sessions, ...changes.sessions },
    events: { ...base.events, ...changes.events },
    tasks: { ...base.tasks, ...changes.tasks },
    errors: { ...base.errors, ...changes.errors },
    properties: { ...base.properties, ...changes.properties },
    ipmi: { ...base.ipmi, ...changes.ipmi },
  }
}
