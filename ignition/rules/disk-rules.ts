import { ownMember } from '../../base/runtime/index.js'
import type { ConfigPath, Findings } from '../findings.js'
import type { SpecDisk, SpecFilesystem, SpecPartition, SpecRaid } from '../spec/config-types.js'
import { atLeast, type SpecVersion } from '../spec/spec-versions.js'
import { pathFault } from './path-rules.js'

export function checkDisk(disk: SpecDisk, at: ConfigPath, found: Findings): void {
  const { device, partitions = [] } = disk
  if (!device) {
    found.error([...at, 'device'], 'disk device is required')
    return
  }
  found.error([...at, 'device'], pathFault(device))
  const about = (index: number, message: string) => {
    if (index >= 0) found.error([...at, 'partitions', index], message)
  }
  about(findRepeated(partitions.map(({ number }) => number || undefined)), 'partition numbers collide')
  about(overlapped(partitions), 'partitions overlap')
  if (partitions.some(({ number }) => !number) && partitions.some(({ shouldExist }) => shouldExist === false))
    found.error(
      [...at, 'partitions'],
      'shouldExist is false for a partition and other partition(s) has start or size 0',
    )
  about(findRepeated(partitions.map(({ label }) => label)), 'cannot use the same partition label twice')
}

/** Index of the first value that repeats an earlier one, -1 when none does. */
function findRepeated(values: readonly (string | number | undefined)[]): number {
  const seen = new Set<string | number>()
  return values.findIndex((value) => value !== undefined && (seen.has(value) || !seen.add(value)))
}

/**
 * Index of a partition that another one overlaps, -1 when none does. Partitions without a fixed start are left out:
 * sgdisk places them where there is room.
 */
function overlapped(partitions: readonly SpecPartition[]): number {
  const fixed = partitions.flatMap(({ startMiB, sizeMiB }, index) =>
    // A size of 0 means up to the next partition, so only the start can overlap.
    startMiB === undefined || sizeMiB === undefined || startMiB === 0
      ? []
      : [{ index, start: startMiB, end: sizeMiB === 0 ? startMiB : startMiB + sizeMiB - 1 }],
  )
  for (const a of fixed)
    for (const b of fixed) {
      if (a === b) continue
      const within = (place: number) => place >= b.start && place <= b.end
      if (within(a.start) || within(a.end) || (a.start < b.start && a.end > b.end)) return b.index
    }
  return -1
}

export function checkPartition(partition: SpecPartition, at: ConfigPath, found: Findings): void {
  const { label, guid, typeGuid, startMiB, sizeMiB, number, shouldExist } = partition
  const described = label !== undefined || typeGuid || guid || startMiB !== undefined || sizeMiB !== undefined
  found.error(
    at,
    shouldExist === false && described ? 'shouldExist specified false with other options also specified' : null,
  )
  found.error(at, !number && label === undefined ? 'a partition number >= 1 or a label must be specified' : null)
  found.error([...at, 'label'], label === undefined ? null : labelFault(label))
  found.error([...at, 'guid'], guidFault(guid))
  found.error([...at, 'typeGuid'], guidFault(typeGuid))
}

function labelFault(label: string): string | null {
  if (Buffer.byteLength(label) > 36) return 'partition labels may not exceed 36 characters'
  return label.includes(':') ? 'partition label will be truncated to text before the colon' : null
}

const guidFault = (guid: string | undefined): string | null =>
  guid === undefined || /^(|[\da-f]{8}-[\da-f]{4}-[\da-f]{4}-[\da-f]{4}-[\da-f]{12})$/i.test(guid)
    ? null
    : `doesn't match the form "01234567-89AB-CDEF-EDCB-A98765432101"`

/** Longest label of each filesystem, in bytes. */
const MAX_LABEL_BYTES: Readonly<Record<string, number>> = { ext4: 16, btrfs: 256, xfs: 12, swap: 15, vfat: 11 }

export function checkFilesystem(
  filesystem: SpecFilesystem,
  at: ConfigPath,
  found: Findings,
  version: SpecVersion,
): void {
  found.error([...at, 'path'], filesystem.path ? pathFault(filesystem.path) : null)
  found.error([...at, 'device'], pathFault(filesystem.device))
  found.error([...at, 'format'], formatFault(filesystem, version))
  found.error([...at, 'label'], filesystemLabelFault(filesystem))
}

function formatFault(filesystem: SpecFilesystem, version: SpecVersion): string | null {
  const { format, path, label, uuid, wipeFilesystem, mountOptions, options } = filesystem
  if (format)
    return Object.hasOwn(MAX_LABEL_BYTES, format) || (format === 'none' && atLeast(version, '3.3.0'))
      ? null
      : 'invalid filesystem format'
  return path || label || uuid || wipeFilesystem === true || mountOptions?.length || options?.length
    ? 'format cannot be empty when path, label, uuid, wipeFilesystem, options, or mountOptions is specified'
    : null
}

function filesystemLabelFault({ label, format }: SpecFilesystem): string | null {
  if (!label) return null
  if (!format) return 'filesystem must specify format if label is specified'
  const longest = ownMember(MAX_LABEL_BYTES, format) ?? Infinity
  return Buffer.byteLength(label) > longest
    ? `filesystem labels cannot be longer than ${longest} characters when using ${format}`
    : null
}

const WITHOUT_SPARES = ['linear', 'raid0', '0', 'stripe']
const WITH_SPARES = ['raid1', '1', 'mirror', 'raid4', '4', 'raid5', '5', 'raid6', '6', 'raid10', '10']

export function checkRaid(raid: SpecRaid, at: ConfigPath, found: Findings, version: SpecVersion): void {
  found.error([...at, 'level'], levelFault(raid, version))
  found.error([...at, 'devices'], raid.devices?.length ? null : 'raid devices required')
}

function levelFault({ level = '', spares }: SpecRaid, version: SpecVersion): string | null {
  if (level === '' && atLeast(version, '3.3.0')) return 'raid level is required'
  if (WITHOUT_SPARES.includes(level)) return spares ? 'spares unsupported for linear and raid0 arrays' : null
  return WITH_SPARES.includes(level) ? null : 'unrecognized raid level'
}
