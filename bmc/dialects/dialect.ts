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
  readonly insertBy: 'action' | 'patch' | 'both'
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
  /** Value that `Enabled` gets where a target comes alone. */
  readonly enabledDefault: 'kept' | 'Once'
  /** Value that the mode gets where a target comes without it. */
  readonly modeDefault: 'kept' | 'Legacy'
  /** A change while the firmware is at work. */
  readonly duringPost: 'accepted' | 'refused'
}

interface DialectEtags {
  /** `"x"`, `W/"x"`, the same in quotes (`"W/'x'"`), or no tags at all. */
  readonly form: 'strong' | 'weak' | 'quoted' | 'none'
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

interface DialectErrors {
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

/** The face of a BMC: how its Redfish service differs from others in front of the same machine. */
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
  readonly media: DialectMedia
  readonly boot: DialectBoot
  readonly etags: DialectEtags
  readonly power: DialectPower
  readonly bios: DialectBios
  readonly sessions: DialectSessions
  readonly errors: DialectErrors
  readonly properties: DialectProperties
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
    media: { ...base.media, ...changes.media },
    boot: { ...base.boot, ...changes.boot },
    etags: { ...base.etags, ...changes.etags },
    power: { ...base.power, ...changes.power },
    bios: { ...base.bios, ...changes.bios },
    sessions: { ...base.sessions, ...changes.sessions },
    errors: { ...base.errors, ...changes.errors },
    properties: { ...base.properties, ...changes.properties },
  }
}
