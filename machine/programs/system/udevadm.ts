import { transportOf } from '../../hardware/disk-transports.js'
import { diskNames } from '../../hardware/hardware-names.js'
import { mdUuid } from '../../disk/md-superblock.js'
import type { DiskSpec } from '../../machine-spec.js'
import { blockNodes, findBlockNode, flatNodes, type BlockDiskNode, type BlockNode } from '../block/block-nodes.js'
import { levelName } from '../block/md-arrays.js'
import { withArgv, type ProgramMachine, type MachineProgram } from '../machine-program.js'
import { defineTool, ToolFailure } from '../tool.js'

/** Properties that udev's rules give a disk or partition. */
function udevProperties(inside: ProgramMachine, node: BlockNode): Record<string, string> {
  const { disk, filesystem, gpt } = node
  const bus = disk.name.startsWith('md') ? 'virtual' : 'pci0000:00'
  const properties: Property[] = [
    ['DEVPATH', `/devices/${bus}/block/${disk.name}${node.kind === 'part' ? `/${node.name}` : ''}`],
    ['DEVNAME', `/dev/${node.name}`],
    ['DEVTYPE', node.kind === 'part' ? 'partition' : 'disk'],
    ['PARTN', node.number],
    ['PARTNAME', gpt?.name],
    ['SUBSYSTEM', 'block'],
    ['DEVLINKS', node.links.join(' ')],
    ...(bus === 'virtual' ? arrayProperties(node) : hardwareProperties(inside, disk)),
    ['ID_PART_TABLE_TYPE', node.table],
    ['ID_PART_TABLE_UUID', node.diskGuid],
    ['ID_PART_ENTRY_SCHEME', gpt && 'gpt'],
    ['ID_PART_ENTRY_NAME', gpt?.name],
    ['ID_PART_ENTRY_UUID', gpt?.guid],
    ['ID_PART_ENTRY_TYPE', gpt?.type],
    ['ID_PART_ENTRY_NUMBER', gpt && node.number],
    ['ID_FS_LABEL', filesystem?.label],
    ['ID_FS_UUID', filesystem?.uuid],
    ['ID_FS_TYPE', filesystem?.type],
  ]
  const shown: Record<string, string> = {}
  for (const [name, value] of properties)
    if (value !== null && value !== undefined && value !== false && value !== '') shown[name] = String(value)
  return shown
}

type Property = [string, string | number | null | undefined | false]

function hardwareProperties(inside: ProgramMachine, disk: DiskSpec): Property[] {
  const names = diskNames(inside.spec, disk)
  const { bus, isScsi } = transportOf(disk)
  return [
    ['ID_ATA', bus === 'ata' && '1'],
    ['ID_ATA_ROTATION_RATE_RPM', bus === 'ata' && (disk.rotational ? '7200' : '0')],
    ['ID_BUS', bus],
    ['ID_TYPE', 'disk'],
    ['ID_MODEL', disk.model.trim().replaceAll(/\s+/g, '_')],
    ['ID_VENDOR', isScsi && bus !== 'ata' && disk.vendor.trim()],
    ['ID_SERIAL', serial(disk.model, disk.serial)],
    ['ID_SERIAL_SHORT', disk.serial],
    ['ID_WWN', disk.wwn],
    ['ID_WWN_VENDOR_EXTENSION', disk.wwnExtension],
    ['ID_WWN_WITH_EXTENSION', (isScsi || disk.wwnExtension !== undefined) && wwnWithExtension(disk)],
    ['ID_PATH', names.byPath],
    ['ID_PATH_TAG', names.byPath.replaceAll(/[^A-Za-z0-9-]+/g, '_')],
  ]
}

/** Properties of an array, which udev's rules take from `mdadm --detail --export`. */
function arrayProperties(node: BlockNode | BlockDiskNode): Property[] {
  const superblock = 'array' in node ? node.array?.superblock : undefined
  return [
    ['MD_LEVEL', superblock && levelName(superblock.level)],
    ['MD_DEVICES', superblock?.members],
    ['MD_METADATA', superblock && '1.2'],
    ['MD_UUID', superblock && mdUuid(superblock.arrayUuid)],
    ['MD_NAME', superblock?.name],
  ]
}

const wwnWithExtension = ({ wwn, wwnExtension = '' }: DiskSpec): string => `${wwn}${wwnExtension.replace(/^0x/, '')}`

const serial = (model: string, short: string) => `${model.trim().replaceAll(/\s+/g, '_')}_${short}`

const udevadmInfo = defineTool(
  'udevadm',
  { query: 'q=', name: 'n=', path: 'p=', property: '=', value: '', root: 'r', 'export-db': 'e', export: 'x' },
  async ({ inside, stdout }, options) => {
    if (options.has('export-db')) {
      for (const node of flatNodes(await blockNodes(inside))) stdout(`${database(udevProperties(inside, node))}\n`)
      return
    }
    const device = options.value('name') ?? options.value('path') ?? options.rest.at(-1)
    if (device === undefined) throw new ToolFailure('A device name or path is required')
    const path = device.startsWith('/sys/')
      ? `/dev/${device.split('/').at(-1)!}`
      : device.startsWith('/dev/')
        ? device
        : `/dev/${device}`
    const node = await findBlockNode(inside, path)
    if (!node) throw new ToolFailure(`Unknown device "${device}": No such device`)
    const properties = udevProperties(inside, node)
    switch (options.value('query')) {
      case 'name':
        return stdout(`${node.name}\n`)
      case 'symlink':
        return stdout(`${node.links.map((link) => link.slice('/dev/'.length)).join(' ')}\n`)
      case 'path':
        return stdout(`${properties['DEVPATH']!}\n`)
      case 'property': {
        const only = options.value('property')?.split(',')
        for (const [name, value] of Object.entries(properties))
          if (!only || only.includes(name))
            stdout(options.has('value') ? `${value}\n` : `${name}=${options.has('export') ? `'${value}'` : value}\n`)
        return
      }
      default:
        return stdout(database(properties))
    }
  },
)

const database = (properties: Record<string, string>): string =>
  [
    `P: ${properties['DEVPATH']!}`,
    `N: ${properties['DEVNAME']!.slice('/dev/'.length)}`,
    ...(properties['DEVLINKS'] ?? '').split(' ').map((link) => `S: ${link.slice('/dev/'.length)}`),
    ...Object.entries(properties).map(([name, value]) => `E: ${name}=${value}`),
  ]
    .map((line) => `${line}\n`)
    .join('')

/** udevadm. There are no pending events, since device nodes always follow the disks. */
export const udevadm: MachineProgram = async (process) => {
  const [, verb, ...rest] = process.argv
  switch (verb) {
    case 'info':
      return udevadmInfo(withArgv(process, ['udevadm', ...rest]))
    case 'settle':
    case 'trigger':
    case 'control':
      return 0
    case undefined:
      process.stderr('udevadm: missing or unknown command\n')
      return 1
    default:
      process.stderr(`udevadm: Unknown command verb '${verb}'.\n`)
      return 1
  }
}
