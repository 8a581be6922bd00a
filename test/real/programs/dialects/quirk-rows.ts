import type { DialectChoice } from '../../../../bmc/dialects/index.js'

/** A quirk of a BMC that a real client works around. */
export interface QuirkRow {
  /** Number of the quirk, as the tests of the records have it, and the client. */
  readonly name: string
  readonly bmc: DialectChoice
  /** Call of the client, and how it works around the quirk. */
  readonly call: string
  /** Result of the call. */
  readonly value: unknown
  /** Result when the workaround is taken away: the text of an error, or another value. */
  readonly without: RegExp | { readonly value: unknown }
  /** Source of the quirk: the report in which the call failed so, or the change that brought the workaround. */
  readonly source: string
}

const IMAGE = 'http://images.test/boot.iso'

/** An iLO that refuses a change of the power soon after another. */
const SLOW_ILO: DialectChoice = {
  base: 'ilo5',
  power: { settling: { seconds: 2, status: 400 } },
  errors: { ids: { settling: 'iLO.2.14.InvalidOperationForSystemState' } },
}

/** The iLO of the report took its own tags: Ansible sends them as they are. */
const ILO_OF_3509: DialectChoice = { base: 'ilo5', etags: { match: 'any' } }

/** The parts of the facts: paths, power, boot override, virtual media, ETags and sessions, firmware settings. */
export const QUIRK_ROWS: Readonly<Record<string, readonly QuirkRow[]>> = {
  'paths and links': [
    {
      name: '1 sushy',
      bmc: 'idrac9',
      call: 'get_system() without a path: the only member of the collection',
      value: 'System.Embedded.1',
      without: /ResourceNotFoundError: .*Systems\/1 not found/,
      source: 'ids differ from maker to maker (bmclib inventory.go)',
    },
    {
      name: '9 sushy',
      bmc: 'huawei',
      call: 'System.managers: Links.Managers where ManagedBy is missing',
      value: ['1'],
      without:
        /MissingAttributeError: The attribute Links\/ManagedBy is missing from the resource \/redfish\/v1\/Systems\/1/,
      source: 'sushy, release note retry-on-missing-managedby',
    },
    {
      name: '14 ansible',
      bmc: 'supermicro-x12',
      call: 'VirtualMediaInsert: the vendor is the first key of Oem, and a Supermicro is asked again with less',
      value: true,
      without: /HTTP Error 400 on POST request .*has no parameter Inserted/,
      source: 'ironic, release note fix-detect-vendor-serviceroot; community.general _get_vendor',
    },
  ],
  power: [
    {
      name: '17 ansible',
      bmc: 'idrac9',
      call: 'PowerOn of a system that is on: it reads PowerState first',
      value: [true, false],
      without: /HTTP Error 409 on POST request/,
      source: 'ironic, release note catch-redfish-409',
    },
    {
      name: '19 sushy',
      bmc: SLOW_ILO,
      call: 'reset_system() soon after another: it tries again after InvalidOperationForSystemState',
      value: 'On',
      without: /BadRequestError: .*iLO\.2\.14\.InvalidOperationForSystemState/,
      source: 'sushy check_retry_on_exception',
    },
    {
      name: '21 ansible',
      bmc: 'ami',
      call: 'PowerReboot: the values of ActionInfo have no GracefulRestart, and ForceRestart takes its place',
      value: [true, true],
      without: /HTTP Error 400 on POST request .*GracefulRestart .* none of the allowed ones/,
      source: 'community.general _get_all_action_info_values',
    },
  ],
  'boot override': [
    {
      name: '26 sushy',
      bmc: 'idrac10',
      call: 'set_system_boot_options(): at the settings object, which has the properties',
      value: ['Pxe', 'Once'],
      without: /BadRequestError: .*Systems\/System\.Embedded\.1 returned code 400.*PropertyNotWritable/,
      source: 'dell/iDRAC-Redfish-Scripting#324, ansible-collections/community.general#11297',
    },
    {
      name: '26 gofish',
      bmc: 'idrac10',
      call: 'SetBoot(): at the settings object after the system has refused',
      value: 'Pxe',
      without: /^400: .*PropertyNotWritable/,
      source: 'dell/iDRAC-Redfish-Scripting#324',
    },
    {
      name: '29 sushy',
      bmc: 'xcc',
      call: 'set_system_boot_options(): at the system where the settings object has no override',
      value: ['Pxe', 'Once'],
      without: /BadRequestError: .*Systems\/1\/Pending returned code 400.*PropertyUnknown/,
      source: 'sushy, release note check-for-boot-attrs-in-settingsuri',
    },
    {
      name: '33 sushy',
      bmc: 'ami',
      call: 'set_system_boot_options() with target, enabled and mode, as Ironic calls it for AMI',
      value: ['Pxe', 'Once'],
      without: /BadRequestError: .*Base\.1\.12\.PropertyMissing: The property BootSourceOverrideMode is required/,
      source: 'ironic VENDORS_REQUIRING_FULL_BOOT_REQUEST',
    },
    {
      name: '36 ansible',
      bmc: ILO_OF_3509,
      call: 'SetOneTimeBoot: the mode is sent only where it was asked for',
      value: true,
      without: /HTTP Error 400 on PATCH request .*iLO\.2\.14\.PropertyNotWritableOrUnknown/,
      source: 'ansible-collections/community.general#3509',
    },
    {
      name: '40 sushy',
      bmc: 'supermicro-x12',
      call: 'set_system_boot_options(CD): UsbCd of a Supermicro that has it',
      value: 'UsbCd',
      // It is accepted, and the disk is booted.
      without: { value: 'Cd' },
      source: 'sushy, release note change-bootdev-smc',
    },
  ],
  'virtual media': [
    {
      name: '50 badfish',
      bmc: 'idrac10',
      call: 'mount_virtual_media(): the slots of the system where the manager has none',
      value: [true, false],
      without: /BadfishException: Not able to access virtual media config/,
      source: 'badfish find_virtual_media_resource; dell/iDRAC-Redfish-Scripting#324',
    },
    {
      name: '52 badfish',
      bmc: 'idrac9',
      call: 'mount_virtual_media() twice: a 500 says that an image is mounted already',
      value: [true, false],
      without: /RuntimeError: InsertMedia was answered 500/,
      source: 'badfish mount_virtual_media',
    },
    {
      name: '53 sushy',
      bmc: 'idrac9',
      call: 'eject_media(): once more with an empty object as the body',
      value: false,
      without: /BadRequestError: .*VirtualMedia\.EjectMedia returned code 400/,
      source: 'sushy, release note fix-eject-media-empty-dict',
    },
    {
      name: '55 ansible',
      bmc: 'ilo4',
      call: 'VirtualMediaInsert: a PATCH, and once more with Image alone for HPE',
      value: true,
      without: /HTTP Error 400 on PATCH request .*PropertyUnknown/,
      source: 'ansible-collections/community.general#4595',
    },
    {
      name: '56 sushy',
      bmc: 'xcc',
      call: 'insert_media(): by PATCH where Allow has it and there is no action',
      value: [true, IMAGE],
      without: /MissingActionError: The action #VirtualMedia\.InsertMedia is missing/,
      source: 'sushy _allow_patch; lenovo/python-redfish-lenovo#9',
    },
    {
      name: '57 sushy',
      bmc: 'supermicro-x12',
      call: 'insert_media(): Inserted and WriteProtected are sent only with other values than their defaults',
      value: [true, IMAGE],
      without: /BadRequestError: .*has no parameter Inserted/,
      source: 'sushy, release note fix-insert-media-payload; ansible-collections/community.general#4839',
    },
    {
      name: '62 sushy',
      bmc: 'irmc',
      call: 'insert_media(): once more with the TransferProtocolType that is missing',
      value: [true, 'https://images.test/boot.iso'],
      without: /BadRequestError: .*ActionParameterMissing: .*requires the parameter TransferProtocolType/,
      source: 'sushy is_transfer_protocol_required',
    },
    {
      name: '64 sushy',
      bmc: 'ami',
      call: 'insert_media(): once more with an account of "none"',
      value: [true, IMAGE],
      without: /BadRequestError: .*requires the parameter UserName/,
      source: 'sushy is_credentials_required (bug 2071945)',
    },
  ],
  'ETags and sessions': [
    {
      name: '68 gofish',
      bmc: 'ami',
      call: 'ComputerSystem.Update() with If-Match',
      value: 'Lit',
      without: /^428: .*Ami\.1\.0\.PreconditionHeaderMissing/,
      source: 'stmcginnis/gofish#171',
    },
    {
      name: '69 sushy',
      bmc: 'ilo5',
      call: 'set_system_boot_options(): after 412 with the strong form of a weak tag',
      value: ['Pxe', 'Once'],
      without: /HTTPError: .*returned code 412.*iLO\.2\.14\.ETagTypeMismatch/,
      source: 'sushy _etag_handler',
    },
    {
      name: '70 ansible',
      bmc: { etags: { match: 'bare' } },
      call: 'SetOneTimeBoot with strip_etag_quotes',
      value: true,
      without: /HTTP Error 412 on PATCH request/,
      source: 'ansible-collections/community.general#3268',
    },
    {
      name: '71 gofish',
      bmc: 'idrac10',
      call: 'ComputerSystem.Reset(): after 412 without If-Match',
      value: 'accepted',
      without: /^412: /,
      source: 'gofish PostWithTask; ironcore-dev/metal-operator#1015',
    },
    {
      name: '77 gofish',
      bmc: 'idrac9',
      call: 'Connect() ten times, with Logout() after each',
      value: 10,
      without: /^session 9: 503: .*IDRAC\.2\.8\.RAC0218/,
      source: 'stmcginnis/gofish#75, bb-Ricardo/check_redfish#89',
    },
  ],
  'firmware settings': [
    {
      name: '85 ansible',
      bmc: 'idrac9',
      call: 'SetBiosAttributes and a reboot: for Dell with a time at which they are applied',
      value: 'Disabled',
      without: { value: 'Enabled' },
      source: 'ansible-collections/community.general#9012, dell/iDRAC-Redfish-Scripting#84',
    },
    {
      name: '86 sushy',
      bmc: 'supermicro-x13',
      call: 'set_attribute() with a time only where supported_apply_times has it, as Ironic calls it',
      value: { QuietBoot_002D: false },
      without: /BadRequestError: .*Bios\/SD returned code 400.*@Redfish\.SettingsApplyTime/,
      source: 'bmc-toolbox/bmclib#458',
    },
    {
      name: '89 sushy',
      bmc: 'idrac9',
      call: 'reset_bios(): once more with an empty object as the body',
      value: true,
      without: /BadRequestError: .*Bios\.ResetBios returned code 400/,
      source: 'sushy, stories 2006246 and 2008198',
    },
  ],
}
