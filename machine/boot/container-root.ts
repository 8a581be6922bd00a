import { isObject, type Clock } from '../../base/runtime/index.js'
import type { SimulatedDisk } from '../disk/block-device.js'
import { withBootVolume, type BootVolume } from '../disk/boot-volume.js'
import type { DiskLayout } from '../disk/disk-partitions.js'
import { LUKS_DATA_OFFSET } from '../disk/luks-header.js'
import { newDirectory, newFile, newLink, RootTree, type RootDirectory, type RootNode } from '../root/root-tree.js'

/** A deployment of a container on a disk, as `bootc install` leaves it. */
export interface ContainerRoot {
  /** Bytes from the start of the disk to the root filesystem. */
  offset: number
  /** Folder of the deployment. */
  deployment: string
  /** Checksum of its commit. */
  checksum: string
  /** The image by digest. */
  image: string
  version: string
  isFirstBoot: boolean
}

/** Larger files of a deployment are not read: their contents are not kept on a simulated disk either. */
const MAX_READ_FILE = 2 ** 20
/** Files of a deployment that are read at most. */
const MAX_READ_NODES = 8000

/** Another system than a container. */
export const NO_CONTAINER = 'no container'

/**
 * The deployment that the kernel arguments name.
 *
 * @throws VolumeError for a filesystem that is damaged; the disk's own error
 */
export async function findContainerRoot(
  device: SimulatedDisk,
  layout: DiskLayout,
  kernelArguments: readonly string[],
  clock: Clock,
): Promise<ContainerRoot | typeof NO_CONTAINER> {
  const offset = rootOffset(layout, kernelArguments)
  const path = kernelArguments.find((argument) => argument.startsWith('ostree='))?.slice('ostree='.length)
  if (offset === undefined || path === undefined) return NO_CONTAINER
  const work = (volume: BootVolume) => readContainerRoot(volume, path, offset)
  return (await withBootVolume(device, offset, clock, work, { readOnly: true })) ?? NO_CONTAINER
}

function rootOffset({ partitions }: DiskLayout, kernelArguments: readonly string[]): number | undefined {
  const valueOf = (name: string) =>
    kernelArguments.find((argument) => argument.startsWith(`${name}=`))?.slice(name.length + 1)
  const encrypted = valueOf('luks.uuid')
  const [wanted, skipped] =
    encrypted === undefined ? [valueOf('root')?.replace(/^UUID=/, ''), 0] : [encrypted, LUKS_DATA_OFFSET]
  const found = partitions.find(({ filesystem }) => wanted !== undefined && filesystem?.uuid === wanted)
  const type = found?.filesystem?.type ?? ''
  return found && (type.startsWith('ext') || type === 'crypto_LUKS') ? found.offset + skipped : undefined
}

async function readContainerRoot(volume: BootVolume, link: string, offset: number): Promise<ContainerRoot | undefined> {
  if (!(await volume.exists(link))) return undefined
  const [, checksum] = /\/([0-9a-f]{64})\.\d+$/.exec(await volume.readlink(link)) ?? []
  const aleph = (await volume.exists(ALEPH)) ? alephOf((await volume.read(ALEPH)).toString()) : undefined
  if (checksum === undefined || !aleph) return undefined
  const deployment = `/ostree/deploy/default/deploy/${checksum}.0`
  const machineId = `${deployment}/etc/machine-id`
  const id = (await volume.exists(machineId)) ? (await volume.read(machineId)).toString().trim() : ''
  return { offset, deployment, checksum, ...aleph, isFirstBoot: id === '' || id === 'uninitialized' }
}

const ALEPH = '/.bootc-aleph.json'

/** Undefined for a file that bootc has not written so. */
function alephOf(text: string): Pick<ContainerRoot, 'image' | 'version'> | undefined {
  try {
    const value: unknown = JSON.parse(text)
    const { image, digest, version } = isObject(value) ? value : {}
    if (typeof image !== 'string' || typeof digest !== 'string') return undefined
    const name = image.replace(/^docker:\/\//, '').replace(/(?:@[^/]*|:[^/:]*)$/, '')
    return { image: `${name}@${digest}`, version: typeof version === 'string' ? version : '' }
  } catch {
    return undefined
  }
}

/** The root filesystem that the running system sees: the deployment, with the state of /var. */
export function readContainerTree(device: SimulatedDisk, root: ContainerRoot, clock: Clock): Promise<RootTree> {
  return withBootVolume(
    device,
    root.offset,
    clock,
    async (volume) => {
      const tree = new RootTree()
      const reading = { volume, left: MAX_READ_NODES }
      await readFolder(reading, root.deployment, tree.root)
      const state = newDirectory()
      await readFolder(reading, '/ostree/deploy/default/var', state)
      tree.put('/var', state)
      return tree
    },
    { readOnly: true },
  )
}

async function readFolder(
  reading: { volume: BootVolume; left: number },
  path: string,
  folder: RootDirectory,
): Promise<void> {
  for (const name of await reading.volume.list(path)) {
    if (reading.left-- <= 0) return
    const node = await readNode(reading.volume, `${path}/${name}`)
    folder.entries.set(name, node)
    if (node.kind === 'directory') await readFolder(reading, `${path}/${name}`, node)
  }
}

async function readNode(volume: BootVolume, path: string): Promise<RootNode> {
  const { kind, mode, uid, gid, size } = await volume.stat(path, { follow: false })
  if (kind === 'directory') return newDirectory({ mode, uid, gid })
  if (kind === 'symlink') return { ...newLink(await volume.readlink(path)), uid, gid }
  // A copy: a short Buffer is part of one of eight KiB, and a running system keeps it.
  const bytes = size > MAX_READ_FILE ? new Uint8Array() : new Uint8Array(await volume.read(path))
  return newFile(bytes, { mode, uid, gid })
}

/** Ends the first boot: systemd writes the id of the machine. */
export function writeMachineId(
  device: SimulatedDisk,
  { offset, deployment }: ContainerRoot,
  id: string,
  clock: Clock,
): Promise<void> {
  return withBootVolume(device, offset, clock, (volume) =>
    volume.write(`${deployment}/etc/machine-id`, Buffer.from(`${id}\n`), { mode: 0o444 }),
  )
}
