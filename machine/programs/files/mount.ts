import { normalPath } from '../../file-tree.js'
import { blockNodes, findBlockNode, flatNodes, mountPoints, type BlockNode } from '../block/block-nodes.js'
import type { ProgramMachine, MachineProgram } from '../machine-program.js'
import { fileView } from './file-view.js'
import { defineTool, ToolFailure } from '../tool.js'

/** Exit code of mount(8) and umount(8) when the mount itself fails. */
const MOUNT_FAILED = 32

export const mount = defineTool(
  'mount',
  { options: 'o=', types: 't=', 'read-only': 'r', rw: 'w', label: 'L=', uuid: 'U=', verbose: 'v', mkdir: 'm' },
  async ({ inside, clock, stdout }, options) => {
    if (options.rest.length === 0 && !options.has('label') && !options.has('uuid'))
      return stdout(await listMounts(inside))
    const tag = options.has('label')
      ? `LABEL=${options.value('label')!}`
      : options.has('uuid')
        ? `UUID=${options.value('uuid')!}`
        : undefined
    const source = tag ?? options.rest[0]!
    const target = options.rest[tag === undefined ? 1 : 0]
    if (target === undefined) throw new ToolFailure(`${source}: can't find in /etc/fstab.`)
    const point = normalPath(target)
    const failed = (message: string) => new ToolFailure(`${target}: ${message}`, MOUNT_FAILED)

    const node = await findSource(inside, source)
    if (!node)
      throw source.includes('=') && !source.startsWith('/')
        ? failed(`can't find ${source}.`)
        : failed(`special device ${source} does not exist.`)
    const view = fileView(inside, clock)
    if (!(await view.exists(point))) {
      if (!options.has('mkdir')) throw failed('mount point does not exist.')
      await view.mkdir(point)
    }
    if ((await view.stat(point)).kind !== 'directory') throw failed('mount point is not a directory.')
    const type = node.filesystem?.type
    if (type === undefined)
      throw failed(
        `wrong fs type, bad option, bad superblock on /dev/${node.name}, missing codepage or helper program, or other error.`,
      )
    // The simulated kernel supports the filesystems that steps and coreos-installer use: ext, and FAT for reading.
    if (!type.startsWith('ext') && type !== 'vfat') throw failed(`unknown filesystem type '${type}'.`)
    const words = options.values('options').flatMap((list) => list.split(','))
    const readOnly = options.has('read-only') || words.includes('ro')
    if (type === 'vfat' && !readOnly) throw failed(`cannot mount /dev/${node.name} read-write.`)
    inside.mounts.set(point, { device: `/dev/${node.name}`, readOnly })
    await inside.persist()
  },
)

async function findSource(inside: ProgramMachine, source: string): Promise<BlockNode | undefined> {
  const [, tag, value] = /^(LABEL|UUID|PARTLABEL|PARTUUID)=(.*)$/.exec(source) ?? []
  if (tag !== undefined) {
    const link = `/dev/disk/by-${tag.toLowerCase()}/${value!}`
    return flatNodes(await blockNodes(inside)).find((node) => node.links.includes(link))
  }
  return findBlockNode(inside, source)
}

async function listMounts(inside: ProgramMachine): Promise<string> {
  const lines: string[] = []
  for (const [point, { device, readOnly }] of inside.mounts) {
    const type = (await findBlockNode(inside, device))?.filesystem?.type ?? 'none'
    lines.push(`${device} on ${point} type ${type} (${readOnly ? 'ro' : 'rw'},relatime)\n`)
  }
  return lines.join('')
}

export const umount = defineTool(
  'umount',
  { lazy: 'l', force: 'f', recursive: 'R', quiet: 'q', verbose: 'v' },
  async ({ inside }, options) => {
    if (options.rest.length === 0) throw new ToolFailure('bad usage')
    for (const operand of options.rest) {
      const path = normalPath(operand)
      const node = await findBlockNode(inside, path)
      const points = node ? mountPoints(inside, node) : [...inside.mounts.keys()].filter((point) => point === path)
      if (points.length === 0) throw new ToolFailure(`${operand}: not mounted.`, MOUNT_FAILED)
      for (const point of points) {
        const below = [...inside.mounts.keys()].filter((other) => other.startsWith(`${point}/`))
        if (below.length > 0 && !options.has('recursive') && !options.has('lazy'))
          throw new ToolFailure(`${operand}: target is busy.`, MOUNT_FAILED)
        for (const inner of [...below, point]) inside.mounts.delete(inner)
      }
    }
    await inside.persist()
  },
)

/** The disk when one of its partitions is mounted: BLKRRPART then refuses to re-read its table. */
async function busyDisk(inside: ProgramMachine, path: string): Promise<BlockNode | undefined> {
  const disk = (await blockNodes(inside)).find(({ name }) => path === `/dev/${name}`)
  return disk?.partitions.some((partition) => mountPoints(inside, partition).length > 0) ? disk : undefined
}

export const blockdev = defineTool(
  'blockdev',
  { rereadpt: '', getsize64: '', getss: '', getpbsz: '', getsz: '', getro: '', flushbufs: '' },
  async ({ inside, stdout }, options) => {
    for (const path of options.rest) {
      const node = await findBlockNode(inside, path)
      if (!node) throw new ToolFailure(`cannot open ${path}: No such file or directory`)
      if (options.has('rereadpt') && (await busyDisk(inside, path)))
        throw new ToolFailure('ioctl error on BLKRRPART: Device or resource busy')
      if (options.has('getsize64')) stdout(`${node.length}\n`)
      if (options.has('getsz')) stdout(`${node.length / 512}\n`)
      if (options.has('getss')) stdout(`${node.disk.sectorSize}\n`)
      if (options.has('getpbsz')) stdout('4096\n')
      if (options.has('getro')) stdout('0\n')
      if (options.has('flushbufs')) await node.device.flush()
    }
  },
)

/** Programs that re-read a table. Partitions always follow the disk, so these only check that it exists. */
export const partx = rescan('partx', (path) => `${path}: failed to open: No such file or directory`)
export const partprobe = rescan(
  'partprobe',
  (path) => `Error: Could not stat device ${path} - No such file or directory.`,
)

function rescan(name: string, missing: (path: string) => string): MachineProgram {
  return defineTool(
    name,
    { update: 'u', add: 'a', delete: 'd', summary: 's', nr: 'n=' },
    async ({ inside }, options) => {
      for (const path of options.rest) if (!(await findBlockNode(inside, path))) throw new ToolFailure(missing(path))
    },
  )
}
