import { type ByteStream, fileSource, memorySource, type ProxySettings } from '../../../base/bytes/index.js'
import type { SimulatedDisk } from '../../disk/block-device.js'
import { asShown, partitionName, readLayout } from '../../disk/disk-partitions.js'
import type { Clock } from '../../../base/runtime/index.js'
import { blockNodes, findBlockNode } from '../block/block-nodes.js'
import type { FileTree } from '../../file-tree.js'
import type { ProgramMachine, Process } from '../machine-program.js'

/** A block device that the installer found. */
export interface FoundDevice {
  /** `/dev/sda`, with links resolved. */
  node: string
  device: SimulatedDisk
  /** True for a partition, which has no table to re-read. */
  partition: boolean
}

/** A file, read from its start. */
export interface OpenedFile {
  bytes: ByteStream
  /** Path of the file for this process, to take its contents from the image cache. */
  path: string | undefined
}

/** The parts of a computer that coreos-installer uses. */
export interface InstallerHost {
  /** Architecture as `uname -m` prints it. */
  readonly architecture: string
  /** Proxies of its environment. */
  readonly proxies?: ProxySettings
  readonly files: FileTree
  /** File of this process with the image of the live system. */
  readonly metalImage: string | null
  open(path: string): Promise<OpenedFile>
  /** @returns the disk, or why it cannot be written; undefined when the path does not exist */
  findDisk(path: string): Promise<FoundDevice | { refusal: string } | undefined>
  /** Uses of the disk: `whole` when it is mounted itself, `parts` the installer's messages about its partitions. */
  usesOf(disk: FoundDevice): Promise<{ whole: boolean; parts: string[] }>
  /** Partitions of other disks labelled `boot`, which a boot loader could confuse with this disk's. */
  otherBootFilesystems(disk: FoundDevice): Promise<string[]>
}

/** The parts of a {@link Process} that the installer uses, with its host. */
export type InstallerProcess = Omit<Process, 'inside' | 'stdin'> & { host: InstallerHost }

/** A folder, which can be opened as a file but not read. */
export function openedFolder(path: string): OpenedFile {
  const next = () => Promise.reject(Object.assign(new Error(`${path} is a folder`), { code: 'EISDIR' }))
  return { bytes: { length: undefined, next, [Symbol.asyncDispose]: () => Promise.resolve() }, path: undefined }
}

/** A simulated machine as host. */
export function machineHost(inside: ProgramMachine, clock: Clock): InstallerHost {
  const { spec, files } = inside
  return {
    architecture: spec.architecture,
    files,
    metalImage: spec.metalImage,
    open: async (path) => {
      const there = files.exists(path)
      if (there && files.stat(path).kind === 'directory') return openedFolder(path)
      const here = inside.staged?.get(path) ?? (path === spec.metalImage ? path : undefined)
      return here !== undefined && !there
        ? { bytes: await fileSource(here, clock), path: here }
        : { bytes: memorySource(files.read(path)), path: undefined }
    },
    findDisk: async (path) => {
      const found = await findBlockNode(inside, path)
      if (found) return { node: `/dev/${found.name}`, device: found.device, partition: found.kind === 'part' }
      return files.exists(path) ? { refusal: `"${path}" is not a block device` } : undefined
    },
    usesOf: async ({ node, device }) => {
      const mounts = [...inside.mounts]
      const { partitions } = await asShown(device, await readLayout(device))
      return {
        whole: mounts.some(([, mount]) => mount.device === node),
        parts: partitions.flatMap(({ number }) => {
          const name = `/dev/${partitionName(device.name, number)}`
          return mounts
            .filter(([, mount]) => mount.device === name)
            .map(([point]) => `${name} ${point === '[SWAP]' ? 'is swap device' : `mounted on ${point}`}`)
        }),
      }
    },
    otherBootFilesystems: async ({ device }) => {
      const nodes = (await blockNodes(inside)).flatMap(({ partitions }) => partitions)
      const labelled = nodes.filter(({ filesystem }) => filesystem?.label === 'boot')
      const different = new Set(labelled.map(({ filesystem }) => filesystem?.uuid))
      if (different.size <= 1) return []
      return labelled.filter((node) => node.disk.name !== device.name).map(({ name }) => `/dev/${name}`)
    },
  }
}
