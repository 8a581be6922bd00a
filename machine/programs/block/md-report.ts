import { mdUuid, type MdSuperblock } from '../../disk/md-superblock.js'
import type { BlockNode } from './block-nodes.js'
import { humanSize } from './lsblk.js'
import { levelName, type MdArray } from './md-arrays.js'

/** `     Raid Level : raid1`: mdadm aligns at the colon. */
const formatReportRows = (rows: readonly (readonly [string, string] | null)[]): string =>
  rows.map((row) => (row ? `${row[0].padStart(18)} : ${row[1]}\n` : '\n')).join('')

const DAYS = ['Sun', 'Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat']
const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec']

/** A time in ctime(3)'s format, in UTC. */
function ctime(ms: number): string {
  const at = new Date(ms)
  const time = at.toISOString().slice(11, 19)
  const day = String(at.getUTCDate()).padStart(2)
  return `${DAYS[at.getUTCDay()]!} ${MONTHS[at.getUTCMonth()]!} ${day} ${time} ${at.getUTCFullYear()}`
}

const kib = (bytes: number) => `${bytes / 1024} (${humanSize(bytes)}iB ${(bytes / 1e9).toFixed(2)} GB)`

/** `mdadm --detail /dev/md127` */
export function detail(path: string, { superblock, members, device }: MdArray): string {
  const { level, chunk, memberSize, created, name, arrayUuid, events } = superblock
  const present = members.filter((member) => member !== undefined).length
  const head = formatReportRows([
    ['Version', '1.2'],
    ['Creation Time', ctime(created)],
    ['Raid Level', levelName(level)],
    ['Array Size', kib(device!.size)],
    ...(level === 0 ? [] : [['Used Dev Size', kib(memberSize)] as const]),
    ['Raid Devices', String(members.length)],
    ['Total Devices', String(present)],
    ['Persistence', 'Superblock is persistent'],
    null,
    ['State', present < members.length ? 'clean, degraded ' : 'clean '],
    ['Active Devices', String(present)],
    ['Working Devices', String(present)],
    ['Failed Devices', '0'],
    ['Spare Devices', '0'],
    null,
    ...(level === 10 ? [['Layout', 'near=2'] as const] : []),
    ...(level === 5 || level === 6 ? [['Layout', 'left-symmetric'] as const] : []),
    ...(level === 1 ? [] : [['Chunk Size', `${chunk / 1024}K`] as const, null]),
    ['Consistency Policy', level === 0 ? 'none' : 'resync'],
    null,
    ['Name', name],
    ['UUID', mdUuid(arrayUuid)],
    ['Events', String(events)],
  ])
  const rows = members.map((member, role) =>
    member
      ? `${String(role).padStart(8)}${'8'.padStart(8)}${String(role).padStart(9)}${String(role).padStart(9)}      active sync   /dev/${member.name}\n`
      : `${'-'.padStart(8)}${'0'.padStart(8)}${'0'.padStart(9)}${String(role).padStart(9)}      removed\n`,
  )
  return `${path}:\n${head}\n    Number   Major   Minor   RaidDevice State\n${rows.join('')}`
}

/** `mdadm --detail --export`, which udev's rules read. */
export function detailExport({ superblock, members }: MdArray): string {
  const lines = [
    ...common(superblock),
    ...members.flatMap((member, role) =>
      member
        ? [`MD_DEVICE_dev_${member.name}_ROLE=${role}`, `MD_DEVICE_dev_${member.name}_DEV=/dev/${member.name}`]
        : [],
    ),
  ]
  return lines.map((line) => `${line}\n`).join('')
}

export const examinationExport = (superblock: MdSuperblock): string =>
  [...common(superblock), `MD_DEV_UUID=${mdUuid(superblock.deviceUuid)}`, `MD_EVENTS=${superblock.events}`]
    .map((line) => `${line}\n`)
    .join('')

const common = ({ level, members, arrayUuid, name }: MdSuperblock) => [
  `MD_LEVEL=${levelName(level)}`,
  `MD_DEVICES=${members}`,
  'MD_METADATA=1.2',
  `MD_UUID=${mdUuid(arrayUuid)}`,
  `MD_DEVNAME=${name.split(':').at(-1) ?? name}`,
  `MD_NAME=${name}`,
]

/** `mdadm --examine /dev/sda1` */
export function examination(path: string, { length }: BlockNode, superblock: MdSuperblock, size: number): string {
  const { level, members, memberSize, dataOffset, created, name, arrayUuid, deviceUuid, role, events } = superblock
  return `${path}:\n${formatReportRows([
    ['Magic', 'a92b4efc'],
    ['Version', '1.2'],
    ['Feature Map', '0x0'],
    ['Array UUID', mdUuid(arrayUuid)],
    ['Name', name],
    ['Creation Time', ctime(created)],
    ['Raid Level', levelName(level)],
    ['Raid Devices', String(members)],
    null,
    ['Avail Dev Size', `${(length - dataOffset) / 512} sectors (${humanSize(length - dataOffset)}iB)`],
    ['Array Size', `${size / 1024} KiB (${humanSize(size)}iB)`],
    ['Used Dev Size', `${memberSize / 512} sectors (${humanSize(memberSize)}iB)`],
    ['Data Offset', `${dataOffset / 512} sectors`],
    ['Super Offset', '8 sectors'],
    ['State', 'clean'],
    ['Device UUID', mdUuid(deviceUuid)],
    null,
    ['Update Time', ctime(created)],
    ['Events', String(events)],
    null,
    ['Device Role', `Active device ${role}`],
    ['Array State', `${'A'.repeat(members)} ('A' == active, '.' == missing, 'R' == replacing)`],
  ])}`
}

/** A line for mdadm.conf. */
export const arrayLine = ({ superblock }: MdArray, path: string): string =>
  `ARRAY ${path} metadata=1.2 name=${superblock.name} UUID=${mdUuid(superblock.arrayUuid)}\n`
