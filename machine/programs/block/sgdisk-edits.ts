import { randomUuid, type Random } from '../../../base/runtime/index.js'
import type { SimulatedDisk } from '../../disk/block-device.js'
import { buildGpt, readGpt, type NewPartition } from '../../disk/gpt.js'
import { MBR_ENTRIES } from '../../disk/gpt-setup.js'
import { bufferOf } from '../../../base/bytes/index.js'
import type { BlockNode } from './block-nodes.js'
import { ToolExit, ToolFailure, type ToolOptions } from '../tool.js'

/** gdisk's two-byte codes of partition types. */
export const CODES: Readonly<Record<string, string>> = {
  '21686148-6449-6e6f-744e-656564454649': 'EF02',
  'c12a7328-f81f-11d2-ba4b-00a0c93ec93b': 'EF00',
  '0fc63daf-8483-4772-8e79-3d69d8477de4': '8300',
  '4f68bce3-e8cd-4db1-96e7-fbcaf984b709': '8304',
  'b921b045-1df0-41c3-af44-4c6f280d3fae': '8305',
  '0657fd6d-a4ab-43c4-84e5-0933c84b4f4f': '8200',
  'a19d880f-05fc-4d3b-a006-743f0f84911e': 'FD00',
  '9e1a2d38-c612-4316-aa26-8b49521e5a8b': '4100',
  '8da63339-0007-60c0-c436-083ac8230908': '8301',
}

/** Options that change a table, in the order in which they are applied. */
export const EDITS = ['move-second-header', 'delete', 'new', 'typecode', 'change-name'] as const

const LINUX_FILESYSTEM = '0fc63daf-8483-4772-8e79-3d69d8477de4'
/** gdisk's alignment in bytes. */
const ALIGNMENT = 1024 * 1024
const SGDISK_UNITS: Readonly<Record<string, number>> = { K: 2 ** 10, M: 2 ** 20, G: 2 ** 30, T: 2 ** 40 }

interface GptTable {
  diskGuid: string
  first: number
  last: number
  partitions: NewPartition[]
}

/**
 * Adds, deletes and names partitions. A disk without a table gets one, as with gdisk; the table is rewritten for the
 * whole disk, so that its backup is at the disk's end.
 */
export async function editTable({ device }: BlockNode, options: ToolOptions, random: Random): Promise<void> {
  const { size, sectorSize } = device
  const entries = Math.ceil((128 * 128) / sectorSize)
  const gpt = await readGpt(device)
  const table: GptTable = {
    diskGuid: gpt?.diskGuid ?? randomUuid(random),
    first: 2 + entries,
    last: Math.floor(size / sectorSize) - entries - 2,
    partitions: [...(gpt?.partitions ?? [])],
  }
  for (const argument of options.values('delete')) {
    const number = Number(argument)
    if (!table.partitions.some((partition) => partition.number === number)) throw new ToolExit(4)
    table.partitions = table.partitions.filter((partition) => partition.number !== number)
  }
  for (const argument of options.values('new')) table.partitions.push(newPartition(table, argument, sectorSize, random))
  for (const argument of options.values('typecode')) {
    const [partition, code] = partitionAnd(table, argument)
    const type = Object.entries(CODES).find(([, short]) => short.toLowerCase() === code.toLowerCase())?.[0]
    partition.type = type ?? code.toLowerCase()
    if (!/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(partition.type))
      throw new ToolFailure(`could not change partition type code to ${code}`, 4)
  }
  for (const argument of options.values('change-name')) {
    const [partition, name] = partitionAnd(table, argument)
    partition.name = name
  }
  await writeTable(device, table)
}

async function writeTable(device: SimulatedDisk, { diskGuid, partitions }: GptTable): Promise<void> {
  const { size, sectorSize } = device
  const { primary, backup, backupOffset } = buildGpt({ size, sectorSize, diskGuid, partitions })
  bufferOf(await device.read(0, MBR_ENTRIES.from)).copy(primary)
  await device.write(backupOffset, backup)
  await device.write(0, primary)
  await device.flush()
}

/** Parses `NUMBER:REST`; number 0 is the partition that was made last. */
function partitionAnd(table: GptTable, argument: string): [NewPartition, string] {
  const [number, ...rest] = argument.split(':')
  const index = table.partitions.findIndex((partition) => partition.number === Number(number))
  const partition = number === '0' ? table.partitions.at(-1) : table.partitions[index]
  if (!partition) throw new ToolExit(4)
  return [partition, rest.join(':')]
}

/** Parses `NUMBER:START:END`; 0 stands for the next number, and for the largest free block's first and last sector. */
function newPartition(table: GptTable, argument: string, sectorSize: number, random: Random): NewPartition {
  const [numberText = '', startText = '0', endText = '0'] = argument.split(':')
  const used = table.partitions.map(({ number }) => number)
  const number = Number(numberText) || [...Array(128).keys()].map((n) => n + 1).find((n) => !used.includes(n))!
  const align = Math.max(1, ALIGNMENT / sectorSize)
  const up = (lba: number) => Math.ceil(lba / align) * align
  const gaps = freeGaps(table)
  const largest = gaps.sort((a, b) => b.last - b.first - (a.last - a.first))[0]
  if (!largest || used.includes(number)) throw partitionSpaceError(number)
  const firstLba = up(parseSector(startText, largest.first, { first: largest.first, last: largest.last }, sectorSize))
  const gap = gaps.find(({ first, last }) => firstLba >= first && firstLba <= last)
  if (!gap) throw partitionSpaceError(number)
  const lastLba = parseSector(endText, gap.last, { first: firstLba - 1, last: gap.last }, sectorSize)
  if (lastLba < firstLba || lastLba > gap.last) throw partitionSpaceError(number)
  return { number, firstLba, lastLba, type: LINUX_FILESYSTEM, guid: randomUuid(random), name: 'Linux filesystem' }
}

const partitionSpaceError = (number: number) =>
  new ToolFailure(`Could not create partition ${number}: there is no such free space`, 4)

/** Parses a sector or a size; with a sign it counts from the beginning (+) or from the end (-). */
function parseSector(
  text: string,
  ifZero: number,
  within: { first: number; last: number },
  sectorSize: number,
): number {
  const [, sign = '', digits, unit] = /^([+-]?)(\d+)([KMGT]?)i?B?$/i.exec(text) ?? []
  if (digits === undefined) throw new ToolFailure(`invalid sector: '${text}'`, 4)
  const sectors = unit ? (Number(digits) * SGDISK_UNITS[unit.toUpperCase()]!) / sectorSize : Number(digits)
  if (sectors === 0) return ifZero
  if (sign === '+') return within.first + sectors
  if (sign === '-') return within.last - sectors + 1
  return sectors
}

function freeGaps({ partitions, first, last }: GptTable): { first: number; last: number }[] {
  const gaps: { first: number; last: number }[] = []
  let next = first
  for (const { firstLba, lastLba } of [...partitions].sort((a, b) => a.firstLba - b.firstLba)) {
    if (firstLba > next) gaps.push({ first: next, last: firstLba - 1 })
    next = Math.max(next, lastLba + 1)
  }
  if (next <= last) gaps.push({ first: next, last })
  return gaps
}
