import { during } from '../../base/runtime/index.js'
import type { Target } from '../../targets/index.js'
import { runCommand } from '../sdk/run-command.js'
import { lsblkListing } from './lsblk-listing.js'

/** A partition as lsblk and udev see it. */
export interface Partition {
  /** `/dev/sda3` */
  name: string
  /** Number in the table; null when its name does not contain it (device mapper). */
  number: number | null
  /** GPT type GUID, lower case; an MBR type otherwise. */
  partitionType: string | null
  partitionLabel: string | null
  /** GUID of the partition itself, lower case. */
  partitionUuid: string | null
  /** Label of its file system. */
  label: string | null
  filesystem: string | null
}

/** The partition table of a disk. */
export interface PartitionTable {
  /** `gpt`, `dos`; null without one. */
  type: string | null
  partitions: Partition[]
}

interface PartitionRow {
  kname: string
  type: string
  pttype?: string | null
  parttype?: string | null
  partlabel?: string | null
  partuuid?: string | null
  label?: string | null
  fstype?: string | null
  children?: PartitionRow[]
}

const partitionTextSchema = { type: 'string', nullable: true }
const listing = lsblkListing<PartitionRow>({
  required: ['type'],
  properties: {
    type: { type: 'string' },
    pttype: partitionTextSchema,
    parttype: partitionTextSchema,
    partlabel: partitionTextSchema,
    partuuid: partitionTextSchema,
    label: partitionTextSchema,
    fstype: partitionTextSchema,
  },
})

/**
 * Reads the partition table of a disk from the target's kernel and udev. A disk that was just written must be rescanned
 * first.
 *
 * @example
 * import { defineStep } from 'ironstage'
 * import { readPartitions } from 'ironstage/steps'
 *
 * export const touch = defineStep({
 *   name: 'touch',
 *   interface: 'deploy',
 *   on: ['deploy'],
 *   run: async ({ target, node, signal }) => {
 *     const { partitions } = await readPartitions(target, '/dev/sda')
 *     return partitions.length
 *   },
 * })
 */
export async function readPartitions(target: Target, device: string): Promise<PartitionTable> {
  const { stdout } = await during(`listing the partitions of ${device}`, () =>
    runCommand(
      target.executor,
      ['lsblk', '--json', '--bytes', '--output', 'KNAME,TYPE,PTTYPE,PARTTYPE,PARTLABEL,PARTUUID,LABEL,FSTYPE', device],
      { effect: 'reads' },
    ),
  )
  const table = parsePartitions(stdout, device)
  return target.readsPartitions === false ? withProbedContents(target, device, table) : table
}

/** Reads from the disk itself what lsblk takes from udev, for a target without udev. */
async function withProbedContents(target: Target, device: string, table: PartitionTable): Promise<PartitionTable> {
  const devices = [device, ...table.partitions.map(({ name }) => name)]
  const { stdout } = await during(`reading the partitions of ${device}`, () =>
    // blkid exits with 2 when a device has nothing that it knows.
    runCommand(target.executor, ['blkid', '--probe', '--output', 'export', ...devices], {
      effect: 'reads',
      accept: [0, 2],
    }),
  )
  const found = probedContents(stdout)
  return {
    type: found.get(device)?.['PTTYPE'] ?? table.type,
    partitions: table.partitions.map((partition) => {
      const contents = found.get(partition.name) ?? {}
      return {
        ...partition,
        partitionType: contents['PART_ENTRY_TYPE']?.toLowerCase() ?? partition.partitionType,
        partitionLabel: contents['PART_ENTRY_NAME'] ?? partition.partitionLabel,
        partitionUuid: contents['PART_ENTRY_UUID']?.toLowerCase() ?? partition.partitionUuid,
        label: contents['LABEL'] ?? partition.label,
        filesystem: contents['TYPE'] ?? partition.filesystem,
      }
    }),
  }
}

/** Reads the output of `blkid --output export`: lines `NAME=VALUE`, each device after its DEVNAME. */
function probedContents(text: string): Map<string, Record<string, string>> {
  const found = new Map<string, Record<string, string>>()
  let contents: Record<string, string> = {}
  for (const line of text.split('\n')) {
    const [, name = '', value = ''] = /^([A-Z_]+)=(.*)$/.exec(line) ?? []
    if (name === 'DEVNAME') found.set(value, (contents = {}))
    else if (name !== '') contents[name] = value.replaceAll(/\\(.)/g, '$1')
  }
  return found
}

export function parsePartitions(json: string, device: string): PartitionTable {
  const rows = flat(listing(json))
  const disk = rows.find((row) => `/dev/${row.kname}` === device)
  return {
    type: disk?.pttype || null,
    partitions: rows
      .filter((row) => row.type === 'part')
      .map((row) => ({
        name: `/dev/${row.kname}`,
        number: partitionNumber(device, `/dev/${row.kname}`),
        partitionType: row.parttype?.toLowerCase() || null,
        partitionLabel: row.partlabel || null,
        partitionUuid: row.partuuid?.toLowerCase() || null,
        label: row.label || null,
        filesystem: row.fstype || null,
      })),
  }
}

/** Flattens rows, without those below an array: these partitions belong to the array, not to its member disk. */
const flat = (rows: PartitionRow[], top = true): PartitionRow[] =>
  rows.flatMap((row) => (!top && row.type.startsWith('raid') ? [] : [row, ...flat(row.children ?? [], false)]))

/** Path of a partition; the kernel inserts a `p` when the disk's name ends with a digit: `/dev/nvme0n1p3`. */
export const partitionPath = (disk: string, number: number): string =>
  /\d$/.test(disk) ? `${disk}p${number}` : `${disk}${number}`

/** Number of a partition: 3 for `/dev/sda3` of `/dev/sda`, and for `/dev/nvme0n1p3` of `/dev/nvme0n1`. */
function partitionNumber(device: string, partition: string): number | null {
  const suffix = partition.startsWith(device) ? /^p?(\d+)$/.exec(partition.slice(device.length)) : null
  return suffix ? Number(suffix[1]) : null
}

/** The disk of a partition, among these disks; a disk is its own. */
export function diskOf(partition: string, disks: readonly string[]): string | undefined {
  return disks.find((disk) => partition === disk || partitionNumber(disk, partition) !== null)
}
