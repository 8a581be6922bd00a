import { type ByteStream, fileSource, memorySource } from '../../../bytes/index.js'
import type { BlockDevice } from '../../disk/block-device.js'
import { partitionName, readLayout } from '../../disk/partitions.js'
import type { Clock } from '../../../runtime/index.js'
import { blockNodes, findNode } from '../block/block-nodes.js'
import type { FileTree } from '../../file-tree.js'
import type { Inside, Process } from '../program.js'

/** A block device as it was found. */
export interface FoundDisk {
  /** `/dev/sda`, whatever link it was named by. */
  node: string
  device: BlockDevice
  /** A partition has no table of its own to be re-read. */
  partition: boolean
}

/** A file to be read from its start. */
export interface OpenedFile {
  bytes: ByteStream
  /** Where this process finds it too, so that its contents may be had from the shelf. */
  path: string | undefined
}

/** The computer that coreos-installer runs on, as far as it looks at it. */
export interface InstallerHost {
  /** As `uname -m` says. */
  readonly architecture: string
  readonly files: FileTree
  /** A file of this process: the image that the live system carries. */
  readonly liveImage: string | null
  open(path: string): Promise<OpenedFile>
  /** @returns why the path is no block device that may be written, or undefined when there is nothing of that name */
  findDisk(path: string): Promise<FoundDisk | { refusal: string } | undefined>
  /** How the disk or its partitions are in use: `whole` by a mount of its own, `parts` as the installer tells it. */
  usesOf(disk: FoundDisk): Promise<{ whole: boolean; parts: string[] }>
  /** Partitions of other disks that a boot loader looking for the label `boot` could take for this one's. */
  otherBootFilesystems(disk: FoundDisk): Promise<string[]>
}

/** What of a {@link Process} the installer uses, its computer apart. */
export type InstallerProcess = Omit<Process, 'inside' | 'stdin'> & { host: InstallerHost }

/** A folder can be opened like a file, but not read. */
export function openedFolder(path: string): OpenedFile {
  const next = () => Promise.reject(Object.assign(new Error(`${path} is a folder`), { code: 'EISDIR' }))
  return { bytes: { length: undefined, next, [Symbol.asyncDispose]: () => Promise.resolve() }, path: undefined }
}

/** A simulated machine. */
export function machineHost(inside: Inside, clock: Clock): InstallerHost {
  const { spec, files } = inside
  return {
    architecture: spec.architecture,
    files,
    liveImage: spec.liveImage,
    open: async (path) => {
      const there = files.exists(path)
      if (there && files.stat(path).kind === 'directory') return openedFolder(path)
      const here = inside.staged?.get(path) ?? (path === spec.liveImage ? path : undefined)
      return here !== undefined && !there
        ? { bytes: await fileSource(here, clock), path: here }
        : { bytes: memorySource(files.read(path)), path: undefined }
    },
    findDisk: async (path) => {
      const found = await findNode(inside, path)
      if (found) return { node: `/dev/${found.name}`, device: found.device, partition: found.kind === 'part' }
      return files.exists(path) ? { refusal: `"${path}" is not a block device` } : undefined
    },
    usesOf: async ({ node, device }) => {
      const mounts = [...inside.mounts]
      const { partitions } = await readLayout(device)
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
