import { alignColumns, ownMember } from '../../../base/runtime/index.js'
import { transportOf } from '../../hardware/disk-transports.js'
import { diskNames } from '../../hardware/hardware-names.js'
import { blockNodes, findBlockNode, mountPoints, type BlockDiskNode, type BlockNode } from './block-nodes.js'
import { levelName } from './md-arrays.js'
import type { ProgramMachine } from '../machine-program.js'
import { defineTool, ToolFailure, utilLinuxJson, type ToolOptions } from '../tool.js'

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
  RM: (node) => transportOf(node.disk).isRemovable,
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
  VENDOR: ofDisk((node) => (transportOf(node.disk).isScsi ? node.disk.vendor.padEnd(8) : null)),
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
  HOTPLUG: (node) => transportOf(node.disk).isRemovable,
  SUBSYSTEMS: (node) => transportOf(node.disk).subsystems,
  OWNER: () => 'root',
  GROUP: () => 'disk',
  MODE: () => 'brw-rw----',
}

const DEFAULT_COLUMNS = ['NAME', 'MAJ:MIN', 'RM', 'SIZE', 'RO', 'TYPE', 'MOUNTPOINTS']
const FILESYSTEM_COLUMNS = ['NAME', 'FSTYPE', 'LABEL', 'UUID', 'MOUNTPOINTS']
const RIGHT_ALIGNED = new Set([
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

/** A node of a listing: a disk or an array with its partitions, or a partition. */
type ListedNode = BlockNode | BlockDiskNode

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
    const columns = chosenColumns(options)
    const all = await blockNodes(inside)
    const roots: ListedNode[] = []
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

    const listing = new LsblkListing(inside, options, columns, all)
    if (options.has('json')) stdout(listing.json(roots))
    else if (roots.length > 0) stdout(listing.text(roots))
    return exitCode
  },
)

/** @throws ToolFailure for a column that lsblk does not have */
function chosenColumns(options: ToolOptions): readonly string[] {
  const chosen = namedColumns(options)
  const unknown = chosen.find((name) => ownMember<unknown>(LSBLK_COLUMNS, name) === undefined)
  if (unknown !== undefined) throw new ToolFailure(`unknown column: ${unknown}`)
  return chosen
}

function namedColumns(options: ToolOptions): readonly string[] {
  if (options.has('output-all')) return Object.keys(LSBLK_COLUMNS)
  if (options.has('output'))
    return options.values('output').flatMap((list) => list.split(',').map((name) => name.trim().toUpperCase()))
  return options.has('fs') ? FILESYSTEM_COLUMNS : DEFAULT_COLUMNS
}

/** The chosen columns of nodes, in the form that the options ask for. */
class LsblkListing {
  readonly #inside: ProgramMachine
  readonly #options: ToolOptions
  readonly #columns: readonly string[]
  readonly #all: readonly BlockDiskNode[]
  readonly #isTree: boolean

  constructor(inside: ProgramMachine, options: ToolOptions, columns: readonly string[], all: readonly BlockDiskNode[]) {
    this.#inside = inside
    this.#options = options
    this.#columns = columns
    this.#all = all
    // Without the NAME column there is no tree, in JSON neither.
    this.#isTree = (options.has('tree') || columns.includes('NAME')) && !options.has('list')
  }

  json(roots: readonly ListedNode[]): string {
    const devices = this.#isTree
      ? roots.map((root) => this.#nestedObject(root))
      : this.#flatNodes(roots).map((node) => this.#object(node))
    return utilLinuxJson({ blockdevices: devices })
  }

  text(roots: readonly ListedNode[]): string {
    const rows = this.#isTree
      ? roots.flatMap((root) => this.#treeRows(root, '', ''))
      : this.#flatNodes(roots).map((node) => this.#row(node, ''))
    if (this.#options.has('pairs')) return this.#pairs(rows)
    if (this.#options.has('raw')) return this.#raw(rows)
    return this.#table(rows)
  }

  #cells(node: ListedNode): LsblkCell[] {
    return this.#columns.map((name) => {
      const cell = LSBLK_COLUMNS[name]!(node, this.#inside, this.#options.has('bytes'))
      return this.#options.has('paths') && /^P?K?NAME$/.test(name) && cell !== null ? `/dev/${String(cell)}` : cell
    })
  }

  /** An array is a child of each of its members. */
  #children(node: ListedNode): ListedNode[] {
    if (this.#options.has('nodeps')) return []
    const partitions = 'partitions' in node ? node.partitions : []
    const arrays = this.#all.filter(({ array }) => array?.members.some((member) => member?.name === node.name))
    return [...partitions, ...arrays]
  }

  #flatNodes(roots: readonly ListedNode[]): ListedNode[] {
    const withChildren = (node: ListedNode): ListedNode[] => [node, ...this.#children(node).flatMap(withChildren)]
    return unique(roots.flatMap(withChildren))
  }

  #object(node: ListedNode): Record<string, unknown> {
    const row: Record<string, unknown> = {}
    for (const [index, cell] of this.#cells(node).entries()) row[this.#columns[index]!.toLowerCase()] = cell
    return row
  }

  #nestedObject(node: ListedNode): Record<string, unknown> {
    const row = this.#object(node)
    const children = this.#children(node)
    if (children.length > 0) row['children'] = children.map((child) => this.#nestedObject(child))
    return row
  }

  #row(node: ListedNode, branch: string): LsblkTreeRow {
    return { branch, cells: this.#cells(node).map(formatCell) }
  }

  #treeRows(node: ListedNode, indent: string, branch: string): LsblkTreeRow[] {
    const lines = this.#options.has('ascii') ? ASCII_LINES : UNICODE_LINES
    const children = this.#children(node)
    const inner = branch === '' ? '' : indent + (branch === lines.lastChild ? lines.blank : lines.through)
    return [
      this.#row(node, indent + branch),
      ...children.flatMap((child, index) =>
        this.#treeRows(child, inner, index === children.length - 1 ? lines.lastChild : lines.child),
      ),
    ]
  }

  #pairs(rows: readonly LsblkTreeRow[]): string {
    const line = (cells: readonly string[]) =>
      cells.map((cell, index) => `${this.#columns[index]!}="${cell}"`).join(' ')
    return rows.map(({ cells }) => `${line(cells)}\n`).join('')
  }

  #raw(rows: readonly LsblkTreeRow[]): string {
    const escaped = rows.map(({ cells }) => cells.map((cell) => cell.replaceAll(' ', '\\x20')))
    return this.#withHeading(escaped)
      .map((cells) => `${cells.join(' ')}\n`)
      .join('')
  }

  #table(rows: readonly LsblkTreeRow[]): string {
    const drawn = rows.map(({ branch, cells }) =>
      cells.map((cell, index) => (this.#columns[index] === 'NAME' ? branch + cell : cell)),
    )
    const right = new Set(this.#columns.flatMap((name, index) => (RIGHT_ALIGNED.has(name) ? [index] : [])))
    return alignColumns(this.#withHeading(drawn), { right })
  }

  #withHeading(rows: readonly (readonly string[])[]): readonly (readonly string[])[] {
    return this.#options.has('noheadings') ? rows : [this.#columns, ...rows]
  }
}

/** How a tree is drawn. */
interface TreeLines {
  /** Passes by the children of a node that is not the last one. */
  through: string
  child: string
  lastChild: string
  blank: string
}

const ASCII_LINES: TreeLines = { through: '| ', child: '|-', lastChild: '`-', blank: '  ' }
const UNICODE_LINES: TreeLines = { through: '│ ', child: '├─', lastChild: '└─', blank: '  ' }

interface LsblkTreeRow {
  branch: string
  cells: string[]
}

/** Removes repeated nodes: a list shows an array once, not for each member. */
const unique = (nodes: readonly ListedNode[]): ListedNode[] =>
  nodes.filter((node, index) => nodes.findIndex(({ name }) => name === node.name) === index)

const raidType = ({ array }: BlockDiskNode) => (array ? levelName(array.superblock.level) : 'raid')

function formatCell(cell: LsblkCell): string {
  if (cell === null) return ''
  if (Array.isArray(cell)) return cell.map((item) => item ?? '').join(',')
  if (typeof cell === 'boolean') return cell ? '1' : '0'
  return String(cell)
}

/** Disks have 16 minors each. */
function majorMinor(node: BlockNode, inside: ProgramMachine): string {
  if (/^md/.test(node.disk.name)) return node.kind === 'raid' ? `9:${node.name.slice(2)}` : `259:${node.number!}`
  const index = inside.spec.disks.indexOf(node.disk)
  return `${transportOf(node.disk).major}:${index * 16 + (node.number ?? 0)}`
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
