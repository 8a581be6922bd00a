import { RESET_TYPES } from './dialect.js'
import { BMC_DIALECTS } from './known-dialects.js'

const dialectText = (description: string) => ({ type: 'string', maxLength: 512, description })
const dialectId = (description: string) => ({ type: ['string', 'null'], minLength: 1, maxLength: 128, description })
const dialectFlag = (description: string) => ({ type: 'boolean', description })
const dialectChoice = (values: readonly unknown[], description: string) => ({ enum: values, description })
const dialectList = (items: object, description: string) => ({ type: 'array', maxItems: 64, items, description })
const dialectPart = (properties: object) => ({ type: 'object', additionalProperties: false, properties })

const SLOT = {
  ...dialectPart({
    id: { type: 'string', pattern: '^[^/]+$', maxLength: 128, description: 'last part of its path' },
    name: dialectText('its Name'),
    drive: dialectChoice(['cdrom', 'floppy', 'disk', null], 'drive behind it; null: it refuses every image'),
    types: dialectList(dialectText('media type'), 'its MediaTypes'),
    below: dialectList({ enum: ['Systems', 'Managers'] }, 'folders in which it is'),
  }),
  required: ['id', 'name', 'drive', 'types', 'below'],
}

const RESOURCE_PATH = { type: 'string', pattern: '^(/[^/]+)+$', maxLength: 256 }

const REFUSED_RESOURCE = {
  ...dialectPart({
    at: { ...RESOURCE_PATH, description: 'path below /redfish/v1 with the names of DMTF; * is any part' },
    methods: {
      type: ['array', 'null'],
      items: { enum: ['GET', 'PATCH', 'PUT', 'POST', 'DELETE'] },
      description: 'methods that are refused; null: all',
    },
    status: { type: 'integer', minimum: 400, maximum: 599, description: 'status of the refusal' },
    messageId: dialectText('its MessageId'),
    message: dialectText('its sentence'),
    while: dialectChoice(['always', 'off'], 'when it is refused: always, or while the machine is off'),
  }),
  required: ['at', 'methods', 'status', 'messageId', 'message', 'while'],
}

const FURTHER_MEMBER = {
  ...dialectPart({
    folder: dialectChoice(['Systems', 'Managers', 'Chassis'], 'collection in which it is'),
    id: { type: 'string', pattern: '^[^/]+$', maxLength: 128, description: 'its Id' },
    place: dialectChoice(['first', 'last'], 'its place among the members'),
    properties: { type: 'object', description: 'its properties besides Id and Name' },
  }),
  required: ['folder', 'id', 'place', 'properties'],
}

const RESOURCES = {
  absent: dialectList(RESOURCE_PATH, 'paths below /redfish/v1 that are not there, with all below them; * is any part'),
  refused: dialectList(REFUSED_RESOURCE, 'resources that are refused'),
  further: dialectList(FURTHER_MEMBER, 'systems, managers and chassis behind which there is no machine'),
}

const OVERRIDE_DEVICES = ['None', 'Pxe', 'Floppy', 'Cd', 'Usb', 'Hdd', 'BiosSetup', 'Diags', 'UefiTarget', 'UefiHttp']

const RESETS = dialectList({ enum: RESET_TYPES }, 'values of ResetType')

const BOOT = {
  at: dialectChoice(['system', 'settings', 'both'], 'resource whose Boot changes the override'),
  settings: dialectId("last part of the path of the system's settings object; null: none"),
  settingsHold: dialectChoice(['override', 'order'], 'what Boot of the settings object has'),
  targets: {
    type: 'object',
    additionalProperties: { enum: OVERRIDE_DEVICES },
    description: 'values of BootSourceOverrideTarget, each with the device that it boots',
  },
  targetsAt: dialectChoice(['system', 'settings', 'nowhere'], 'resource that lists the targets'),
  enabled: dialectList({ enum: ['Disabled', 'Once', 'Continuous'] }, 'values of BootSourceOverrideEnabled'),
  showsEnabledValues: dialectFlag('whether these are listed'),
  mode: dialectChoice(['writable', 'read-only', 'null', 'absent'], 'BootSourceOverrideMode'),
  together: dialectList(
    { enum: ['BootSourceOverrideTarget', 'BootSourceOverrideEnabled', 'BootSourceOverrideMode'] },
    'properties that must come together',
  ),
  refusesUnchangedEnabled: dialectFlag('whether an Enabled is refused that is so already'),
  withoutEnabled: dialectList(dialectText('target'), 'targets with which no Enabled may come'),
  config: dialectId('key of Oem below which the system has a BootConfig; null: none'),
  enabledDefault: dialectChoice(['kept', 'Once'], 'Enabled where a target comes alone'),
  modeDefault: dialectChoice(['kept', 'Legacy'], 'mode where a target comes without it'),
  duringPost: dialectChoice(['accepted', 'refused'], 'a change while the firmware is at work'),
}

const MEDIUM_PROPERTY = {
  enum: ['Inserted', 'WriteProtected', 'TransferMethod', 'TransferProtocolType', 'UserName', 'Password'],
}

const MEDIA = {
  slots: dialectList(SLOT, 'slots for virtual media, in the order of the collection'),
  systemLink: dialectChoice(['own', 'manager', 'absent'], 'collection that a system links to'),
  insertBy: dialectChoice(['action', 'patch', 'both', 'config', 'none'], 'how an image is inserted; config: by CfgCD'),
  folder: { type: 'string', pattern: '^[^/]+$', description: "last part of the path of the manager's slots" },
  protocols: {
    type: ['array', 'null'],
    items: { type: 'string' },
    description: 'values of TransferProtocolType that it takes; null: all',
  },
  driveless: dialectChoice(['listed', 'unlisted'], 'InsertMedia of slots that take no image: 400, or 405'),
  required: dialectList(MEDIUM_PROPERTY, 'properties without which an image is refused'),
  refused: dialectList(MEDIUM_PROPERTY, 'properties with which an image is refused as unknown'),
  imageSuffix: dialectId('end that the path of an image must have; null: any'),
  ejectBody: dialectChoice(['optional', 'required'], 'body of EjectMedia'),
  whenFull: dialectChoice(['replaced', 'refused'], 'an image for a slot that has one'),
  fullStatus: dialectChoice([400, 500], 'status of that refusal'),
  actionsFollowState: dialectFlag('whether only the action is listed that can be carried out now'),
  emptyImage: dialectChoice([null, '', 'absent'], 'Image and ImageName of an empty slot'),
  keepsImageName: dialectFlag('whether ImageName stays after an eject'),
}

const DUMP = {
  anyOf: [
    { type: 'null' },
    {
      ...dialectPart({
        folder: {
          type: 'string',
          minLength: 1,
          maxLength: 4096,
          description: 'folder or zip with the dump, from the folder of this file',
        },
        system: dialectId("id of the machine's system; null: the only one"),
      }),
      required: ['folder'],
    },
  ],
  description: 'dump of a BMC, with which this one answers where nothing lives',
}

const ATTRIBUTES = {
  anyOf: [
    { type: 'null' },
    {
      type: 'object',
      maxProperties: 5000,
      additionalProperties: {
        ...dialectPart({
          value: { type: ['string', 'number', 'boolean'], description: 'value as delivered, which tells the type' },
          allowed: { type: 'array', items: { type: 'string' }, maxItems: 1000, description: 'values of a text' },
          least: { type: 'number', description: "least number, or a text's shortest length" },
          most: { type: 'number', description: "greatest number, or a text's longest length" },
          readOnly: dialectFlag('whether it cannot be changed'),
        }),
        required: ['value'],
      },
    },
  ],
  description: 'firmware settings by their names; null: those of the maker',
}

const IPMI_NUMBER = { type: 'integer', minimum: 0 }

const IPMI = {
  manufacturerId: {
    type: ['integer', 'null'],
    minimum: 0,
    maximum: 0xfffff,
    description: "IANA number of Get Device ID; null: that of the machine's manufacturer",
  },
  productId: { ...IPMI_NUMBER, maximum: 0xffff, description: 'product of Get Device ID' },
  deviceId: { ...IPMI_NUMBER, maximum: 0xff, description: 'device of Get Device ID' },
  deviceRevision: { ...IPMI_NUMBER, maximum: 0x0f, description: 'its revision' },
  fru: {
    ...dialectPart({
      chassisPart: dialectId('part number of the chassis; null: none'),
      boardProduct: dialectId("product of the board; null: the machine's"),
      boardPart: dialectId('part number of the board; null: none'),
      boardSerial: dialectChoice(['machine', 'own'], 'serial number of the board'),
      productPart: dialectId('part number of the product; null: none'),
    }),
    required: ['chassisPart', 'boardProduct', 'boardPart', 'boardSerial', 'productPart'],
  },
  sensors: {
    ...dialectPart(
      Object.fromEntries(
        ['InletTemp', 'Cpu1Temp', 'Fan1', 'Fan2', 'Psu1Voltage', 'PowerConsumption'].map((id) => [
          id,
          { type: 'string', minLength: 1, maxLength: 16, description: 'name of this sensor' },
        ]),
      ),
    ),
    description: 'names in the sensor data records',
  },
  persistentBoot: dialectChoice(['kept', 'once', 'ignored'], 'boot flags for all boots'),
  flagClearing: dialectChoice(
    ['settable', 'refused', 'ignored'],
    'parameter 3 of the boot options, which keeps boot flags beyond a minute',
  ),
  cipherSuites: {
    type: 'array',
    minItems: 1,
    uniqueItems: true,
    items: { enum: [3, 17] },
    description: 'cipher suites',
  },
  shownAfter: {
    ...IPMI_NUMBER,
    maximum: 3600,
    description: 'seconds after a change in which the chassis status has the older power',
  },
  users: { type: 'integer', minimum: 2, maximum: 63, description: 'users that it can have' },
}

/** JSON Schema of a file with a BMC of a user's own. */
export const DIALECT_SCHEMA = {
  $schema: 'http://json-schema.org/draft-07/schema#',
  title: 'ironstage BMC file',
  ...dialectPart({
    base: dialectChoice(Object.keys(BMC_DIALECTS), 'BMC whose values hold where this file has none; default: standard'),
    description: dialectText('one sentence'),
    basis: dialectChoice(['dump', 'reports', 'ironstage'], 'where its values are from'),
    maker: dialectChoice(
      ['ironstage', 'dell', 'hpe', 'lenovo', 'supermicro', 'ami', 'nvidia'],
      'whose firmware settings the machine has',
    ),
    manufacturer: dialectId('manufacturer of a machine whose hardware names none'),
    model: dialectId('product of such a machine'),
    dump: DUMP,
    versions: dialectPart({
      bios: dialectId("version of the BIOS as delivered; null: ironstage's"),
      bmc: dialectId("version of the BMC's firmware as delivered; null: ironstage's"),
    }),
    paths: dialectPart({
      system: dialectId("id of the system; null: the machine's"),
      manager: dialectId("id of the manager; null: the machine's"),
      chassis: dialectId("id of the chassis; null: the machine's"),
      ignoresCase: dialectFlag('whether the case of a path has no meaning'),
      lowerCaseBios: dialectFlag('whether the links of the BIOS are in lower case and end with a slash'),
      members: dialectChoice(['references', 'texts'], 'Members of a collection: references, or their paths alone'),
      noMembers: dialectChoice(['list', 'null'], 'Members of a collection that has none'),
    }),
    service: dialectPart({
      vendor: dialectId('Vendor of the service root; null: none'),
      product: dialectId('Product of the service root; null: none'),
      oem: dialectId('first key of its Oem; null: none'),
      redfishVersion: dialectText('RedfishVersion'),
    }),
    resources: dialectPart(RESOURCES),
    media: dialectPart(MEDIA),
    boot: dialectPart(BOOT),
    etags: dialectPart({
      form: dialectChoice(['strong', 'weak', 'quoted', 'bare', 'none'], 'form of ETags'),
      match: dialectChoice(['any', 'strong', 'bare', 'never'], 'forms that If-Match may have'),
      without: dialectChoice(['accepted', 'refused', 'dropped'], 'a change without If-Match'),
      withoutStatus: dialectChoice([412, 428], 'status of that refusal'),
      onActions: dialectChoice(['ignored', 'refused'], 'If-Match on an action'),
    }),
    power: dialectPart({
      resets: RESETS,
      resetsBy: dialectChoice(['inline', 'ActionInfo', 'both', 'nowhere'], 'place of the list of these values'),
      managerResets: RESETS,
      repeat: dialectChoice([204, 400, 409], 'status of a reset that would change nothing'),
      whenOff: dialectChoice([400, 409], 'status of a reset that needs a system which is on'),
      settling: {
        anyOf: [
          { type: 'null' },
          {
            ...dialectPart({
              seconds: {
                type: 'integer',
                minimum: 1,
                maximum: 3600,
                description: 'seconds after a change of the power',
              },
              status: dialectChoice([400, 409], 'status of the refusal'),
            }),
            required: ['seconds', 'status'],
          },
        ],
        description: 'time after a change of the power in which another is refused',
      },
      shownAfter: {
        type: 'integer',
        minimum: 0,
        maximum: 3600,
        description: 'seconds after a change in which PowerState shows the older power',
      },
    }),
    bios: dialectPart({
      settings: { type: 'string', pattern: '^[^/]+$', description: 'last part of the path of the settings object' },
      applyTime: dialectChoice(['required', 'optional', 'refused'], '@Redfish.SettingsApplyTime'),
      pending: dialectChoice(['changes', 'all', 'omitted'], 'Attributes of the settings object'),
      resetBody: dialectChoice(['optional', 'required'], 'body of ResetBios'),
      registry: dialectId('AttributeRegistry; null: none is named'),
      attributes: ATTRIBUTES,
    }),
    sessions: dialectPart({
      timeout: { type: 'integer', minimum: 30, maximum: 86_400, description: 'seconds of idleness' },
      limit: { type: 'integer', minimum: 1, maximum: 1000, description: 'sessions at a time' },
    }),
    events: dialectPart({
      refused: dialectList(dialectText('property'), 'properties of a subscription that are refused as unknown'),
      required: dialectList(dialectText('property'), 'properties that it must have'),
      emptyContext: dialectChoice(['accepted', 'refused'], 'a Context of no letters'),
    }),
    tasks: dialectPart({
      first: dialectChoice(['New', 'Running'], 'TaskState of a task that has just begun'),
      retention: {
        type: ['integer', 'null'],
        minimum: 0,
        description: 'seconds for which a task that has ended can be read; null: for ever',
      },
    }),
    errors: dialectPart({
      pages: dialectList({ type: 'integer', minimum: 400, maximum: 599 }, 'statuses answered by pages of XHTML'),
      base: dialectText('registry of messages with its version, as in Base.1.5'),
      ids: {
        type: 'object',
        additionalProperties: { type: 'string' },
        description: 'MessageIds in the place of those of Base',
      },
      code: dialectId("error.code; null: the message's"),
      message: dialectId("error.message; null: the message's"),
      info: dialectChoice(['list', 'object'], 'form of @Message.ExtendedInfo'),
      members: {
        type: ['array', 'null'],
        items: { type: 'string' },
        description: 'members of a message that are sent; null: all',
      },
      success: dialectChoice(['resource', 'message', 'nothing'], 'answer to a change'),
    }),
    properties: dialectPart({
      leftOut: dialectList(dialectText('schema and path'), 'properties that are missing'),
      changed: { type: 'object', description: 'properties with another value, by schema and path' },
      renamed: {
        type: 'object',
        additionalProperties: { type: 'string', minLength: 1 },
        description: 'properties with another name: by schema and path their last part',
      },
      macs: dialectChoice(['lower', 'upper'], 'letters of MAC addresses'),
    }),
    ipmi: dialectPart(IPMI),
  }),
} as const
