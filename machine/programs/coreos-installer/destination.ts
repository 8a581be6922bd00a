import type { SimulatedDisk } from '../../disk/block-device.js'
import { duringInstall, Failure } from './installer-error.js'
import type { FoundDevice, InstallerHost } from './installer-host.js'
import { KillableDisk } from './killable-disk.js'

export interface InstallDestination {
  /** The path on the command line. */
  path: string
  found: FoundDevice
  /** The device, which rejects every access once the program was killed. */
  device: SimulatedDisk
}

/** Finds the disk, with coreos-installer's errors for a path that is not a block device. */
export async function findDestination(
  host: InstallerHost,
  path: string,
  signal: AbortSignal,
): Promise<InstallDestination> {
  const found = await host.findDisk(path)
  if (!found)
    throw new Failure(
      `checking whether ${path} is an IBM DASD disk`,
      new Failure(`getting absolute path to ${path}`, new Failure('No such file or directory (os error 2)')),
    )
  if ('refusal' in found) throw new Failure(`getting sector size of ${path}`, new Failure(found.refusal))
  return { path, found, device: new KillableDisk(found.device, signal) }
}

/** Refuses a disk that is in use, before anything is written. */
export async function checkExclusive(
  { path, found }: InstallDestination,
  host: InstallerHost,
  print: (line: string) => void,
): Promise<void> {
  const reread = (why: string, errno: string) =>
    new Failure(`couldn't reread partition table: ${why}`, new Failure(errno))
  await duringInstall(`checking for exclusive access to ${path}`, async () => {
    if (found.partition) throw reread('device may not support partitions', 'EINVAL: Invalid argument')
    const { whole, parts } = await host.usesOf(found)
    if (whole) throw reread('device is in use', 'EBUSY: Device or resource busy')
    if (parts.length === 0) return
    print(`Partitions in use on ${path}:`)
    for (const line of parts) print(`    ${line}`)
    throw new Failure('found busy partitions')
  })
}
