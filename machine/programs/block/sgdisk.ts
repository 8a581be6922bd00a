import { ownMember } from '../../../base/runtime/index.js'
import { writeFreshGpt } from '../../disk/fresh-gpt.js'
import { readGpt, type Gpt, type GptPartition } from '../../disk/gpt.js'
import { findBlockNode, type BlockNode } from './block-nodes.js'
import { CODES, EDITS, editTable } from './sgdisk-edits.js'
import { defineTool, ToolExit, ToolFailure } from '../tool.js'

const size = (bytes: number): string => {
  const units = ['bytes', 'KiB', 'MiB', 'GiB', 'TiB']
  let value = bytes
  let unit = 0
  // gdisk uses the smaller unit at exactly 1024: recorded as `1024.0 KiB`.
  for (; value > 1024 && unit < units.length - 1; unit++) value /= 1024
  return unit === 0 ? `${value} bytes` : `${value.toFixed(1)} ${units[unit]!}`
}

/** Lengths of the runs of sectors outside all partitions. */
function freeSegments(gpt: Gpt): number[] {
  const segments: number[] = []
  let next = gpt.firstUsableLba
  for (const { firstLba, lastLba } of [...gpt.partitions].sort((a, b) => a.firstLba - b.firstLba)) {
    if (firstLba > next) segments.push(firstLba - next)
    next = Math.max(next, lastLba + 1)
  }
  if (next <= gpt.lastUsableLba) segments.push(gpt.lastUsableLba - next + 1)
  return segments
}

export const sgdisk = defineTool(
  'sgdisk',
  {
    'zap-all': 'Z',
    zap: 'z',
    print: 'p',
    verify: 'v',
    clear: 'o',
    delete: 'd=',
    new: 'n=',
    typecode: 't=',
    'change-name': 'c=',
    'move-second-header': 'e',
  },
  async ({ inside, stdout, random }, options) => {
    const path = options.rest[0]
    if (path === undefined) throw new ToolFailure('no device specified', 2)
    const node = await findBlockNode(inside, path)
    if (!node || node.kind === 'part') {
      stdout(`Problem opening ${path} for reading! Error is 2.\nThe specified file does not exist!\n`)
      throw new ToolExit(2)
    }
    if (options.has('zap') || options.has('zap-all')) {
      await zap(node, options.has('zap-all'))
      stdout('GPT data structures destroyed! You may now partition the disk using fdisk or\nother utilities.\n')
    }
    if (options.has('clear')) {
      await writeFreshGpt(node.device, random)
      stdout('The operation has completed successfully.\n')
    }
    if (EDITS.some((edit) => options.has(edit))) {
      await editTable(node, options, random)
      stdout('The operation has completed successfully.\n')
    }
    if (options.has('verify')) stdout(await verifyGpt(node))
    if (options.has('print')) {
      const gpt = await readGpt(node.device)
      if (!gpt) stdout('Creating new GPT entries in memory.\n')
      stdout(printGpt(node, path, gpt))
    }
  },
)

/** Wipes the tables at both ends; with `whole` the protective MBR too. */
async function zap(node: BlockNode, whole: boolean): Promise<void> {
  const { device } = node
  const tableSectors = 1 + Math.ceil((128 * 128) / device.sectorSize)
  if (whole) await device.discard(0, device.sectorSize)
  await device.discard(device.sectorSize, tableSectors * device.sectorSize)
  await device.discard(device.size - tableSectors * device.sectorSize, tableSectors * device.sectorSize)
  await device.flush()
}

function printGpt(node: BlockNode, path: string, gpt: Gpt | undefined): string {
  const sector = node.device.sectorSize
  const sectors = node.device.size / sector
  const entrySectors = Math.ceil((128 * 128) / sector)
  const firstUsable = gpt?.firstUsableLba ?? 2 + entrySectors
  const lastUsable = gpt?.lastUsableLba ?? sectors - entrySectors - 2
  const free = gpt ? freeSegments(gpt).reduce((sum, segment) => sum + segment, 0) : lastUsable - firstUsable + 1
  const lines = [
    `Disk ${path}: ${sectors} sectors, ${size(node.device.size)}`,
    `Model: ${node.disk.model.padEnd(16)}`,
    `Sector size (logical/physical): ${sector}/4096 bytes`,
    ...(gpt ? [`Disk identifier (GUID): ${gpt.diskGuid.toUpperCase()}`] : []),
    'Partition table holds up to 128 entries',
    `Main partition table begins at sector ${gpt?.entriesLba ?? 2} and ends at sector ${(gpt?.entriesLba ?? 2) + entrySectors - 1}`,
    `First usable sector is ${firstUsable}, last usable sector is ${lastUsable}`,
    'Partitions will be aligned on 2048-sector boundaries',
    `Total free space is ${free} sectors (${size(free * sector)})`,
    '',
    'Number  Start (sector)    End (sector)  Size       Code  Name',
    ...(gpt?.partitions ?? []).map(row),
  ]
  return lines.map((line) => `${line}\n`).join('')
}

const row = ({ number, firstLba, lastLba, length, type, name }: GptPartition): string =>
  [
    String(number).padStart(4),
    String(firstLba).padStart(14),
    String(lastLba).padStart(14),
    size(length).padEnd(10),
    (ownMember(CODES, type) ?? 'FFFF').padEnd(4),
    name,
  ]
    .join('  ')
    .replace(/^( *\d+) {2}( *\d+) {2}( *\d+) {2}/, '$1  $2  $3   ')

async function verifyGpt(node: BlockNode): Promise<string> {
  const { device } = node
  const gpt = await readGpt(device)
  if (!gpt) return 'Creating new GPT entries in memory.\n\nNo problems found.\n'
  const problems: string[] = []
  if (gpt.backupLba !== device.size / device.sectorSize - 1)
    problems.push(
      "Problem: The secondary header's self-pointer indicates that it doesn't reside\nat the end of the disk. If you've added a disk to a RAID array, use the 'e'\noption on the experts' menu to adjust the secondary header's and partition\ntable's locations.",
    )
  const backup = Buffer.from(await device.read(gpt.backupLba * device.sectorSize, device.sectorSize))
  if (backup.toString('latin1', 0, 8) !== 'EFI PART')
    problems.push('Problem: The CRC for the backup partition table is invalid. This table may be\ncorrupt.')
  const overlapping = gpt.partitions.find((one) =>
    gpt.partitions.some((other) => other !== one && other.firstLba <= one.lastLba && one.firstLba <= other.lastLba),
  )
  if (overlapping) problems.push(`Problem: partition ${overlapping.number} overlaps another one.`)
  if (problems.length > 0) return `\n${problems.join('\n\n')}\n\nIdentified ${problems.length} problems!\n`
  const segments = freeSegments(gpt)
  const total = segments.reduce((sum, segment) => sum + segment, 0)
  const largest = Math.max(0, ...segments)
  const bytes = (count: number) => size(count * device.sectorSize)
  return `\nNo problems found. ${total} free sectors (${bytes(total)}) available in ${segments.length}\nsegments, the largest of which is ${largest} (${bytes(largest)}) in size.\n`
}
