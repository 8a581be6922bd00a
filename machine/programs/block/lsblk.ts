import { alignColumns, ownMember } from '../../../base/runtime/index.js'
import { diskNames } from '../../hardware/hardware-names.js'
import { blockNodes, findBlockNode, mountPoints, type BlockDiskNode, type BlockNode } from './block-nodes.js'
import { levelName } from './md-arrays.js'
import type { ProgramMachine } from '../machine-program.js'
import { defineTool, ToolFailure, utilLinuxJson } from '../tool.js'

type LsblkCell = string | number | boolean | null | (string | null)[]

/** A column. `raw`, with -b, changes only SIZE. */
type LsblkColumn = (node: BlockNode, inside: ProgramMachine, raw: boolean) => LsblkCell

const ofDisk =
  (value: (node: BlockNode, inside: ProgramMachine) => LsblkCell): LsblkColumn =>
  (node, inside) =>
    node.kind === 'disk' ? value(node, inside) : null

/** Columns of util-linux 2.40 that simulated hardware has values for. */
const LSBLK_COLUMNS: Readonly<Record<string, LsblkColumn>> = {
  NAME: (node) => node.name,
  KNAME: (node) => node.name,
  PATH: (node) => `/dev/${node.name}`,
  PKNAME: (node) => (node.kind === 'part' ? node.disk.name : null),
  'MAJ:MIN': (node, inside) => majorMinor(node, inside),
  RM: (node) => node.disk.transport === 'usb',
  SIZE: (node, _, raw) => (raw ? node.length : humanSize(node.length)),
  START: (node) => (node.kind === 'part' ? node.offset / 512 : null),
  RO: () => false,
  TYPE: (node) => (node.kind === 'raid' && 'array' in node ? raidType(node as BlockDiskNode) : node.kind),
  MOUNTPOINT: (node, inside) => mountPoints(inside, node)[0] ?? null,
  MOUNTPOINTS: (node, inside) => {
    const points = mountPoints(inside, node)
    return points.length === 0 ? [null] : points
  },
  FSTYPE: (node) => node.filesystem?.type ?? null,
  LABEL: (node) => node.filesystem?.label ?? null,
  UUID: (node) => node.filesystem?.uuid ?? null,
  PTTYPE: (node) => node.table,
  PTUUID: (node) => node.diskGuid,
  PARTTYPE: (node) => node.gpt?.type ?? null,
  PARTUUID: (node) => node.gpt?.guid ?? null,
  PARTLABEL: (node) => node.gpt?.name || null,
  PARTN: (node) => node.number,
  MODEL: ofDisk((node) => node.disk.model),
  // sysfs pads vendors to eight characters, and lsblk prints them so.
  VENDOR: ofDisk((node) => (node.disk.transport === 'nvme' ? null : node.disk.vendor.padEnd(8))),
  SERIAL: ofDisk((node) => node.disk.serial),
  WWN: (node) => node.disk.wwn || null,
  HCTL: ofDisk((node, inside) => diskNames(inside.spec, node.disk).hctl),
  TRAN: ofDisk((node) => node.disk.transport),
  REV: ofDisk(() => '1.0'),
  STATE: ofDisk(() => 'running'),
  ROTA: (node) => node.disk.rotational,
  'LOG-SEC': (node) => node.disk.sectorSize,
  'PHY-SEC': () => 4096,
  'MIN-IO': () => 4096,
  'OPT-IO': () => 0,
  ALIGNMENT: () => 0,
  HOTPLUG: (node) => node.disk.transport === 'usb',
  SUBSYSTEMS: (node) => (node.disk.transport === 'nvme' ? 'block:nvme:pci' : 'block:scsi:pci'),
  OWNER: () => 'root',
  GROUP: () => 'disk',
  MODE: () => 'brw-rw----',
}

const DEFAULT = ['NAME', 'MAJ:MIN', 'RM', 'SIZE', 'RO', 'TYPE', 'MOUNTPOINTS']
const FILESYSTEMS = ['NAME', 'FSTYPE', 'LABEL', 'UUID', 'MOUNTPOINTS']
const RIGHT = new Set([
  'RM',
  'SIZE',
  'RO',
  'ROTA',
  'LOG-SEC',
  'PHY-SEC',
  'START',
  'PARTN',
  'MIN-IO',
  'OPT-IO',
  'ALIGNMENT',
])

export const lsblk = defineTool(
  'lsblk',
  {
    all: 'a',
    ascii: 'i',
    bytes: 'b',
    fs: 'f',
    json: 'J',
    list: 'l',
    nodeps: 'd',
    noheadings: 'n',
    output: 'o=',
    'output-all': 'O',
    pairs: 'P',
    paths: 'p',
    raw: 'r',
    tree: 'T',
    exclude: 'e=',
    include: 'I=',
  },
  async ({ inside, stdout, stderr }, options) => {
    const chosen = options.has('output-all')
      ? Object.keys(LSBLK_COLUMNS)
      : options.has('output')
        ? options.values('output').flatMap((list) => list.split(',').map((name) => name.trim().toUpperCase()))
        : options.has('fs')
          ? FILESYSTEMS
          : DEFAULT
    const unknown = chosen.find((name) => ownMember<unknown>(LSBLK_COLUMNS, name) === undefined)
    if (unknown !== undefined) throw new ToolFailure(`unknown column: ${unknown}`)

    const all = await blockNodes(inside)
    const roots: (BlockNode | BlockDiskNode)[] = []
    let exitCode = 0
    for (const path of options.rest) {
      const node = await findBlockNode(inside, path)
      if (node) roots.push(node)
      else {
        stderr(`lsblk: ${path}: not a block device\n`)
        exitCode = 32
      }
    }
    if (options.rest.length === 0) roots.push(...all.filter(({ kind }) => kind === 'disk' || options.has('nodeps')))

    const cells = (node: BlockNode): LsblkCell[] =>
      chosen.map((name) => {
        const cell = LSBLK_COLUMNS[name]!(node, inside, options.has('bytes'))
        return options.has('paths') && /^P?K?NAME$/.test(name) && cell !== null ? `/dev/${String(cell)}` : cell
      })
    // An array is a child of each of its members.
    const children = (node: BlockNode | BlockDiskNode): (BlockNode | BlockDiskNode)[] =>
      options.has('nodeps')
        ? []
        : [
            ...('partitions' in node ? node.partitions : []),
            ...all.filter(({ array }) => array?.members.some((member) => member?.name === node.name)),
          ]
    // Without the NAME column there is no tree, in JSON neither.
    const asTree = (options.has('tree') || chosen.includes('NAME')) && !options.has('list')

    const flat = (node: BlockNode | BlockDiskNode): (BlockNode | BlockDiskNode)[] => [
      node,
      ...children(node).flatMap(flat),
    ]
    if (options.has('json')) {
      const names = chosen.map((name) => name.toLowerCase())
      const object = (node: BlockNode): Record<string, unknown> => {
        const row: Record<string, unknown> = {}
        for (const [index, cell] of cells(node).entries()) row[names[index]!] = cell
        return row
      }
      const tree = (node: BlockNode | BlockDiskNode): Record<string, unknown> => {
        const row = object(node)
        const below = children(node)
        if (below.length > 0) row['children'] = below.map(tree)
        return row
      }
      const devices = asTree ? roots.map(tree) : unique(roots.flatMap(flat)).map(object)
      stdout(utilLinuxJson({ blockdevices: devices }))
      return exitCode
    }
    if (roots.length === 0) return exitCode
    const [through, branchTo, lastTo, blank] = options.has('ascii')
      ? ['| ', '|-', '`-', '  ']
      : ['│ ', '├─', '└─', '  ']
    const drawTree = (node: BlockNode | BlockDiskNode, indent: string, branch: string): LsblkTreeRow[] => {
      const below = children(node)
      const inner = branch === '' ? '' : indent + (branch === lastTo ? blank! : through!)
      return [
        { branch: indent + branch, cells: cells(node).map(formatCell) },
        ...below.flatMap((child, index) => drawTree(child, inner, index === below.length - 1 ? lastTo! : branchTo!)),
      ]
    }
    const rows = asTree
      ? roots.flatMap((root) => drawTree(root, '', ''))
      : unique(roots.flatMap(flat)).map((node) => ({ branch: '', cells: cells(node).map(formatCell) }))
    if (options.has('pairs'))
      stdout(rows.map((row) => `${row.cells.map((cell, index) => `${chosen[index]!}="${cell}"`).join(' ')}\n`).join(''))
    else if (options.has('raw')) {
      const heading = options.has('noheadings') ? [] : [chosen]
      const escaped = rows.map((row) => row.cells.map((cell) => cell.replaceAll(' ', '\\x20')))
      stdout([...heading, ...escaped].map((row) => `${row.join(' ')}\n`).join(''))
    } else {
      const drawn = rows.map(({ branch, cells }) =>
        cells.map((cell, index) => (chosen[index] === 'NAME' ? branch + cell : cell)),
      )
      const right = new Set(chosen.flatMap((name, index) => (RIGHT.has(name) ? [index] : [])))
      stdout(alignColumns(options.has('noheadings') ? drawn : [chosen, ...drawn], { right }))
    }
    return exitCode
  },
)

interface LsblkTreeRow {
  branch: string
  cells: string[]
}

/** Removes repeated nodes: a list shows an array once, not for each member. */
const unique = (nodes: BlockNode[]): BlockNode[] =>
  nodes.filter((node, index) => nodes.findIndex(({ name }) => name === node.name) === index)

const raidType = ({ array }: BlockDiskNode) => (array ? levelName(array.superblock.level) : 'raid')

function formatCell(cell: LsblkCell): string {
  if (cell === null) return ''
  if (Array.isArray(cell)) return cell.map((item) => item ?? '').join(',')
  if (typeof cell === 'boolean') return cell ? '1' : '0'
  return String(cell)
}

/** SCSI disks have 16 minors each; NVMe namespaces live in the extended block range. */
function majorMinor(node: BlockNode, inside: ProgramMachine): string {
  if (/^md/.test(node.disk.name)) return node.kind === 'raid' ? `9:${node.name.slice(2)}` : `259:${node.number!}`
  const index = inside.spec.disks.indexOf(node.disk)
  const major = node.disk.transport === 'nvme' ? 259 : 8
  return `${major}:${index * 16 + (node.number ?? 0)}`
}

/** A size as util-linux prints it: powers of 1024, one decimal when it is not zero. */
export function humanSize(bytes: number): string {
  const units = ['B', 'K', 'M', 'G', 'T', 'P']
  let value = bytes
  let unit = 0
  for (; value >= 1024 && unit < units.length - 1; unit++) value /= 1024
  const rounded = Math.round(value * 10) / 10
  return `${Number.isInteger(rounded) ? rounded : rounded.toFixed(1)}${units[unit]!}`
}
