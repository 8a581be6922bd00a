import type { BlockDevice } from '../../disk/block-device.js'
import { partitionName, readLayout } from '../../disk/partitions.js'
import { blockNodes, findNode } from '../block-nodes.js'
import type { Inside, Process } from '../program.js'
import { during, Failure } from './failure.js'
import { killable } from './killable-disk.js'

export interface Destination {
  /** As it was named. */
  path: string
  /** `/dev/sda`, whatever link it was named by. */
  node: string
  device: BlockDevice
  /** A partition has no table of its own to be re-read. */
  partition: boolean
}

/** Finds the disk, with the refusals that coreos-installer has for what is none. */
export async function findDestination({ inside, signal }: Process, path: string): Promise<Destination> {
  const found = await findNode(inside, path)
  if (!found) {
    if (!inside.files.exists(path))
      throw new Failure(
        `checking whether ${path} is an IBM DASD disk`,
        new Failure(`getting absolute path to ${path}`, new Failure('No such file or directory (os error 2)')),
      )
    throw new Failure(`getting sector size of ${path}`, new Failure(`"${path}" is not a block device`))
  }
  const device = killable(found.device, signal)
  return { path, node: `/dev/${found.name}`, device, partition: found.kind === 'part' }
}

/** Refuses a disk that somebody uses. Nothing has been written yet. */
export async function checkExclusive(
  destination: Destination,
  inside: Inside,
  print: (line: string) => void,
): Promise<void> {
  const { path, node, device, partition } = destination
  const reread = (why: string, errno: string) =>
    new Failure(`couldn't reread partition table: ${why}`, new Failure(errno))
  await during(`checking for exclusive access to ${path}`, async () => {
    if (partition) throw reread('device may not support partitions', 'EINVAL: Invalid argument')
    const mounts = [...inside.mounts]
    if (mounts.some(([, mount]) => mount.device === node))
      throw reread('device is in use', 'EBUSY: Device or resource busy')
    const { partitions } = await readLayout(device)
    const busy = partitions.flatMap(({ number }) => {
      const name = `/dev/${partitionName(device.name, number)}`
      return mounts
        .filter(([, mount]) => mount.device === name)
        .map(([point]) => `    ${name} ${point === '[SWAP]' ? 'is swap device' : `mounted on ${point}`}`)
    })
    if (busy.length === 0) return
    print(`Partitions in use on ${path}:`)
    for (const line of busy) print(line)
    throw new Failure('found busy partitions')
  })
}

/** Partitions of other disks that a boot loader looking for the label `boot` could take for this one. */
export async function otherBootFilesystems(inside: Inside, { device }: Destination): Promise<string[]> {
  const nodes = (await blockNodes(inside)).flatMap(({ partitions }) => partitions)
  const labelled = nodes.filter(({ filesystem }) => filesystem?.label === 'boot')
  const different = new Set(labelled.map(({ filesystem }) => filesystem?.uuid))
  if (different.size <= 1) return []
  return labelled.filter((node) => node.disk.name !== device.name).map(({ name }) => `/dev/${name}`)
}
