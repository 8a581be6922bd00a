import { mdDevice, isRunnable } from '../../disk/md-device.js'
import {
  MD_SUPERBLOCK_LENGTH,
  MD_SUPERBLOCK_OFFSET,
  mdUuid,
  parseMdSuperblock,
  type MdSuperblock,
} from '../../disk/md-superblock.js'
import type { SimulatedDisk } from '../../disk/block-device.js'
import { blockNodes, flatNodes, readNode, type BlockDiskNode, type BlockNode } from './block-nodes.js'
import type { ProgramMachine } from '../machine-program.js'

/** An array as its members' superblocks describe it. */
export interface MdArray {
  /** `md127` */
  name: string
  superblock: MdSuperblock
  /** Members by role; undefined for a missing one. */
  members: (BlockNode | undefined)[]
  state: 'running' | 'stopped'
  /** Set for a running array. */
  device: SimulatedDisk | undefined
}

/** mdadm's file of running arrays: `md127 1.2 UUID PATH`. In the ramdisk, so it lasts for one boot. */
const MAP = '/run/mdadm/map'
/** Arrays that were stopped in this boot: udev does not assemble them again. */
const STOPPED = '/run/mdadm/stopped'

const uuidOf = ({ arrayUuid }: MdSuperblock) => mdUuid(arrayUuid)

export async function readMdSuperblock(node: BlockNode): Promise<MdSuperblock | undefined> {
  return parseMdSuperblock(await readNode(node, MD_SUPERBLOCK_OFFSET, MD_SUPERBLOCK_LENGTH))
}

export const isArrayMember = ({ filesystem }: BlockNode): boolean => filesystem?.type === 'linux_raid_member'

/**
 * The arrays whose members are among these disks and partitions. udev's rules assemble an array when its members appear,
 * so an array without a name in this boot gets the highest free number.
 */
export async function findArrays(inside: ProgramMachine, disks: readonly BlockDiskNode[]): Promise<MdArray[]> {
  const found = new Map<string, { superblock: MdSuperblock; members: (BlockNode | undefined)[] }>()
  for (const node of flatNodes(disks).filter(isArrayMember)) {
    const superblock = await readMdSuperblock(node)
    if (!superblock || superblock.role >= superblock.members) continue
    const uuid = uuidOf(superblock)
    const array = found.get(uuid) ?? { superblock, members: Array<undefined>(superblock.members).fill(undefined) }
    array.members[superblock.role] = node
    found.set(uuid, array)
  }
  if (found.size === 0) return []
  const names = namesOf(inside, [...found.keys()])
  const stopped = lines(inside, STOPPED)
  return [...found].map(([uuid, { superblock, members }]) => {
    const name = names.get(uuid)!
    const { level, chunk, memberSize, dataOffset } = superblock
    const running = isRunnable({ level, members: members.map(toMember(dataOffset)) }) && !stopped.includes(uuid)
    return {
      name,
      superblock,
      members,
      state: running ? 'running' : 'stopped',
      device: running
        ? mdDevice({
            name,
            level,
            chunk,
            memberSize,
            sectorSize: Math.max(...members.flatMap((member) => member?.device.sectorSize ?? [])),
            members: members.map(toMember(dataOffset)),
          })
        : undefined,
    }
  })
}

const toMember = (dataOffset: number) => (node: BlockNode | undefined) =>
  node && { device: node.device, offset: node.offset + dataOffset }

function namesOf(inside: ProgramMachine, uuids: readonly string[]): Map<string, string> {
  const map = lines(inside, MAP).map((line) => line.split(' '))
  const names = new Map(map.map(([name, , uuid]) => [uuid!, name!]))
  for (const uuid of [...uuids].sort()) {
    if (names.has(uuid)) continue
    let number = 127
    while ([...names.values()].includes(`md${number}`)) number--
    names.set(uuid, `md${number}`)
    nameArray(inside, uuid, `md${number}`)
  }
  return names
}

/** Gives an array its name for this boot. */
export function nameArray(inside: ProgramMachine, uuid: string, name: string): void {
  const others = lines(inside, MAP).filter((line) => line.split(' ')[2] !== uuid)
  writeOrRemove(inside, MAP, [...others, `${name} 1.2 ${uuid} /dev/${name}`])
}

export function setStopped(inside: ProgramMachine, uuid: string, stopped: boolean): void {
  const others = lines(inside, STOPPED).filter((line) => line !== uuid)
  writeOrRemove(inside, STOPPED, stopped ? [...others, uuid] : others)
}

/** Frees the name of a removed array. */
export function forgetArray(inside: ProgramMachine, uuid: string): void {
  writeOrRemove(
    inside,
    MAP,
    lines(inside, MAP).filter((line) => line.split(' ')[2] !== uuid),
  )
  setStopped(inside, uuid, false)
}

const lines = ({ files }: ProgramMachine, path: string): string[] =>
  files.exists(path)
    ? Buffer.from(files.read(path))
        .toString()
        .split('\n')
        .filter((line) => line !== '')
    : []

function writeOrRemove({ files }: ProgramMachine, path: string, content: readonly string[]): void {
  if (content.length > 0 || files.exists(path)) {
    files.mkdir('/run/mdadm')
    files.write(path, Buffer.from(content.map((line) => `${line}\n`).join('')))
  }
}

export const levelName = (level: number): string => `raid${level}`

/** Contents of /proc/mdstat. */
export async function mdstat(inside: ProgramMachine): Promise<string> {
  const running = (await blockNodes(inside)).flatMap(({ array }) => (array ? [array] : []))
  const levels = [...new Set(running.map(({ superblock }) => `[${levelName(superblock.level)}]`))].sort()
  const blocks = running.map(({ name, superblock, members, device }) => {
    const { level, chunk } = superblock
    const present = members.flatMap((member, role) => (member ? [`${member.name}[${role}]`] : [])).reverse()
    const count = members.filter((member) => member !== undefined).length
    const health = `[${members.length}/${count}] [${members.map((member) => (member ? 'U' : '_')).join('')}]`
    const details = [
      `${device!.size / 1024} blocks super 1.2`,
      level === 5 || level === 6 ? `level ${level},` : '',
      level === 1 ? '' : `${chunk / 1024}${level === 10 ? 'K' : 'k'} chunks`,
      level === 10 ? '2 near-copies' : '',
      level === 5 || level === 6 ? 'algorithm 2' : '',
      level === 0 ? '' : health,
    ].filter((word) => word !== '')
    return `${name} : active ${levelName(level)} ${present.join(' ')}\n      ${details.join(' ')}\n      \n`
  })
  return `Personalities : ${levels.map((level) => `${level} `).join('')}\n${blocks.join('')}unused devices: <none>\n`
}
