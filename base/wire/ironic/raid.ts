import type { JsonSchema } from './ironic-schemas.js'

const IRONIC_RAID_LEVELS = ['JBOD', '0', '1', '2', '5', '6', '1+0', '5+0', '6+0']

/** A logical disk's properties: what each may be, and what it means, in words of our own. */
const PROPERTIES: Readonly<Record<string, readonly [schema: JsonSchema, meaning: string]>> = {
  raid_level: [{ type: 'string', enum: IRONIC_RAID_LEVELS }, `RAID level: ${IRONIC_RAID_LEVELS.join(', ')}. Required.`],
  size_gb: [
    {
      anyOf: [
        { type: 'integer', minimum: 0 },
        { type: 'string', enum: ['MAX'] },
      ],
    },
    'Size in GiB, or MAX for all that is left. Required.',
  ],
  volume_name: [{ type: 'string' }, 'Name of the volume; made up when not given. Optional.'],
  is_root_volume: [{ type: 'boolean' }, 'Whether the system goes there; false when not given. Optional.'],
  share_physical_disks: [
    { type: 'boolean' },
    'Whether other logical disks may use the same physical disks; false when not given. Optional.',
  ],
  disk_type: [{ type: 'string', enum: ['hdd', 'ssd'] }, 'Kind of physical disks: hdd or ssd. Optional.'],
  interface_type: [
    { type: 'string', enum: ['sata', 'scsi', 'sas'] },
    'Interface of the physical disks: sata, scsi or sas. Optional.',
  ],
  number_of_physical_disks: [
    { type: 'integer', exclusiveMinimum: 0 },
    'How many physical disks; the fewest that the level needs when not given. Optional.',
  ],
  controller: [{ type: 'string' }, 'RAID controller; any that suits when not given. Optional.'],
  physical_disks: [
    {
      anyOf: [
        { type: 'array', items: { type: 'string' } },
        { type: 'array', items: { type: 'object' }, minItems: 2 },
      ],
    },
    'Physical disks by name, or hints to find them; any that suit when not given. Optional.',
  ],
}

/** `target_raid_config`, as far as a schema can say what it has to be. */
export const raidConfigSchema: JsonSchema = {
  type: 'object',
  properties: {
    logical_disks: {
      type: 'array',
      items: {
        type: 'object',
        properties: Object.fromEntries(Object.entries(PROPERTIES).map(([name, [schema]]) => [name, schema])),
        required: ['raid_level', 'size_gb'],
        additionalProperties: false,
        dependencies: { physical_disks: ['controller'] },
      },
      minItems: 1,
    },
  },
  required: ['logical_disks'],
  additionalProperties: false,
}

/** `GET /v1/drivers/X/raid/logical_disk_properties`, the same for every driver. */
export const LOGICAL_DISK_PROPERTIES: Readonly<Record<string, string>> = Object.fromEntries(
  Object.entries(PROPERTIES).map(([name, [, meaning]]) => [name, meaning]),
)
