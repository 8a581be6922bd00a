import { DISK_TRANSPORTS } from './disk-transports.js'
import { NIC_DRIVERS } from './hardware-names.js'
import { LLDP_SCHEMA } from './lldp/lldp-schema.js'

/**
 * JSON Schema of a hardware file: one machine, or `machines:` with one entry for each kind of machine. A test compares
 * `docs/hardware.md`, which documents it, and `docs/hardware.schema.json`, its copy for editors, with it.
 */
const hardwareTextSchema = (description: string) => ({ type: 'string', minLength: 1, description })
const hardwareCountSchema = (description: string) => ({ type: 'integer', minimum: 1, description })
const hardwareChoiceSchema = (values: readonly unknown[], description: string) => ({ enum: values, description })
const hardwareFlagSchema = (description: string) => ({ type: 'boolean', description })
const hardwareRecordSchema = (properties: object) => ({ type: 'object', additionalProperties: false, properties })

const NIC = hardwareRecordSchema({
  name: hardwareTextSchema('name that Linux gives the NIC, as in eno1'),
  mac: {
    type: 'string',
    pattern: '^[0-9a-f]{2}(:[0-9a-f]{2}){5}$',
    description: 'MAC address, lower case; default: one that follows from the machine and the position',
  },
  ipv4: {
    type: ['string', 'null'],
    pattern: '^[0-9]{1,3}(\\.[0-9]{1,3}){3}$',
    description: 'IPv4 address that the ramdisk gets, or null for none',
  },
  carrier: hardwareFlagSchema('whether a cable is plugged in; default: true'),
  pxe: hardwareFlagSchema('whether the machine boots from this NIC; default: the first one'),
  driver: hardwareChoiceSchema(
    Object.keys(NIC_DRIVERS),
    'kernel driver; those named cdc_ are USB devices, which an agent of OpenShift leaves out',
  ),
  lldp: LLDP_SCHEMA,
})

const DISK = hardwareRecordSchema({
  name: {
    type: 'string',
    pattern: '^[a-z][a-z0-9]*$',
    description: 'kernel name, as in sda; default: sda, sdb ..., or nvme0n1 ... with transport: nvme',
  },
  size: {
    type: ['string', 'integer'],
    minimum: 2 ** 20,
    pattern: '^[0-9]+(\\.[0-9]+)? ?([KMGT]i?B|B)?$',
    description: 'size in bytes, or with a unit, as in 20GiB or 480GB',
  },
  serial: hardwareTextSchema('serial number; default: one that follows from the machine and the position'),
  model: hardwareTextSchema('model name'),
  vendor: hardwareTextSchema('vendor name'),
  wwn: {
    type: 'string',
    pattern: '^0x[0-9a-f]+$',
    description: 'world wide name; default: one that follows from the machine and the position',
  },
  wwnExtension: {
    type: 'string',
    pattern: '^0x[0-9a-f]+$',
    description: 'vendor part of a longer world wide name; default: none',
  },
  hctl: {
    type: 'string',
    pattern: '^[0-9]+(:[0-9]+){3}$',
    description: 'host, channel, target and LUN of the SCSI layer; default: by its position',
  },
  byPath: hardwareTextSchema('name in /dev/disk/by-path; default: by its transport and position'),
  rotational: hardwareFlagSchema('true for a hard disk, false for an SSD'),
  transport: hardwareChoiceSchema(Object.keys(DISK_TRANSPORTS), 'how the disk is attached'),
  sectorSize: hardwareChoiceSchema([512, 4096], 'logical sector size in bytes'),
  secureErase: hardwareChoiceSchema(
    [true, false, 'frozen'],
    'whether the disk can erase itself; frozen: the firmware has locked the command until the next boot',
  ),
})

const MACHINE_PROPERTIES = {
  bmc: {
    type: ['string', 'object'],
    description:
      'BMC, as in idrac9, which docs/bmc-dialects.md lists, or a file with one; default: that of manufacturer and product, or else standard',
  },
  firmware: hardwareChoiceSchema(['uefi', 'bios'], 'boot mode'),
  architecture: hardwareChoiceSchema(['x86_64', 'aarch64'], 'CPU architecture'),
  cpus: hardwareCountSchema('number of CPUs'),
  memoryMib: hardwareCountSchema('memory in MiB'),
  manufacturer: hardwareTextSchema('manufacturer, as SMBIOS says it'),
  product: hardwareTextSchema('product name, as SMBIOS says it'),
  serial: hardwareTextSchema('serial number of the machine, as SMBIOS says it'),
  hostname: {
    type: ['string', 'null'],
    maxLength: 253,
    pattern: '^[A-Za-z0-9]([A-Za-z0-9.-]*[A-Za-z0-9])?$',
    description: 'name that the machine gets from DHCP, or null for none; default: one like its id',
  },
  broken: hardwareChoiceSchema(
    ['disk', 'bmc'],
    'defect with which it is delivered, in a fleet: its first disk fails, or its BMC is silent',
  ),
  nics: { type: 'array', minItems: 1, maxItems: 64, items: NIC, description: 'all NICs, in order' },
  disks: { type: 'array', maxItems: 16, items: DISK, description: 'all disks, in order; [] for a diskless machine' },
}

const FLEET = {
  machines: {
    type: 'array',
    minItems: 1,
    maxItems: 1000,
    description: 'kinds of machines; they are used in order, and again from the first when there are more machines',
    items: hardwareRecordSchema({
      count: hardwareCountSchema('how many machines in a row are of this kind; default: 1'),
      host: hardwareTextSchema(
        'BareMetalHost whose machine this is, as NAME or NAMESPACE/NAME; no other machine is like it',
      ),
      ...MACHINE_PROPERTIES,
    }),
  },
}

export const HARDWARE_SCHEMA = {
  $schema: 'http://json-schema.org/draft-07/schema#',
  title: 'ironstage hardware file',
  ...hardwareRecordSchema({ ...MACHINE_PROPERTIES, ...FLEET }),
} as const
