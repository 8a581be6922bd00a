import type { JsonObject } from '../../base/wire/index.js'
import { schemaCheck, type SchemaCheck } from '../../base/schemas/index.js'
import { StepError } from '../sdk/step.js'

/** Levels of software RAID, as Ironic's RAID configuration names them. */
const RAID_LEVELS = ['0', '1', '5', '6', '1+0'] as const
export type RaidLevel = (typeof RAID_LEVELS)[number]

/** A volume to create. */
export interface LogicalDisk {
  /** GiB, or MAX for the rest of the disks. */
  size_gb: number | 'MAX'
  raid_level: RaidLevel
  controller: 'software'
  volume_name?: string
  is_root_volume?: boolean
  /** Root device hints, one object a disk. */
  physical_disks?: JsonObject[]
}

export const MIN_RAID_DISKS: Readonly<Record<RaidLevel, number>> = { '0': 2, '1': 2, '5': 3, '6': 4, '1+0': 4 }

/** Capacity of a volume, in members. */
export function dataDisks(level: RaidLevel, disks: number): number {
  switch (level) {
    case '0':
      return disks
    case '1':
      return 1
    case '5':
      return disks - 1
    case '6':
      return disks - 2
    case '1+0':
      return disks / 2
  }
}

const raidConfigShape: SchemaCheck<{ logical_disks: LogicalDisk[] }> = schemaCheck({
  type: 'object',
  required: ['logical_disks'],
  properties: {
    logical_disks: {
      type: 'array',
      minItems: 1,
      items: {
        type: 'object',
        required: ['size_gb', 'raid_level'],
        properties: {
          size_gb: { anyOf: [{ type: 'integer', minimum: 1 }, { const: 'MAX' }] },
          raid_level: { type: 'string' },
          controller: { type: 'string' },
          volume_name: { type: ['string'], pattern: '^[\\w.-]{1,31}$' },
          is_root_volume: { type: 'boolean' },
          physical_disks: { type: 'array', items: { type: 'object' } },
        },
      },
    },
  },
})

/**
 * Reads a RAID configuration with IPA's rules: one or two volumes of the controller `software`, the first one a mirror
 * so that the firmware finds a boot loader on each disk.
 *
 * @throws StepError of type SoftwareRAIDError naming everything that is wrong with it
 */
export function readRaidConfig(config: unknown): LogicalDisk[] {
  if (!raidConfigShape.accepts(config))
    throw raidConfigError([
      ...new Set(
        raidConfigShape.errors().map(({ instancePath, message }) => `${instancePath || 'it'} ${message ?? 'is wrong'}`),
      ),
    ])
  const disks = config.logical_disks
  const complaints: string[] = []
  if (disks.length > 2) complaints.push('it must have one or two logical disks')
  if (disks.some(({ controller }) => controller !== 'software'))
    complaints.push('every logical disk must have the controller "software"')
  if (disks[0]!.raid_level !== '1') complaints.push('the first logical disk must be RAID-1')
  for (const { raid_level: level, physical_disks: physical } of disks) {
    if (!RAID_LEVELS.includes(level)) {
      complaints.push(`RAID level ${String(level)} is not one of ${RAID_LEVELS.join(', ')}`)
      continue
    }
    if (physical && physical.length < MIN_RAID_DISKS[level])
      complaints.push(`RAID level ${level} needs at least ${MIN_RAID_DISKS[level]} physical disks`)
  }
  const names = disks.flatMap(({ volume_name: name }) => name ?? [])
  if (new Set(names).size < names.length) complaints.push('two logical disks have the same volume_name')
  if (disks.filter(({ size_gb: size }) => size === 'MAX').length > 1)
    complaints.push('only one logical disk can have the size MAX')
  if (disks.filter(({ is_root_volume: root }) => root).length > 1)
    complaints.push('only one logical disk can be the root volume')
  if (complaints.length > 0) throw raidConfigError(complaints)
  return disks
}

const raidConfigError = (complaints: readonly string[]) =>
  new StepError(`the RAID configuration cannot be used: ${complaints.join('; ')}`, { type: 'SoftwareRAIDError' })
