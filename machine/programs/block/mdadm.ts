import { MIB } from '../../../base/runtime/index.js'
import { mdSize } from '../../disk/md-device.js'
import {
  buildMdSuperblock,
  MD_SUPERBLOCK_LENGTH,
  MD_SUPERBLOCK_OFFSET,
  mdUuid,
  type MdSuperblock,
  type MdLevel,
} from '../../disk/md-superblock.js'
import { blockNodes, findBlockNode, mountPoints, type BlockDiskNode, type BlockNode } from './block-nodes.js'
import { findArrays, forgetArray, nameArray, readMdSuperblock, setStopped, type MdArray } from './md-arrays.js'
import { arrayLine, detail, detailExport, examination, examinationExport } from './md-report.js'
import type { ProgramMachine, Process } from '../machine-program.js'
import { defineTool, ToolExit, ToolFailure, type ToolOptions } from '../tool.js'

const CHUNK = 512 * 1024
/** Room for a bitmap and a bad block log, as mdadm leaves it on small members. */
const DATA_OFFSET = MIB
const MDADM_LEVELS: Readonly<Record<string, MdLevel>> = {
  '0': 0,
  raid0: 0,
  stripe: 0,
  '1': 1,
  raid1: 1,
  mirror: 1,
  '5': 5,
  raid5: 5,
  '6': 6,
  raid6: 6,
  '10': 10,
  raid10: 10,
}
const MIN_ARRAY_DEVICES: Readonly<Record<MdLevel, number>> = { 0: 2, 1: 2, 5: 3, 6: 4, 10: 4 }

/** Software RAID with superblocks of version 1.2. An array runs as long as its superblocks are there. */
export const mdadm = defineTool(
  'mdadm',
  {
    create: 'C',
    detail: 'D',
    examine: 'E',
    scan: 's',
    stop: 'S',
    'zero-superblock': '',
    assemble: 'A',
    wait: 'W',
    export: 'Y',
    verbose: 'v',
    force: 'f',
    run: 'R',
    metadata: 'e=',
    level: 'l=',
    name: 'N=',
    chunk: 'c=',
    homehost: '=',
    'raid-devices': 'n=',
    'assume-clean': '',
    bitmap: 'b=',
    auto: 'a=',
  },
  async (process, options) => {
    if (options.has('create')) return createArray(process, options)
    if (options.has('assemble')) return assemble(process, options)
    if (options.has('stop')) return stop(process, options)
    if (options.has('zero-superblock')) return zeroSuperblocks(process, options)
    if (options.has('examine')) return examine(process, options)
    if (options.has('detail')) return showDetail(process, options)
    // Nothing to wait for: simulated arrays are always in sync.
    if (options.has('wait')) for (const path of options.rest) await runningArray(process.inside, path)
  },
)

async function createArray({ inside, random, clock, stderr }: Process, options: ToolOptions): Promise<void> {
  const [path, ...memberPaths] = options.rest
  const level = MDADM_LEVELS[options.value('level') ?? '']
  const count = Number(options.value('raid-devices') ?? NaN)
  if (path === undefined) throw new ToolFailure('an md device must be given in this mode', 2)
  if (level === undefined) throw new ToolFailure('a RAID level is needed to create an array.', 2)
  if (!['1', '1.2', undefined].includes(options.value('metadata')))
    throw new ToolFailure(`unrecognised metadata identifier: ${options.value('metadata')!}`, 2)
  if (
    !(count >= (level === 1 && options.has('force') ? 1 : MIN_ARRAY_DEVICES[level])) ||
    (level === 10 && count % 2 !== 0)
  )
    throw new ToolFailure(`at least ${MIN_ARRAY_DEVICES[level]} raid-devices needed for level ${level}`, 2)
  if (memberPaths.length !== count)
    throw new ToolFailure(`You have listed ${memberPaths.length} devices but ${count} are needed.`, 2)
  const name = nameOfDevice(path)
  const nodes = await blockNodes(inside)
  if (nodes.some((node) => node.name === name)) throw new ToolFailure(`${path} is already in use.`, 2)
  const members: BlockNode[] = []
  for (const memberPath of memberPaths) {
    const member = await findBlockNode(inside, memberPath)
    if (!member) throw new ToolFailure(`cannot open ${memberPath}: No such file or directory`, 2)
    if (inUse(inside, nodes, member))
      throw new ToolFailure(`super1.x cannot open ${memberPath}: Device or resource busy`, 2)
    if (member.filesystem) {
      stderr(`mdadm: ${memberPath} appears to contain ${describeSignature(member)}\n`)
      if (!options.has('run')) throw new ToolFailure('create aborted.')
    }
    members.push(member)
  }
  const smallest = Math.min(...members.map(({ length }) => length)) - DATA_OFFSET
  const memberSize = Math.floor(smallest / CHUNK) * CHUNK
  if (memberSize <= 0) throw new ToolFailure('device is too small to be a member', 2)
  const arrayName = options.value('name') ?? name.replace(/^md/, '')
  const common = {
    arrayUuid: Buffer.from(random.bytes(16)).toString('hex'),
    name: `${options.value('homehost') ?? readHostname(inside)}:${arrayName}`.slice(0, 32),
    level,
    layout: level === 10 ? 0x102 : level >= 5 ? 2 : 0,
    chunk: level === 1 ? 0 : CHUNK,
    members: count,
    memberSize,
    dataOffset: DATA_OFFSET,
    created: clock.now(),
    events: 1,
  }
  for (const [role, member] of members.entries()) {
    const superblock: MdSuperblock = { ...common, role, deviceUuid: Buffer.from(random.bytes(16)).toString('hex') }
    // Remove the signature of an earlier filesystem, which programs would find before the superblock.
    await member.device.discard(member.offset, MD_SUPERBLOCK_OFFSET)
    await member.device.write(member.offset + MD_SUPERBLOCK_OFFSET, buildMdSuperblock(superblock, member.length))
    await member.device.flush()
  }
  nameArray(inside, mdUuid(common.arrayUuid), name)
  stderr(`mdadm: array ${path} started.\n`)
}

/** `/dev/md0` and `/dev/md/name`: an array given by a name has the highest free number, which mdadm links. */
function nameOfDevice(path: string): string {
  const name = /^\/dev\/(md\d+)$/.exec(path)?.[1]
  if (name === undefined) throw new ToolFailure(`${path} does not appear to be an md device`, 2)
  return name
}

const describeSignature = ({ filesystem }: BlockNode) =>
  filesystem?.type === 'linux_raid_member' ? 'a Linux RAID member' : `an ${filesystem!.type} file system`

const readHostname = ({ files }: ProgramMachine) =>
  Buffer.from(files.read('/proc/sys/kernel/hostname')).toString().trim().split('.')[0] ?? 'localhost'

const inUse = (inside: ProgramMachine, nodes: readonly BlockDiskNode[], node: BlockNode) =>
  mountPoints(inside, node).length > 0 || memberOfRunning(nodes, node) !== undefined

const memberOfRunning = (nodes: readonly BlockDiskNode[], node: BlockNode) =>
  nodes.find(({ array }) => array?.members.some((member) => member?.name === node.name))

const everyArray = async (inside: ProgramMachine): Promise<MdArray[]> =>
  findArrays(
    inside,
    (await blockNodes(inside)).filter(({ kind }) => kind === 'disk'),
  )

async function runningArray(inside: ProgramMachine, path: string): Promise<BlockDiskNode & { array: MdArray }> {
  const node = await findBlockNode(inside, path)
  if (node && 'array' in node && node.array) return { ...node, array: node.array }
  if (node) throw new ToolFailure(`${path} does not appear to be an md device`)
  throw new ToolFailure(`error opening ${path}: No such file or directory`)
}

async function assemble({ inside, stderr }: Process, options: ToolOptions): Promise<void> {
  const [path] = options.rest
  const stopped = (await everyArray(inside)).filter(({ state }) => state === 'stopped')
  if (path !== undefined && !options.has('scan')) nameOfDevice(path)
  let started = 0
  for (const { superblock, name, members } of stopped) {
    const wanted = options.rest.slice(1)
    if (wanted.length > 0 && !members.some((member) => member && wanted.includes(`/dev/${member.name}`))) continue
    const as = path !== undefined && !options.has('scan') ? nameOfDevice(path) : name
    nameArray(inside, mdUuid(superblock.arrayUuid), as)
    setStopped(inside, mdUuid(superblock.arrayUuid), false)
    started++
    stderr(`mdadm: /dev/${as} has been started with ${members.filter(Boolean).length} drives.\n`)
  }
  if (started > 0) return
  stderr('mdadm: No arrays found in config file or automatically\n')
  throw new ToolExit(options.has('scan') ? 2 : 1)
}

async function stop({ inside, stderr }: Process, options: ToolOptions): Promise<void> {
  const paths = options.has('scan')
    ? (await blockNodes(inside)).filter(({ array }) => array).map(({ name }) => `/dev/${name}`)
    : options.rest
  for (const path of paths) {
    const { array, partitions, ...node } = await runningArray(inside, path)
    if ([node, ...partitions].some((part) => mountPoints(inside, part).length > 0))
      throw new ToolFailure(
        `Cannot get exclusive access to ${path}:Perhaps a running process, mounted filesystem or active volume group?`,
      )
    await array.device!.flush()
    setStopped(inside, mdUuid(array.superblock.arrayUuid), true)
    stderr(`mdadm: stopped ${path}\n`)
  }
}

async function zeroSuperblocks({ inside, stderr }: Process, options: ToolOptions): Promise<void> {
  for (const path of options.rest) {
    const node = await findBlockNode(inside, path)
    if (!node) throw new ToolFailure(`Couldn't open ${path} for write - not zeroing`, 2)
    const superblock = await readMdSuperblock(node)
    if (!superblock) {
      // Exits with 0: for mdadm a device that is no member is already erased.
      stderr(`mdadm: Unrecognised md component device - ${path}\n`)
      continue
    }
    if (memberOfRunning(await blockNodes(inside), node))
      throw new ToolFailure(`Couldn't open ${path} for write - not zeroing`, 2)
    await node.device.write(node.offset + MD_SUPERBLOCK_OFFSET, Buffer.alloc(MD_SUPERBLOCK_LENGTH))
    await node.device.flush()
    const { arrayUuid } = superblock
    if (!(await everyArray(inside)).some((array) => array.superblock.arrayUuid === arrayUuid))
      forgetArray(inside, mdUuid(arrayUuid))
  }
}

async function examine({ inside, stdout, stderr }: Process, options: ToolOptions): Promise<void> {
  if (options.has('scan') && options.rest.length === 0) {
    for (const array of await everyArray(inside))
      stdout(arrayLine(array, `/dev/md/${array.superblock.name.split(':')[1] ?? ''}`))
    return
  }
  for (const path of options.rest) {
    const node = await findBlockNode(inside, path)
    if (!node) throw new ToolFailure(`cannot open ${path}: No such file or directory`)
    const superblock = await readMdSuperblock(node)
    if (!superblock) {
      stderr(`mdadm: No md superblock detected on ${path}.\n`)
      throw new ToolExit(1)
    }
    const size = mdSize(superblock.level, superblock.members, superblock.memberSize)
    stdout(options.has('export') ? examinationExport(superblock) : examination(path, node, superblock, size))
  }
}

async function showDetail({ inside, stdout }: Process, options: ToolOptions): Promise<void> {
  if (options.has('scan') && options.rest.length === 0) {
    for (const { array, name } of await blockNodes(inside)) if (array) stdout(arrayLine(array, `/dev/${name}`))
    return
  }
  for (const path of options.rest) {
    const { array } = await runningArray(inside, path)
    stdout(options.has('export') ? detailExport(array) : detail(path, array))
  }
}
